package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// run calls the command in this process.
func run(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	app := App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}
	code = app.Main(args)
	return code, out.String(), errs.String()
}

// checkJSON runs check and reads its report.
func checkJSON(t *testing.T, args ...string) (int, *gate.Report) {
	t.Helper()
	code, stdout, stderr := run(append([]string{"check", "--format", "json", "--full", "never", "--budget", "-1s"}, args...)...)
	r, err := report.Read(strings.NewReader(stdout))
	if err != nil {
		t.Fatalf("exit %d: %v\n%s", code, err, stderr)
	}
	return code, r
}

const (
	goMod    = "module example.com/m\n\ngo 1.21\n"
	goBuggy  = "package m\n\nfunc Abs(x int) int { return x }\n"
	goFixed  = "package m\n\nfunc Abs(x int) int {\n\tif x < 0 {\n\t\treturn -x\n\t}\n\treturn x\n}\n"
	goTest   = "package m\n\nimport \"testing\"\n\nfunc TestPositive(t *testing.T) {\n\tif Abs(2) != 2 {\n\t\tt.Error(\"two\")\n\t}\n}\n"
	goProof  = goTest + "\nfunc TestNegative(t *testing.T) {\n\tif Abs(-2) != 2 {\n\t\tt.Error(\"minus two\")\n\t}\n}\n"
	proofID  = "example.com/m.TestNegative"
	goHanged = goTest + "\nfunc TestNegative(t *testing.T) {\n\tselect {}\n}\n"
)

// repository is a real one with one commit per map of files; "" removes a file.
func repository(t *testing.T, dir string, commits ...map[string]string) string {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	gitIn(t, dir, "init", "-q", "-b", "main")
	for i, files := range commits {
		write(t, dir, files)
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("fix: commit %d", i))
	}
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if content == "" {
			os.Remove(path)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestBadInputSaysWhatToDo(t *testing.T) {
	two := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goProof})
	one := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy})
	shallow := filepath.Join(t.TempDir(), "clone")
	gitIn(t, two, "clone", "-q", "--depth=1", "file://"+two, shallow)
	broken := repository(t, "", map[string]string{"go.mod": goMod, ".github/touchstone.yml": "policy:\n  requires: none\n"}, map[string]string{"m.go": goFixed})
	conflict := conflicted(t)
	lacking := filepath.Join(t.TempDir(), "no-command.yml")
	write(t, filepath.Dir(lacking), map[string]string{"no-command.yml": "runners: [{name: unit, framework: junit}]\n"})
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no repository", []string{"check", "--repo", t.TempDir()}, exitUsage, "not a git repository"},
		{"no directory", []string{"check", "--repo", filepath.Join(t.TempDir(), "none")}, exitUsage, "does not exist"},
		{"unknown base", []string{"check", "--repo", two, "--base", "nonsense"}, exitUsage, `--base: unknown revision "nonsense"`},
		{"unknown head", []string{"check", "--repo", two, "--head", "nonsense"}, exitUsage, `--head: unknown revision "nonsense"`},
		{"nothing to check", []string{"check", "--repo", one}, exitUsage, "nothing to check"},
		{"shallow", []string{"check", "--repo", shallow, "--base", "HEAD~1"}, exitUsage, "--unshallow"},
		{"conflicts", []string{"check", "--repo", conflict}, exitUndecided, "unresolved conflicts"},
		{"unknown flag", []string{"check", "--bse", "x"}, exitUsage, "--bse\nRun 'touchstone check --help'"},
		{"unknown command", []string{"chek"}, exitUsage, `unknown command "chek": did you mean check?`},
		{"unknown command of audit", []string{"audit", "frobnicate"}, exitUsage, "unknown command \"frobnicate\"\nRun 'touchstone audit --help'"},
		{"a word too many", []string{"check", "extra"}, exitUsage, `"extra" is no flag, and this command takes nothing else: revisions are given by --base and --head`},
		{"no report to publish", []string{"publish"}, exitUsage, "name one report"},
		{"no directory for the report", []string{"check", "--output", "json=/nonexistent/report.json"}, exitUsage, `"/nonexistent" is no directory`},
		{"bad format", []string{"check", "--format", "xml"}, exitUsage, `"xml" is not one of text`},
		{"bad output", []string{"check", "--output", "report.json"}, exitUsage, "FORMAT=PATH"},
		{"bad full", []string{"check", "--full", "maybe"}, exitUsage, `"maybe" is not auto, always, never or coin`},
		{"bad jobs", []string{"check", "--jobs", "0"}, exitUsage, "--jobs: 0"},
		{"bad repeat", []string{"check", "--repeat", "0"}, exitUsage, "--repeat: 0 is less than 1"},
		{"a file's own name", []string{"check", "--repo", two, "--base", "HEAD~1", "--config", lacking}, exitUsage, "no-command.yml: the runner"},
		{"no configuration file", []string{"check", "--repo", two, "--base", "HEAD~1", "--config", "/nonexistent.yml"}, exitUsage, "--config"},
		{"broken configuration", []string{"check", "--repo", broken, "--base", "HEAD~1"}, exitUsage, `.github/touchstone.yml:2:3: unknown field "requires"`},
	} {
		code, stdout, stderr := run(c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %d and %q", c.name, code, stdout, stderr, c.code, c.want)
		}
	}
}

