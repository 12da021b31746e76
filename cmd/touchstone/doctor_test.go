package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// Somebody who is writing a configuration asks doctor about it before it is
// committed.
func TestDoctorSaysWhichConfigurationItRead(t *testing.T) {
	dir := repository(t, t.TempDir(), map[string]string{"go.mod": goMod, "m.go": goFixed, "m_test.go": goProof})
	if _, stdout, _ := run("doctor", "--repo", dir); strings.Contains(stdout, "was not read") || !strings.Contains(stdout, "in 1 package\n") {
		t.Errorf("without a configuration:\n%s", stdout)
	}
	path := filepath.Join(dir, ".github", "touchstone.yml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("modus: x\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := run("doctor", "--repo", dir); code != exitPass || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "was not read: commit it, or give it by --config") {
		t.Errorf("exit %d:\n%s", code, stdout)
	}
	if code, stdout, stderr := run("doctor", "--repo", dir, "--config", path); code != exitUsage || !strings.Contains(stderr, `unknown field "modus"`) {
		t.Errorf("exit %d: %s\n%s", code, stderr, stdout)
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
