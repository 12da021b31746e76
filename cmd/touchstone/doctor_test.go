package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

func TestDoctorProvesARunner(t *testing.T) {
	dir := repository(t, t.TempDir(), map[string]string{"go.mod": goMod, "m.go": goFixed, "m_test.go": goProof})
	code, stdout, stderr := run("doctor", "--repo", dir, "--format", "json")
	if code != exitPass {
		t.Fatalf("exit %d: %s\n%s", code, stderr, stdout)
	}
	var d diagnosis
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Runners) != 1 || !d.OK || d.Sandbox.Kind == "" {
		t.Fatalf("%+v", d)
	}
	r := d.Runners[0]
	if r.Framework != "gotest" || r.Why != "go.mod" || r.Rows == 0 || !strings.HasPrefix(r.Version, "go version go") || r.Proof == nil || r.Proof.Outcome != "passed" {
		t.Errorf("%+v %+v", r, r.Proof)
	}
}

func TestDoctorSaysWhatIsMissing(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("node is not installed: %v", err)
	}
	dir := repository(t, t.TempDir(), map[string]string{
		"package.json": `{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "10"}}`, "test/a.js": "it('holds', () => {})\n",
		"go.mod": goMod, "m.go": goFixed, "m_test.go": goProof,
	})
	code, stdout, stderr := run("doctor", "--repo", dir)
	if code != exitUndecided {
		t.Fatalf("exit %d: %s\n%s", code, stderr, stdout)
	}
	for _, want := range []string{"ok   gotest in .", "FAIL mocha in .", "package.json scripts run mocha", "mocha is not in node_modules", "npm ci", "not every runner could run a test here"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not say %q:\n%s", want, stdout)
		}
	}
}

func TestDoctorWithoutARunner(t *testing.T) {
	dir := repository(t, t.TempDir(), map[string]string{"README": "text\n"})
	if code, _, stderr := run("doctor", "--repo", dir); code != exitUsage || !strings.Contains(stderr, "no test runner was found") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Nobody named --head, and no message does.
func TestDoctorWithoutACommit(t *testing.T) {
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	if code, _, stderr := run("doctor", "--repo", dir); code != exitUsage || stderr != "touchstone: the repository has no commit yet: commit something first\n" {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
