package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
)

func TestSetupRunsOncePerSetOfDependencyFiles(t *testing.T) {
	s := newSetups([]config.Runner{
		{Dir: ".", Setup: [][]string{{"pip", "install", "-e", "."}, {"bash", "tools/prepare.sh"}}},
		{Dir: ".", Setup: [][]string{{"pip", "install", "-e", "."}}},
		{Dir: "web", Setup: [][]string{{"npm", "ci"}}},
	})
	if len(s.commands) != 3 || s.commands[2].Dir != "web" {
		t.Errorf("commands: %+v", s.commands)
	}
	if env := s.commands[2].Env; env["RUSTUP_PERMIT_COPY_RENAME"] != "1" {
		t.Errorf("rustup may not copy: %v", env)
	}
	tree := func(pairs ...string) map[string]git.Entry {
		m := make(map[string]git.Entry)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = git.Entry{Path: pairs[i], Mode: git.ModeFile, ID: pairs[i+1]}
		}
		return m
	}
	base := s.key(tree("a.py", "1", "requirements-dev.txt", "1", "tools/prepare.sh", "1"))
	for _, c := range []struct {
		tree map[string]git.Entry
		same bool
	}{
		{tree("a.py", "2", "b.py", "1", "requirements-dev.txt", "1", "tools/prepare.sh", "1"), true},
		{tree("a.py", "1", "requirements-dev.txt", "2", "tools/prepare.sh", "1"), false},
		{tree("a.py", "1", "requirements-dev.txt", "1", "tools/prepare.sh", "2"), false},
		{tree("a.py", "1", "tools/prepare.sh", "1"), false},
		{tree("a.py", "1", "requirements-dev.txt", "1", "tools/prepare.sh", "1", "web/package-lock.json", "1"), false},
	} {
		if got := s.key(c.tree) == base; got != c.same {
			t.Errorf("%v: same set %v, want %v", c.tree, got, c.same)
		}
	}
}

// setUpRepository has tests that need a module which only set-up makes.
func setUpRepository(t *testing.T, sandbox string) string {
	t.Helper()
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		t.Skipf("skipped: python3 -m pytest does not run here: %s", out)
	}
	settings := "sandbox: " + sandbox + "\nrunners:\n  - framework: pytest\n    setup:\n      - [sh, -c, 'mkdir -p built; cat requirements.txt > built/made.py; echo x >> built/count']\n"
	test := "import sys\nsys.path.insert(0, 'built')\n\nimport made\nfrom num import absolute\n\n\ndef test_made():\n    assert made.VALUE == 7 and open('built/count').read() == 'x\\n'\n"
	return repository(t, "", map[string]string{
		".github/touchstone.yml": settings, "requirements.txt": "VALUE = 7\n", "conftest.py": "", "num.py": "def absolute(x):\n    return x\n", "tests/test_num.py": test,
	}, map[string]string{
		"num.py": "def absolute(x):\n    return -x if x < 0 else x\n", "tests/test_num.py": test + "\n\ndef test_negative():\n    assert absolute(-made.VALUE) == made.VALUE\n",
	})
}

func TestSetupOnOverlay(t *testing.T) {
	code, r := checkJSON(t, "--repo", setUpRepository(t, "{kind: overlay}"), "--base", "HEAD~1", "--head", "HEAD")
	checkSetUp(t, code, r, "overlay")
}

// TestDockerEndToEnd checks a pull request whose tests run in an image that the
// configuration names, with set-up.
func TestDockerEndToEnd(t *testing.T) {
	if out, err := exec.Command("docker", "image", "inspect", "touchstone-test:bookworm").CombinedOutput(); err != nil {
		t.Skipf("skipped: no Docker engine with the image touchstone-test:bookworm (.ci/run makes it): %s", out)
	}
	code, r := checkJSON(t, "--repo", setUpRepository(t, "{kind: docker, image: 'touchstone-test:bookworm'}"), "--base", "HEAD~1", "--head", "HEAD")
	checkSetUp(t, code, r, "docker")
}

func checkSetUp(t *testing.T, code int, r *gate.Report, kind string) {
	t.Helper()
	if code != exitPass || r.Summary.Discriminating != 1 {
		t.Errorf("exit %d, %+v, %+v, notes %q", code, r.Summary, r.Verdict, r.Notes)
	}
	if got := r.States[gate.Head]; got.Sandbox != kind || !slices.Contains(got.Layers, "no network but loopback") {
		t.Errorf("head: %+v", got)
	}
}

func TestDockerWithoutImageSaysWhatToDo(t *testing.T) {
	dir := repository(t, "", map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}, map[string]string{"m.go": goFixed, "m_test.go": goProof})
	code, _, stderr := run("check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--sandbox", "docker")
	if code != exitUndecided || !strings.Contains(stderr, "sandbox.image") || !strings.Contains(stderr, "Dockerfile") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
