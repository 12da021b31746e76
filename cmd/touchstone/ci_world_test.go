package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/internal/github/fakehub"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

// world is one workflow run: a real repository on disk, a server that speaks
// GitHub's API, and a runner's environment.
type world struct {
	t      *testing.T
	hub    *fakehub.Hub
	origin string
	clone  string // where the job's checkout lies, "" for none
	env    map[string]string
	report string // what 'publish' reads
	pull   *fakehub.Pull
	sha    map[string]string // name -> commit of origin

	code           int
	stdout, stderr string
	slept          []time.Duration
}

// The pull requests of the repository that all scenarios share.
const (
	proofPull   = 7  // a fix with a test that fails without it
	vacuousPull = 8  // a fix with a test that passes either way
	docsPull    = 9  // documentation only
	flipPull    = 10 // breaks another package
)

var shared struct {
	once    sync.Once
	dir     string
	sha     map[string]string
	mu      sync.Mutex
	reports map[int][]byte
}

const (
	goOther     = "package other\n\nimport \"example.com/m\"\n\nfunc Twice(x int) int { return 2 * m.Abs(x) }\n"
	goOtherTest = "package other\n\nimport \"testing\"\n\nfunc TestTwiceKeepsSign(t *testing.T) {\n\tif Twice(-1) != -2 {\n\t\tt.Error(\"the sign is gone\")\n\t}\n}\n"
	goVacuous   = goTest + "\nfunc TestThree(t *testing.T) {\n\tif Abs(3) != 3 {\n\t\tt.Error(\"three\")\n\t}\n}\n"
)

// origin builds the repository once: main, four branches off its first commit,
// and a second commit on main, made after they branched.
func origin(t *testing.T) {
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "touchstone-origin-")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir, shared.sha, shared.reports = dir, make(map[string]string), make(map[int][]byte)
		at := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=till@example.com"}, args...)...)
			cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		commit := func(name, branch, message string, files map[string]string) {
			if branch != "" {
				at("checkout", "-q", "-b", branch, shared.sha["base"])
			}
			write(t, dir, files)
			at("add", "-A")
			at("commit", "-q", "-m", message)
			shared.sha[name] = at("rev-parse", "HEAD")
		}
		at("init", "-q", "-b", "main")
		at("config", "uploadpack.allowAnySHA1InWant", "true")
		commit("base", "", "chore: begin", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest, "README.md": "# m\n"})
		commit("proof", "fix", "fix: negative numbers", map[string]string{"m.go": goFixed, "m_test.go": goProof})
		commit("vacuous", "claude/three", "fix: negative numbers\n\nCo-authored-by: Claude <noreply@anthropic.com>", map[string]string{"m.go": goFixed, "m_test.go": goVacuous})
		commit("docs", "docs", "docs: say more", map[string]string{"README.md": "# m\n\nMore.\n"})
		at("checkout", "-q", "main")
		commit("other", "", "feat: other", map[string]string{"other/other.go": goOther, "other/other_test.go": goOtherTest})
		at("checkout", "-q", "-b", "flip")
		commit("flip", "", "fix: negative numbers", map[string]string{"m.go": goFixed, "m_test.go": goProof})
		at("checkout", "-q", "main")
		commit("main", "", "chore: go on", map[string]string{"CHANGES.md": "one\n"})
	})
}

