package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// The parts of a workflow and of a composite action that these tests play.
type (
	workflowFile struct {
		Permissions map[string]string      `yaml:"permissions"`
		Env         map[string]string      `yaml:"env"`
		Jobs        map[string]workflowJob `yaml:"jobs"`
	}
	workflowJob struct {
		Needs       any               `yaml:"needs"` // one job, or a list
		Outputs     map[string]string `yaml:"outputs"`
		Permissions map[string]string `yaml:"permissions"`
		Env         map[string]string `yaml:"env"`
		Steps       []workflowStep    `yaml:"steps"`
	}
	workflowStep struct {
		Name     string         `yaml:"name"`
		ID       string         `yaml:"id"`
		Uses     string         `yaml:"uses"`
		Run      string         `yaml:"run"`
		If       string         `yaml:"if"`
		With     map[string]any `yaml:"with"`
		Env      map[string]string
		Continue bool `yaml:"continue-on-error"`
	}
	actionFile struct {
		Inputs map[string]struct {
			Description string `yaml:"description"`
			Default     string `yaml:"default"`
		} `yaml:"inputs"`
		Outputs map[string]struct {
			Value string `yaml:"value"`
		} `yaml:"outputs"`
		Runs struct {
			Using string         `yaml:"using"`
			Steps []workflowStep `yaml:"steps"`
		} `yaml:"runs"`
	}
)

func readYAML[T any](t *testing.T, path string) (v T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func workflows(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob("../../docs/workflows/*.yml")
	return append(files, "../../.github/workflows/touchstone.yml", "../../.github/workflows/ci.yml")
}

// ours tells whether a step is this action.
func (s workflowStep) ours() bool {
	return s.Uses == "./" || strings.Contains(s.Uses, "/touchstone@")
}

func (s workflowStep) publishes() bool { return s.With["command"] == "publish" }

// apart holds for steps that run nothing of the change.
func (s workflowStep) apart() bool { return s.publishes() || s.With["command"] == "coin" }

// runner plays the steps of a workflow as GitHub's would.
type runner struct {
	*world
	temp      string // shared by all, for the binary is built there
	artifacts map[string]string
	secrets   map[string]string
	outputs   map[string]string // of jobs, as coin.draw
}

var expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)

// value resolves the expressions that the workflows use; any other fails the test.
func (r *runner) value(text string, inputs map[string]string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		name := expression.FindStringSubmatch(e)[1]
		switch {
		case strings.HasPrefix(name, "inputs."):
			return inputs[strings.TrimPrefix(name, "inputs.")]
		case name == "github.sha":
			return r.env["GITHUB_SHA"]
		case name == "github.token":
			return r.hub.Token
		case name == "runner.temp":
			return r.temp
		case strings.HasPrefix(name, "github.event.pull_request.head.sha"):
			return r.pull.HeadSHA
		case strings.HasPrefix(name, "secrets."):
			return r.secrets[strings.TrimPrefix(name, "secrets.")]
		case strings.HasPrefix(name, "needs."):
			return r.outputs[strings.ReplaceAll(strings.TrimPrefix(name, "needs."), ".outputs.", ".")]
		case strings.HasPrefix(name, "steps."):
			return r.output(name[strings.LastIndexByte(name, '.')+1:])
		case name == "github.event.workflow_run.id":
			return "98"
		}
		r.t.Fatalf("the expression %q is not known here", e)
		return ""
	})
}

// job plays one job and returns the exit code of our action.
func (r *runner) job(j workflowJob) (code int) {
	r.hub.Permissions = j.Permissions
	if r.hub.Permissions["issues"] == "" && r.hub.Permissions["pull-requests"] != "" {
		r.hub.Permissions["issues"] = "read"
	}
	os.RemoveAll(filepath.Join(r.temp, "touchstone"))
	for _, step := range j.Steps {
		with := make(map[string]string)
		for name, v := range step.With {
			with[name] = r.value(fmt.Sprint(v), nil)
		}
		switch name, _, _ := strings.Cut(step.Uses, "@"); {
		case name == "actions/checkout":
			r.checkout("--no-checkout")
			gitIn(r.t, r.clone, "checkout", "-q", "--detach", cmp.Or(with["ref"], r.env["GITHUB_SHA"]))
		case name == "actions/setup-go" && !step.ours():
		case name == "actions/cache/restore" || name == "actions/cache/save":
			if with["path"] != "~/.cache/touchstone" {
				r.t.Errorf("%s is cached, which is not where maps lie", with["path"])
			}
		case name == "actions/upload-artifact":
			text, err := os.ReadFile(with["path"])
			if err != nil {
				r.t.Fatalf("the artifact: %v", err)
			}
			r.artifacts[with["name"]] = string(text)
		case name == "actions/download-artifact":
			write(r.t, with["path"], map[string]string{"report.json": r.artifacts[with["name"]]})
		case step.ours():
			for name, text := range step.Env {
				if r.env[name] == "" { // the ledger's place is the test's
					r.env[name] = r.value(text, nil)
				}
			}
			code = r.action(with)
			for name := range step.Env {
				if name != auditLedgerVariable {
					delete(r.env, name)
				}
			}
		default:
			r.t.Fatalf("the step %+v is not known here", step)
		}
	}
	return code
}

