package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/github/fakehub"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// scenario is one workflow run from event to posts. Its transcript (exit code,
// requests, check, comment, log) is kept in testdata/github.
type scenario struct {
	name string
	pull int
	play func(w *world)
	code int
	want func(w *world) // beyond the transcript; may be nil
}

// config makes base carry a configuration.
func (w *world) config(text string) {
	w.hub.File = func(_, path string) (string, bool) { return text, path == ".github/touchstone.yml" }
}

func (w *world) label(names ...string) {
	w.pull.Labels = names
	w.resend()
}

var scenarios = []scenario{
	// One job: the whole flow with real tests.
	{"one_job_proof", proofPull, func(w *world) { w.ci() }, exitPass, nil},
	{"one_job_vacuous", vacuousPull, func(w *world) { w.ci() }, exitFail, nil},
	{"one_job_flip", flipPull, func(w *world) { w.ci() }, exitFail, nil},
	{"one_job_docs", docsPull, func(w *world) { w.ci() }, exitPass, nil},

	// Two jobs.
	{"two_jobs_proof", proofPull, func(w *world) { w.publish() }, exitPass, nil},
	{"two_jobs_vacuous", vacuousPull, func(w *world) { w.publish() }, exitFail, nil},
	{"two_jobs_flip", flipPull, func(w *world) { w.publish() }, exitFail, nil},
	{"two_jobs_target", vacuousPull, func(w *world) { w.env["GITHUB_EVENT_NAME"] = "pull_request_target"; w.publish() }, exitFail, nil},
	{"fork_by_workflow_run", vacuousPull, func(w *world) { // trap 2
		w.pull.HeadRepository = "mallory/money"
		w.workflowRun("pull_request", w.pull.HeadSHA, "mallory")
		w.publish()
	}, exitFail, nil},
	{"workflow_run_moved_on", vacuousPull, func(w *world) {
		w.workflowRun("pull_request", w.pull.HeadSHA, "till")
		w.pull.HeadSHA = w.sha["proof"]
		w.publish()
	}, exitPass, nil},
	{"workflow_run_of_push", vacuousPull, func(w *world) { w.workflowRun("push", w.pull.HeadSHA, "till"); w.publish() }, exitUsage, nil},

	// Trap 1 and R15: the pair of each event.
	{"merge_group", 0, func(w *world) { w.mergeGroup("proof", "base"); w.ci() }, exitPass, func(w *world) {
		for _, r := range w.hub.Requests() {
			if strings.Contains(r.Path, "/pulls/") || strings.Contains(r.Path, "/issues/") {
				w.t.Errorf("a merge group asked for a pull request: %s", r.Path)
			}
		}
	}},
	{"pair_base_moved", docsPull, func(w *world) { w.ci("--no-publish") }, exitPass, func(w *world) { w.pair("base", "docs") }},
	{"pair_stacked", docsPull, func(w *world) {
		w.pull.BaseSHA, w.pull.BaseRef = w.sha["proof"], "fix"
		w.resend()
		w.ci("--no-publish")
	}, exitPass, func(w *world) { w.pair("base", "docs") }},
	{"pair_dispatch", 0, func(w *world) {
		w.event("workflow_dispatch", map[string]any{"inputs": map[string]any{"pr": "9"}})
		w.ci("--no-publish")
	}, exitPass, func(w *world) { w.pair("base", "docs") }},
	{"pair_dispatch_by_input", 0, func(w *world) {
		w.event("workflow_dispatch", map[string]any{})
		w.env["TOUCHSTONE_PR"] = "#9"
		w.ci("--no-publish")
	}, exitPass, func(w *world) { w.pair("base", "docs") }},
	{"pair_shallow", docsPull, func(w *world) { // trap 22
		w.checkout("--depth=1")
		w.ci("--no-publish")
	}, exitPass, func(w *world) { w.pair("base", "docs") }},
	{"pair_full_clone_without_head", docsPull, func(w *world) { // trap 22
		w.checkout("--single-branch", "--no-tags")
		w.ci("--no-publish")
	}, exitPass, func(w *world) {
		w.pair("base", "docs")
		if gitIn(w.t, w.clone, "rev-parse", "--is-shallow-repository") != "false" {
			w.t.Error("a full clone was made shallow")
		}
	}},

	// Trap 16: events without a change to judge.
	{"closed", docsPull, func(w *world) { w.pull.State = "closed"; w.resend(); w.ci() }, exitPass, nil},
	{"draft", docsPull, func(w *world) { w.pull.Draft = true; w.resend(); w.ci() }, exitPass, nil},
	{"push", 0, func(w *world) { w.event("push", map[string]any{"ref": "refs/heads/main"}); w.ci() }, exitPass, nil},
	{"unknown_event", 0, func(w *world) { w.event("issue_comment", map[string]any{}); w.ci() }, exitUsage, nil},
	{"dispatch_without_pull", 0, func(w *world) { w.event("workflow_dispatch", map[string]any{}); w.ci() }, exitUsage, nil},
	{"dispatch_unknown_pull", 0, func(w *world) {
		w.event("workflow_dispatch", map[string]any{"inputs": map[string]any{"pr": "404"}})
		w.ci()
	}, exitUndecided, nil},
	{"target_in_one_job", docsPull, func(w *world) { w.env["GITHUB_EVENT_NAME"] = "pull_request_target"; w.ci() }, exitUsage, nil},            // trap 25
	{"workflow_run_runs_nothing", docsPull, func(w *world) { w.workflowRun("pull_request", w.pull.HeadSHA, "till"); w.ci() }, exitUsage, nil}, // trap 25

	// What publish refuses. Trap 21: never neutral, success or skipped.
	{"refused_verdict", vacuousPull, func(w *world) { w.forge(`"conclusion": "fail"`, `"conclusion": "pass"`); w.publish() }, exitUndecided, nil},
	{"refused_role", vacuousPull, func(w *world) { w.forge(`"role": "regression_only"`, `"role": "discriminating"`); w.publish() }, exitUndecided, nil},
	{"refused_head", vacuousPull, func(w *world) { w.forge(w.pull.HeadSHA, w.sha["proof"]); w.publish() }, exitUndecided, nil},
	{"refused_base", vacuousPull, func(w *world) { w.forge(w.sha["base"], w.sha["main"]); w.publish() }, exitUndecided, nil},
	{"refused_paths", vacuousPull, func(w *world) { w.forge(`"path": "m.go"`, `"path": "README.md"`); w.publish() }, exitUndecided, nil},
	{"refused_garbage", vacuousPull, func(w *world) { w.forge("{", "["); w.publish() }, exitUndecided, nil},
	{"refused_schema", vacuousPull, func(w *world) { w.forge(`"schema": 1`, `"schema": 2`); w.publish() }, exitUndecided, nil},
	{"refused_missing", vacuousPull, func(w *world) { w.report = filepath.Join(w.t.TempDir(), "none.json"); w.publish() }, exitUndecided, nil},
	{"refused_advisory", vacuousPull, func(w *world) {
		w.config("mode: advisory\n")
		w.forge(`"role": "regression_only"`, `"role": "discriminating"`)
		w.publish()
	}, exitUndecided, nil},
	{"broken_config", proofPull, func(w *world) { w.config("modus: x\n"); w.publish() }, exitUsage, nil},
	{"api_down", proofPull, func(w *world) {
		w.hub.Fail(fakehub.Fault{Method: "GET", Path: "/compare/", Times: 3, Status: 503})
		w.publish()
	}, exitUndecided, nil},

	// Base's policy counts, not the report's.
	{"policy_of_base", vacuousPull, func(w *world) { w.config("policy: {require: positive}\n"); w.publish() }, exitUndecided, nil},
	{"advisory", vacuousPull, func(w *world) { w.config("mode: advisory\n"); w.publish() }, exitPass, nil},
	{"advisory_by_input_is_looser", vacuousPull, func(w *world) { w.env["TOUCHSTONE_MODE"] = "advisory"; w.publish() }, exitFail, nil},
	{"enforce_by_input_is_stricter", vacuousPull, func(w *world) {
		w.config("mode: advisory\n")
		w.env["TOUCHSTONE_MODE"] = "enforce"
		w.publish()
	}, exitFail, nil},
	{"check_name", vacuousPull, func(w *world) { w.env["TOUCHSTONE_CHECK_NAME"] = "touchstone (unit)"; w.publish() }, exitFail, nil},
	{"check_name_of_the_job", vacuousPull, func(w *world) { w.env["GITHUB_JOB"] = "touchstone"; w.publish() }, exitUsage, nil}, // trap 6
	{"check_name_bad", vacuousPull, func(w *world) { w.env["TOUCHSTONE_CHECK_NAME"] = "a --> b"; w.publish() }, exitUsage, nil},

	// Whose pull request.
	{"agents_only_person", proofPull, func(w *world) { w.config("applies_to: agents\n"); w.publish() }, exitPass, nil},
	{"agents_only_agent", vacuousPull, func(w *world) { w.config("applies_to: agents\n"); w.publish() }, exitFail, nil},
	{"agents_only_unknown", vacuousPull, func(w *world) {
		w.config("applies_to: agents\n")
		w.pull.HeadRef = "three"
		w.resend()
		w.hub.Fail(fakehub.Fault{Method: "GET", Path: "/commits$", Times: 3, Status: 500})
		w.publish()
	}, exitFail, nil},
	{"label_only_without", vacuousPull, func(w *world) { w.config("applies_to: label:agent\n"); w.publish() }, exitPass, nil},
	{"label_only_with", vacuousPull, func(w *world) { w.config("applies_to: label:agent\n"); w.label("agent"); w.publish() }, exitFail, nil},
	{"skip_by_writer", vacuousPull, func(w *world) { w.skip("maria", "write"); w.publish() }, exitPass, nil},
	{"skip_by_author", vacuousPull, func(w *world) { w.skip("mallory", "read"); w.publish() }, exitFail, nil},
	{"skip_unreadable", vacuousPull, func(w *world) { w.skip("maria", "admin"); w.hub.Permissions["issues"] = ""; w.publish() }, exitFail, nil},

	// Posting, and what stands in its way.
	{"comment_off", vacuousPull, func(w *world) { w.env["TOUCHSTONE_COMMENT"] = "off"; w.publish() }, exitFail, nil},
	{"comment_always", proofPull, func(w *world) { w.env["TOUCHSTONE_COMMENT"] = "always"; w.publish() }, exitPass, nil},
	{"comment_turns_green", proofPull, func(w *world) { // trap 13
		w.hub.Comments[proofPull] = []*fakehub.Comment{{ID: 5, Author: "github-actions[bot]", Body: report.CommentMarker("touchstone") + "0 -->\n**FAIL**"}}
		w.publish()
	}, exitPass, nil},
	{"unchanged_writes_nothing", vacuousPull, func(w *world) { w.publish(); w.publish() }, exitFail, func(w *world) {
		writes := 0
		for _, r := range w.hub.Requests() {
			if r.Method != "GET" {
				writes++
			}
		}
		if writes != 2 {
			w.t.Errorf("%d writes for two runs with one result", writes)
		}
	}},
	{"fork_token", vacuousPull, func(w *world) { // trap 9
		w.hub.Permissions["checks"], w.hub.Permissions["pull-requests"] = "read", "read"
		w.publish()
	}, exitFail, nil},
	{"personal_token", proofPull, func(w *world) { w.hub.Personal = true; w.publish() }, exitPass, nil},
	{"comment_fails", vacuousPull, func(w *world) { // trap 10
		w.hub.Fail(fakehub.Fault{Method: "POST", Path: "/comments$", Times: 2, Status: 500})
		w.publish()
	}, exitFail, nil},
	{"comment_forbidden", proofPull, func(w *world) {
		w.env["TOUCHSTONE_COMMENT"] = "always"
		w.hub.Permissions["pull-requests"] = "read"
		w.publish()
	}, exitPass, nil},
	{"stale_run_leaves_the_comment", vacuousPull, func(w *world) { // trap 20
		w.pull.HeadSHA = w.sha["proof"]
		w.hub.Comments[vacuousPull] = []*fakehub.Comment{{ID: 5, Author: "github-actions[bot]", Body: report.CommentMarker("touchstone") + "0 -->\nthe newer one's"}}
		w.publish()
	}, exitFail, nil},
	{"secondary_limit", vacuousPull, func(w *world) { // trap 15
		w.hub.Fail(fakehub.Fault{Method: "POST", Path: "/check-runs$", Status: 403, Body: fakehub.SecondaryLimit})
		w.publish()
	}, exitFail, func(w *world) {
		if !slices.Equal(w.slept, []time.Duration{time.Minute}) {
			w.t.Errorf("waited %v", w.slept)
		}
	}},
	{"enterprise", proofPull, func(w *world) { w.env["GITHUB_SERVER_URL"] = "https://ghe.example"; w.publish() }, exitPass, nil}, // trap 17
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t, s.pull)
			s.play(w)
			if w.code != s.code {
				t.Errorf("exit %d, want %d\n%s%s", w.code, s.code, w.stdout, w.stderr)
			}
			if s.want != nil {
				s.want(w)
			}
			w.golden(s.name)
			w.safe()
		})
	}
}