func newWorld(t *testing.T, number int) *world {
	origin(t)
	w := &world{t: t, hub: fakehub.New(t), origin: shared.dir, sha: shared.sha}
	branches := map[int][2]string{proofPull: {"proof", "fix"}, vacuousPull: {"vacuous", "claude/three"}, docsPull: {"docs", "docs"}, flipPull: {"flip", "flip"}}
	for n, names := range branches {
		w.hub.Pulls[n] = &fakehub.Pull{
			Number: n, State: "open", Title: "fix: negative numbers", Author: "till", AuthorID: 1,
			HeadSHA: w.sha[names[0]], HeadRef: names[1], HeadRepository: w.hub.Repository, BaseSHA: w.sha["main"], BaseRef: "main",
		}
		w.hub.Commits[n] = []fakehub.Commit{{Email: "till@example.com", Message: gitIn(t, w.origin, "log", "-1", "--format=%B", w.sha[names[0]])}}
	}
	w.pull = w.hub.Pulls[number]
	w.hub.File = func(commit, path string) (string, bool) {
		out, err := exec.Command("git", "-C", w.origin, "show", commit+":"+path).Output()
		return string(out), err == nil
	}
	w.hub.Compare = w.compare
	dir := t.TempDir()
	w.env = map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": w.hub.Repository, "GITHUB_API_URL": w.hub.URL, "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_TOKEN": w.hub.Token, "GITHUB_JOB": "gate", "GITHUB_RUN_ID": "99", "GITHUB_OUTPUT": filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"), "GITHUB_SHA": w.sha["main"],
	}
	if w.pull != nil {
		w.event("pull_request", map[string]any{"action": "synchronize", "pull_request": w.hub.View(w.pull)})
	}
	return w
}

func (w *world) compare(base, head string) (string, []fakehub.ChangedFile, bool) {
	mergeBase, err := exec.Command("git", "-C", w.origin, "merge-base", base, head).Output()
	if err != nil {
		return "", nil, false
	}
	from := strings.TrimSpace(string(mergeBase))
	out, err := exec.Command("git", "-C", w.origin, "diff", "--name-only", from, head).Output()
	var files []fakehub.ChangedFile
	for _, path := range strings.Fields(string(out)) {
		files = append(files, fakehub.ChangedFile{Path: path, Status: "modified"})
	}
	return from, files, err == nil
}

// event writes the payload that the runner would.
func (w *world) event(name string, payload map[string]any) {
	text, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	w.env["GITHUB_EVENT_NAME"], w.env["GITHUB_EVENT_PATH"] = name, filepath.Join(w.t.TempDir(), "event.json")
	if err := os.WriteFile(w.env["GITHUB_EVENT_PATH"], text, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// resend makes the event anew after the pull request was changed.
func (w *world) resend() {
	w.event("pull_request", map[string]any{"action": "synchronize", "pull_request": w.hub.View(w.pull)})
}

// checkout is what actions/checkout leaves.
func (w *world) checkout(args ...string) {
	w.clone = filepath.Join(w.t.TempDir(), "checkout")
	gitIn(w.t, w.origin, append(append([]string{"clone", "-q"}, args...), "file://"+w.origin, w.clone)...)
}

func (w *world) run(args ...string) {
	var out, errs bytes.Buffer
	app := App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return w.env[name] }}
	app.sleep = func(_ context.Context, d time.Duration) error { w.slept = append(w.slept, d); return nil }
	w.code = app.Main(args)
	w.stdout, w.stderr = out.String(), errs.String()
}

// ci runs the one job, or the first of two.
func (w *world) ci(args ...string) {
	if w.clone == "" {
		w.checkout()
	}
	w.run(append([]string{"ci", "--repo", w.clone, "--output-dir", filepath.Join(w.clone, "..", "out")}, args...)...)
}