// output is what a step set last under a name.
func (r *runner) output(name string) string {
	text, err := os.ReadFile(r.env["GITHUB_OUTPUT"])
	if err != nil {
		r.t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^`+name+`<<(\S+)\n(.*)\n`).FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		r.t.Fatalf("no step set the output %s: %s%s", name, r.stdout, r.stderr)
	}
	return found[len(found)-1][2]
}

// action plays action.yml's own steps.
func (r *runner) action(with map[string]string) (code int) {
	a := readYAML[actionFile](r.t, "../../action.yml")
	inputs := make(map[string]string)
	for name, input := range a.Inputs {
		inputs[name] = r.value(input.Default, nil)
	}
	for name, v := range with {
		if _, known := a.Inputs[name]; !known {
			r.t.Errorf("the action has no input %s", name)
		}
		inputs[name] = v
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, step := range a.Runs.Steps {
		if step.Name == "Allow user namespaces" {
			continue // changes the machine
		}
		ctx, stop := context.WithTimeout(r.t.Context(), 3*time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.WaitDelay = 5 * time.Second
		cmd.Dir = r.clone
		if r.clone == "" {
			cmd.Dir = r.t.TempDir()
		}
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+r.temp, "GITHUB_ACTION_PATH="+root)
		for name, v := range r.env {
			if name != "GITHUB_TOKEN" {
				cmd.Env = append(cmd.Env, name+"="+v)
			}
		}
		for name, v := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+r.value(v, inputs))
		}
		out, _ := cmd.CombinedOutput()
		r.stdout += string(out)
		if code = cmd.ProcessState.ExitCode(); code != 0 {
			break
		}
	}
	return code
}

// Each ready workflow is played step by step, from checkout to check run.
func TestWorkflowsAsARunnerPlaysThem(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the action's steps are bash, which is not in PATH")
	}
	temp := t.TempDir()
	for _, c := range []struct{ name, files string }{
		{"ours", "../../.github/workflows/touchstone.yml"},
		{"two jobs", "../../docs/workflows/two-jobs.yml"},
		{"forks", "../../docs/workflows/forks-run.yml ../../docs/workflows/forks-publish.yml"},
		{"private", "../../docs/workflows/private.yml"},
		{"enterprise", "../../docs/workflows/enterprise.yml"},
		{"audits", "../../docs/workflows/audits.yml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, vacuousPull)
			r := &runner{world: w, temp: temp, artifacts: make(map[string]string), outputs: make(map[string]string)}
			audits := c.name == "audits"
			ledger := "git:file://" + filepath.Join(t.TempDir(), "ledger.git")
			if audits {
				gitIn(t, t.TempDir(), "init", "-q", "--bare", strings.TrimPrefix(ledger, "git:file://"))
				key, _ := keyFor(t, w.hub.Repository, 200_000, map[int]bool{vacuousPull: true})
				r.secrets = map[string]string{"TOUCHSTONE_AUDIT_KEY": key}
				r.env[auditLedgerVariable] = ledger // the workflow's git:origin is at github.com
			}
			code := 0
			for _, file := range strings.Fields(c.files) {
				f := readYAML[workflowFile](t, file)
				if strings.Contains(file, "publish") {
					r.workflowRun("pull_request", w.pull.HeadSHA, "till")
				}
				names := slices.Sorted(func(yield func(string) bool) {
					for name := range f.Jobs {
						if !yield(name) {
							return
						}
					}
				})
				slices.SortStableFunc(names, func(a, b string) int { return f.Jobs[a].rank() - f.Jobs[b].rank() })
				for _, name := range names {
					r.env["GITHUB_JOB"] = name
					code = r.job(f.Jobs[name])
					for output, text := range f.Jobs[name].Outputs {
						r.outputs[name+"."+output] = r.value(text, nil)
					}
				}
			}
			if code != exitFail || len(w.hub.Runs) != 1 || w.hub.Runs[0].Conclusion != "failure" || len(w.hub.Comments[vacuousPull]) != 1 {
				t.Errorf("exit %d: %s\n%s", code, w.transcript(), r.stdout)
			}
			w.safe()
			if audits {
				if code, stdout, stderr := run("audit", "--ledger", ledger, "verify", "--reveal", r.secrets["TOUCHSTONE_AUDIT_KEY"]); code != exitPass || !strings.Contains(stdout, "1 records") || !strings.Contains(stdout, "1 draws rechecked, 0 wrong") {
					t.Errorf("the ledger: exit %d: %s%s\n%s", code, stdout, stderr, r.stdout)
				}
			}
		})
	}
}

// The map's workflow is played on a push to the default branch.
func TestMapWorkflow(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the action's steps are bash, which is not in PATH")
	}
	cache := ownCache(t)
	w := newWorld(t, 0)
	w.event("push", map[string]any{"ref": "refs/heads/main", "repository": map[string]any{"default_branch": "main"}})
	r := &runner{world: w, temp: t.TempDir(), artifacts: make(map[string]string)}
	f := readYAML[workflowFile](t, "../../docs/workflows/map.yml")
	job := f.Jobs["map"]
	job.Permissions = f.Permissions
	code := r.job(job)
	if maps, _ := filepath.Glob(filepath.Join(cache, "touchstone", "*.map")); code != 0 || len(maps) != 1 || len(w.hub.Requests()) > 0 {
		t.Errorf("exit %d, maps %q, %d requests: %s", code, maps, len(w.hub.Requests()), r.stdout)
	}
}

// rank orders jobs by how many they wait for.
func (j workflowJob) rank() int {
	switch needs := j.Needs.(type) {
	case string:
		return 1
	case []any:
		return 1 + len(needs)
	}
	return 0
}

// Trap 25: a job that runs a change's code can write nothing, holds no secret and
// writes no cache; one that posts checks nothing out.
func TestJobsThatRunCodeCanWriteNothing(t *testing.T) {
	for _, file := range workflows(t) {
		f := readYAML[workflowFile](t, file)
		oneJob := strings.HasSuffix(file, "private.yml") || strings.HasSuffix(file, "enterprise.yml")
		for name, j := range f.Jobs {
			permissions := j.Permissions
			if permissions == nil {
				permissions = f.Permissions
			}
			if permissions == nil {
				t.Errorf("%s: the job %s takes the token's default permissions", file, name)
			}
			posts := slices.ContainsFunc(j.Steps, workflowStep.publishes)
			apart := slices.ContainsFunc(j.Steps, workflowStep.apart)
			for _, step := range j.Steps {
				uses, _, _ := strings.Cut(step.Uses, "@")
				switch {
				case !apart && strings.Contains(fmt.Sprint(step.With, step.Env), "secrets."):
					t.Errorf("%s: the job %s runs code and is given a secret", file, name)
				case apart && (uses == "actions/checkout" || step.Run != "" || step.Uses == "./"):
					t.Errorf("%s: the job %s posts, and runs or checks out %q%q", file, name, step.Uses, step.Run)
				case uses == "actions/cache", uses == "actions/cache/save" && !strings.HasSuffix(file, "map.yml"):
					t.Errorf("%s: the job %s writes a cache", file, name)
				case uses == "actions/setup-go" && step.With["cache"] != false:
					t.Errorf("%s: actions/setup-go writes a cache in the job %s", file, name)
				case uses == "actions/checkout" && !oneJob && step.With["persist-credentials"] != false:
					t.Errorf("%s: the checkout of the job %s keeps the token", file, name)
				}
			}
			for scope, level := range permissions {
				if level == "write" && !posts && !oneJob {
					t.Errorf("%s: the job %s runs code and may write %s", file, name, scope)
				}
			}
		}
		if text, _ := os.ReadFile(file); strings.Count(string(text), "secrets.") > strings.Count(string(text), "secrets.TOUCHSTONE_AUDIT_KEY") || strings.Contains(string(text), "pull_request_target") {
			t.Errorf("%s names a secret other than the audit key, or pull_request_target", file)
		}
	}
}

// No input is part of a script: the author of a title or of an input would write
// the script.
func TestActionPassesInputsByEnvironment(t *testing.T) {
	a := readYAML[actionFile](t, "../../action.yml")
	used := ""
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("the step %q has an expression in its script", step.Name)
		}
		used += fmt.Sprint(step.Env)
	}
	for name, input := range a.Inputs {
		if input.Description == "" || !strings.Contains(used, "inputs."+name+" ") && name != "working-directory" {
			t.Errorf("the input %s is not described, or not used", name)
		}
	}
}

// The binary is the one whose digest stands in the action, or none.
func TestInstallChecksTheDigest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the name of the asset is Linux's here")
	}
	binary := []byte("#!/bin/sh\necho the release\n")
	asset := "touchstone_linux_" + runtime.GOARCH
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v0.1.0/"+asset {
			http.NotFound(w, r)
			return
		}
		w.Write(binary)
	}))
	defer server.Close()
	for _, c := range []struct {
		name, digest string
		code         int
	}{
		{"right", fmt.Sprintf("%x", sha256.Sum256(binary)), 0},
		{"wrong", fmt.Sprintf("%x", sha256.Sum256([]byte("other"))), exitUsage},
	} {
		dir, temp := t.TempDir(), t.TempDir()
		script, err := os.ReadFile("../../action/install.sh")
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, map[string]string{"install.sh": string(script), "release.sha256": "# digests\n" + c.digest + " v0.1.0 " + asset + "\n"})
		cmd := exec.Command("bash", filepath.Join(dir, "install.sh"))
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "TOUCHSTONE_DOWNLOAD="+server.URL)
		out, _ := cmd.CombinedOutput()
		got, _ := exec.Command(filepath.Join(temp, "touchstone-bin", "touchstone")).Output()
		if code := cmd.ProcessState.ExitCode(); code != c.code || (string(got) == "the release\n") != (c.code == 0) {
			t.Errorf("%s: exit %d, the binary says %q: %s", c.name, code, got, out)
		}
	}
}