// safe holds for every run: the token stands nowhere, and no test's output nor
// name is a command for the runner (trap 18).
func (w *world) safe() {
	summary, _ := os.ReadFile(w.env["GITHUB_STEP_SUMMARY"])
	output, _ := os.ReadFile(w.env["GITHUB_OUTPUT"])
	said := fmt.Sprint(w.stdout, w.stderr, string(summary), string(output), w.hub.Requests())
	if strings.Contains(said, w.hub.Token) {
		w.t.Error("the token was written somewhere")
	}
}

func (w *world) pair(base, head string) {
	w.t.Helper()
	file, err := os.Open(filepath.Join(w.clone, "..", "out", "report.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer file.Close()
	r, err := report.Read(file)
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Change.Base != w.sha[base] || r.Change.Head != w.sha[head] {
		w.t.Errorf("compared %s with %s, want %s (%s) with %s (%s)", r.Change.Head, r.Change.Base, w.sha[head], head, w.sha[base], base)
	}
}

func (w *world) workflowRun(event, head, owner string) {
	w.event("workflow_run", map[string]any{"action": "completed", "workflow_run": map[string]any{
		"event": event, "head_sha": head, "head_branch": w.pull.HeadRef, "pull_requests": []any{},
		"head_repository": map[string]any{"owner": map[string]any{"login": owner}},
	}})
}

func (w *world) mergeGroup(head, base string) {
	w.event("merge_group", map[string]any{"action": "checks_requested", "merge_group": map[string]any{"head_sha": w.sha[head], "base_sha": w.sha[base]}})
}

func (w *world) skip(login, level string) {
	w.hub.Events[w.pull.Number] = []fakehub.LabelEvent{{Login: "till", Label: "other"}, {Login: login, Label: skipLabel}}
	w.hub.Levels[login] = level
	w.label(skipLabel)
}

// Trap 20: a run that is ended leaves its check cancelled, not running for ever.
func TestTerminatedRunIsCancelled(t *testing.T) {
	w := newWorld(t, proofPull)
	w.hub.Fail(fakehub.Fault{Method: "POST", Path: "/check-runs$", Before: func() { syscall.Kill(os.Getpid(), syscall.SIGTERM) }})
	w.ci()
	if len(w.hub.Runs) != 1 || w.hub.Runs[0].Conclusion != "cancelled" || w.code != exitInterrupted {
		t.Errorf("exit %d: %s", w.code, w.transcript())
	}
}

// Trap 18: masks do not reach what is posted.
func TestSecretsAreInNothing(t *testing.T) {
	const canary = "canary-\"quoted\"-\u00e9-9183"
	t.Setenv("DEPLOY_SECRET", canary)
	w := newWorld(t, vacuousPull)
	w.env["DEPLOY_SECRET"] = canary
	w.forge(`"notes": []`, `"notes": ["the key is canary-\"quoted\"-é-9183 and `+w.hub.Token+`"]`)
	w.publish()
	summary, _ := os.ReadFile(w.env["GITHUB_STEP_SUMMARY"])
	said := fmt.Sprint(w.stdout, w.stderr, string(summary), w.hub.Requests(), w.hub.Runs[0].Text)
	if strings.Contains(said, "9183") || strings.Contains(said, w.hub.Token) || !strings.Contains(said, "the key is") {
		t.Errorf("a secret was published: %s", said)
	}
}

// Hostile names and messages in a report take no effect where they are posted.
func TestHostileReportIsHarmless(t *testing.T) {
	w := newWorld(t, vacuousPull)
	nasty := `</details>\n::error::owned @team ![x](http://evil.example/x) <!-- touchstone:touchstone digest=0 --> \u202e`
	w.forge(`"notes": []`, `"notes": ["`+nasty+`"]`)
	w.publish()
	body := w.hub.Runs[0].Text
	for _, bad := range []string{"@team", "![x]", "http://evil", "\n<!-- touchstone", "\u202e"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q stands in the check's text", bad)
		}
	}
	if strings.Count(body, "</details>") != strings.Count(body, "<details>") || strings.Contains(w.stdout, "\n::error") {
		t.Errorf("markup took effect:\n%s\n%s", body, w.stdout)
	}
}

// Trap 19: a value cannot end its own output.
func TestOutputDelimiterIsRandom(t *testing.T) {
	seen := make(map[string]bool)
	for range 2 {
		w := newWorld(t, docsPull)
		w.ci("--no-publish")
		text, err := os.ReadFile(w.env["GITHUB_OUTPUT"])
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if _, delimiter, ok := strings.Cut(line, "<<"); ok {
				if seen[delimiter] || len(delimiter) < 32 {
					t.Errorf("the delimiter %q is used again, or short", delimiter)
				}
				seen[delimiter] = true
			}
		}
	}
	if len(seen) != 14 {
		t.Errorf("%d outputs", len(seen))
	}
}