func conflicted(t *testing.T) string {
	dir := repository(t, "", map[string]string{"f": "base\n"})
	gitIn(t, dir, "checkout", "-q", "-b", "other")
	write(t, dir, map[string]string{"f": "theirs\n"})
	gitIn(t, dir, "commit", "-qam", "theirs")
	gitIn(t, dir, "checkout", "-q", "main")
	write(t, dir, map[string]string{"f": "ours\n"})
	gitIn(t, dir, "commit", "-qam", "ours")
	merge := exec.Command("git", "-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "other")
	if err := merge.Run(); err == nil {
		t.Fatal("the merge had no conflict")
	}
	return dir
}

func TestHelpShowsAnExample(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"check", "--help"}, {"demo", "--help"}} {
		code, stdout, _ := run(args...)
		if code != exitPass || !strings.Contains(stdout, "touchstone check") && !strings.Contains(stdout, "touchstone demo") {
			t.Errorf("%v: exit %d: %s", args, code, stdout)
		}
	}
}

// TestWorkTreeIsHead holds the promise of a plain `touchstone check`: the
// uncommitted and untracked work is the head, the merge base with the default
// branch is the base, and nothing of the user's is written.
func TestWorkTreeIsHead(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest, ".gitignore": "ignored\n"})
	gitIn(t, dir, "checkout", "-q", "-b", "feature")
	write(t, dir, map[string]string{"m.go": goFixed, "ignored": "x", "proof_test.go": strings.Replace(goProof, "TestPositive", "TestOther", 1)})
	gitIn(t, dir, "add", "m.go")
	write(t, dir, map[string]string{"notes.md": "not added\n"})
	before := fingerprint(t, dir)
	code, r := checkJSON(t, "--repo", dir)
	if code != exitPass || r.Change.Head != worktree || r.Summary.Discriminating != 1 || !strings.Contains(r.Change.BaseWhy, "main") {
		t.Errorf("exit %d, %+v, %+v, %v", code, r.Change, r.Summary, r.Verdict)
	}
	if c, ok := row(r, proofID); !ok || c.Role != gate.Discriminating {
		t.Errorf("%+v", c)
	}
	if after := fingerprint(t, dir); after != before {
		t.Error("the user's repository was written")
	}
}

// fingerprint is every path below a directory with mode, time and content. git
// renews the times of objects that it would have written again: those alone are
// left out.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode())
		if !strings.Contains(path, "/.git/objects/") {
			fmt.Fprintln(sum, info.ModTime().UnixNano())
		}
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum.Write(content)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func TestAwkwardPlaces(t *testing.T) {
	for _, name := range []string{"with space", "quo'te\"s", "comma,colon:back\\slash", "ünï", "caf\xe9", "$(touch x)"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		repository(t, dir, map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goProof})
		if code, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD"); code != exitPass || r.Summary.Discriminating != 1 {
			t.Errorf("%q: exit %d: %v %v", name, code, r.Verdict, r.Notes)
		}
	}
}