// publish runs the second job on the report that the first one really wrote.
func (w *world) publish() {
	if w.report == "" {
		w.report = filepath.Join(w.t.TempDir(), "report.json")
		if err := os.WriteFile(w.report, first(w.t, w.pull.Number), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	w.run("publish", w.report)
}

// first is the report that 'ci --no-publish' writes for a pull request, made once.
func first(t *testing.T, number int) []byte {
	t.Helper()
	origin(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.reports[number] == nil {
		w := newWorld(t, number)
		w.ci("--no-publish")
		text, err := os.ReadFile(filepath.Join(w.clone, "..", "out", "report.json"))
		if err != nil {
			t.Fatalf("exit %d: %v\n%s%s", w.code, err, w.stdout, w.stderr)
		}
		for _, r := range w.hub.Requests() {
			if r.Method != "GET" {
				t.Errorf("the job that runs the change's code sent %s %s", r.Method, r.Path)
			}
		}
		shared.reports[number] = text
	}
	return bytes.Clone(shared.reports[number])
}

// forge changes the report before it is published.
func (w *world) forge(old, new string) {
	w.t.Helper()
	text := first(w.t, w.pull.Number)
	if !bytes.Contains(text, []byte(old)) {
		w.t.Fatalf("the report does not hold %q", old)
	}
	w.report = filepath.Join(w.t.TempDir(), "report.json")
	if err := os.WriteFile(w.report, bytes.ReplaceAll(text, []byte(old), []byte(new)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

var volatile = []struct {
	find *regexp.Regexp
	into string
}{
	{regexp.MustCompile(`Took [^\n]*`), "Took ..."},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://hub"},
	{regexp.MustCompile(`/[^\s:"]*/(out|checkout|report\.json|none\.json|summary\.md)`), "/tmp/$1"},
	{regexp.MustCompile(`digest=[0-9a-f]{16}`), "digest=..."},
	{regexp.MustCompile(`\(0\.\d+s\)`), "(...)"},
}

// transcript is all that a run did, without what differs from day to day.
func (w *world) transcript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "exit: %d\n", w.code)
	if w.stderr != "" {
		fmt.Fprintf(&b, "stderr: %s\n", strings.TrimSpace(w.stderr))
	}
	for line := range strings.SplitSeq(w.stdout, "\n") {
		if strings.HasPrefix(line, "::") && !strings.Contains(line, "group::") {
			fmt.Fprintf(&b, "log: %s\n", line)
		}
	}
	if output, err := os.ReadFile(w.env["GITHUB_OUTPUT"]); err == nil {
		fmt.Fprintf(&b, "outputs: %s\n", strings.Join(regexp.MustCompile(`(?m)^(\w+)<<end-[0-9a-f]{32}\n(.*)\nend-[0-9a-f]{32}$`).FindAllString(string(output), -1), " "))
	}
	b.WriteString("\nrequests:\n")
	for _, r := range w.hub.Requests() {
		fmt.Fprintf(&b, "  %s %s %d%s\n", r.Method, strings.TrimPrefix(r.Path, "/repos/"+w.hub.Repository), r.Status, brief(r.Body))
	}
	for _, run := range w.hub.Runs {
		fmt.Fprintf(&b, "\ncheck %s on %s: %s %s\n  %s\n%s\n", run.Name, run.HeadSHA, run.Status, run.Conclusion, run.Title, indent(run.Summary))
		for _, a := range run.Annotations {
			fmt.Fprintf(&b, "  %v:%v %v: %v\n", a["path"], a["start_line"], a["annotation_level"], a["message"])
		}
	}
	for number, list := range w.hub.Comments {
		for _, c := range list {
			fmt.Fprintf(&b, "\ncomment of %s on %d:\n%s\n", c.Author, number, indent(c.Body))
		}
	}
	text := regexp.MustCompile(`<<end-[0-9a-f]{32}\n`).ReplaceAllString(b.String(), "=")
	text = regexp.MustCompile(`\nend-[0-9a-f]{32}`).ReplaceAllString(text, "")
	for name, sha := range w.sha {
		text = strings.ReplaceAll(strings.ReplaceAll(text, sha, "<"+name+">"), sha[:12], "<"+name+">")
	}
	for _, v := range volatile {
		text = v.find.ReplaceAllString(text, v.into)
	}
	return text
}

func brief(body map[string]any) string {
	words := ""
	for _, name := range []string{"status", "conclusion", "external_id", "details_url"} {
		if value, ok := body[name].(string); ok {
			words += " " + name + "=" + value
		}
	}
	if output, ok := body["output"].(map[string]any); ok {
		list, _ := output["annotations"].([]any)
		words += fmt.Sprintf(" annotations=%d", len(list))
	}
	return words
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// golden compares the run with testdata/github/NAME.txt.
func (w *world) golden(name string) {
	w.t.Helper()
	path, got := filepath.Join("testdata", "github", name+".txt"), w.transcript()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatalf("%v: write it with -update", err)
	}
	if got != string(want) {
		w.t.Errorf("%s differs (write it with -update if that is meant):\n got\n%s\nwant\n%s", path, got, want)
	}
}