func TestAwkwardFiles(t *testing.T) {
	dir := repository(t, "", map[string]string{
		"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest, "old name.bin": "\x00\x01\x02", "script.sh": "#!/bin/sh\n", "gone.txt": "x\n", "testdata/a b\"c.txt": "1\n",
	})
	write(t, dir, map[string]string{
		"m.go": goFixed, "m_test.go": goProof, "gone.txt": "", "testdata/a b\"c.txt": "2\n", "testdata/line\nbreak": "3\n", "testdata/caf\xe9": "4\n", "bin": "\x00\xff",
	})
	gitIn(t, dir, "mv", "old name.bin", "new name.bin")
	if err := os.Chmod(filepath.Join(dir, "script.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "testdata", "link")); err != nil {
		t.Fatal(err)
	}
	sub := repository(t, "", map[string]string{"x": "1\n"})
	gitIn(t, dir, "submodule", "add", "-q", sub, "sub module")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-qm", "fix: all kinds of changes")
	code, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD")
	if code != exitPass || r.Summary.Discriminating != 1 {
		t.Errorf("exit %d: %v", code, r.Verdict)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), `submodule "sub module"`) {
		t.Errorf("the submodule is not noted: %q", r.Notes)
	}
}

func TestToolsThatAreMissing(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goProof})
	for _, c := range []struct{ config, want string }{
		{`{"runners": [{"framework": "gotest", "command": ["no-such-go", "test"]}]}`, "no-such-go does not run"},
		{`{"runners": [{"framework": "pytest", "command": ["no-such-python", "-m", "pytest"]}]}`, ""},
	} {
		file := filepath.Join(t.TempDir(), "touchstone.yml")
		if err := os.WriteFile(file, []byte(c.config), 0o644); err != nil {
			t.Fatal(err)
		}
		code, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--config", file)
		if code == exitPass || !strings.Contains(strings.Join(r.Verdict.Reasons, "\n"), c.want) {
			t.Errorf("%s: exit %d: %v", c.config, code, r.Verdict)
		}
	}
}

func TestATestThatNeverEnds(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goHanged})
	code, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--timeout", "3s")
	if c, _ := row(r, proofID); code != exitFail || c.Role != gate.DiagnosticNegative || c.Cells[gate.Head][0].Outcome != gate.TimedOut {
		t.Errorf("exit %d, %+v", code, c)
	}
	if c, _ := row(r, "example.com/m.TestPositive"); len(c.Cells[gate.Head]) == 0 || c.Cells[gate.Head][0].Outcome != gate.Passed {
		t.Errorf("its neighbour: %+v", c)
	}
}

func TestCopySandboxSaysSo(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goProof})
	code, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--sandbox", "copy")
	if code != exitPass || r.States[gate.Head].Sandbox != "copy" || !strings.Contains(strings.Join(r.Notes, "\n"), "absolute paths") {
		t.Errorf("exit %d: %v, %q, %v", code, r.States, r.Notes, r.Verdict)
	}
}

func TestAdvisoryExitsZeroAndSaysSo(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed})
	code, stdout, _ := run("check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--full", "never", "--advisory")
	if code != exitPass || !strings.Contains(stdout, "FAIL") || !strings.Contains(strings.ToLower(stdout), "advisory") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// TestInterrupted sends SIGINT to a real process in the middle of a run and
// looks for what it left behind.
func TestInterrupted(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "touchstone")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goHanged})
	temp := t.TempDir()
	cmd := exec.Command(binary, "check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		t.Fatal("it did not end within 20 s of SIGINT")
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if mounts, err := os.ReadFile("/proc/mounts"); err == nil && strings.Contains(string(mounts), dir) {
		t.Error("a mount was left behind")
	}
	if out, _ := exec.CommandContext(context.Background(), "pgrep", "-f", dir).Output(); len(out) > 0 {
		t.Errorf("processes were left behind: %s", out)
	}
}

func TestDemo(t *testing.T) {
	code, stdout, stderr := run("demo")
	if code != exitPass || strings.Count(stdout, "FAIL") < 2 || !strings.Contains(stdout, "PASS") || !strings.Contains(stdout, "example.com/till/receipt.TestLine") {
		t.Errorf("exit %d: %s\n%s", code, stdout, stderr)
	}
}
