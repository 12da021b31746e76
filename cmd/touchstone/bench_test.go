package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkAgainstPlainScript runs check, and what a user would write instead (two
// work trees, the same tests one after the other), in turn on one pytest suite
// that computes for about four seconds, and reports the ratio of the two.
func BenchmarkAgainstPlainScript(b *testing.B) {
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		b.Skipf("python3 -m pytest does not run here: %s", out)
	}
	dir := b.TempDir()
	heavy := "import pytest\n\nfrom num import absolute\n\n\n@pytest.mark.parametrize('x', range(40))\ndef test_heavy(x):\n    assert sum(i * i for i in range(1_500_000)) > 0 and absolute(x) == x\n"
	benchRepository(b, dir,
		map[string]string{"num.py": "def absolute(x):\n    return x\n", "conftest.py": "", "tests/test_num.py": heavy},
		map[string]string{"num.py": "def absolute(x):\n    return -x if x < 0 else x\n", "tests/test_num.py": heavy + "\n\ndef test_negative():\n    assert absolute(-2) == 2\n"})
	script := filepath.Join(b.TempDir(), "plain.sh")
	if err := os.WriteFile(script, []byte(plainScript), 0o755); err != nil {
		b.Fatal(err)
	}
	var ours, plain time.Duration
	for b.Loop() {
		began := time.Now()
		if code, _, stderr := run("check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--full", "never", "--budget", "-1s", "-q"); code != exitPass {
			b.Fatalf("check exited with %d: %s", code, stderr)
		}
		ours += time.Since(began)
		began = time.Now()
		if out, err := exec.Command("bash", script, dir).CombinedOutput(); err != nil {
			b.Fatalf("the plain script: %v\n%s", err, out)
		}
		plain += time.Since(began)
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "check-s")
	b.ReportMetric(plain.Seconds()/float64(b.N), "plain-s")
	b.ReportMetric(ours.Seconds()/plain.Seconds(), "ratio")
}

// BenchmarkRecalled runs check on a change whose tests were asked on base before, as
// after a push that touches production code only, and the same with --fresh, in
// turn, and reports the ratio.
func BenchmarkRecalled(b *testing.B) {
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		b.Skipf("python3 -m pytest does not run here: %s", out)
	}
	dir, cache := b.TempDir(), b.TempDir()
	heavy := "import pytest\n\nfrom num import absolute\n\n\n@pytest.mark.parametrize('x', range(40))\ndef test_heavy(x):\n    assert sum(i * i for i in range(1_500_000)) > 0 and absolute(x) == x\n"
	benchRepository(b, dir,
		map[string]string{"num.py": "def absolute(x):\n    return x\n", "conftest.py": "", "tests/test_num.py": heavy},
		map[string]string{"num.py": "def absolute(x):\n    return -x if x < 0 else x\n", "tests/test_num.py": heavy + "\n\ndef test_negative():\n    assert absolute(-2) == 2\n"})
	check := func(args ...string) time.Duration {
		began := time.Now()
		app := App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Cache: cache}
		if code := app.Main(append([]string{"check", "--repo", dir, "--base", "HEAD~1", "--full", "never", "--budget", "-1s"}, args...)); code != exitPass {
			b.Fatalf("check %q exited with %d", args, code)
		}
		return time.Since(began)
	}
	check()
	var recalled, fresh time.Duration
	for b.Loop() {
		recalled += check()
		fresh += check("--fresh")
	}
	b.ReportMetric(recalled.Seconds()/float64(b.N), "recalled-s")
	b.ReportMetric(fresh.Seconds()/float64(b.N), "fresh-s")
	b.ReportMetric(recalled.Seconds()/fresh.Seconds(), "ratio")
}

const plainScript = `set -e
t=$(mktemp -d)
git -C "$1" worktree add -q --detach "$t/base" HEAD~1
git -C "$1" worktree add -q --detach "$t/head" HEAD
(cd "$t/base" && git -C "$1" show HEAD:tests/test_num.py > tests/test_num.py)
(cd "$t/base" && ! python3 -m pytest -q tests >/dev/null)
(cd "$t/head" && python3 -m pytest -q tests >/dev/null)
git -C "$1" worktree remove --force "$t/base"
git -C "$1" worktree remove --force "$t/head"
rm -rf "$t"
`

// BenchmarkGateItself measures all that is not a test process, on a repository
// of 50,000 files.
func BenchmarkGateItself(b *testing.B) {
	dir := b.TempDir()
	files := map[string]string{"go.mod": goMod, "m.go": goBuggy, "m_test.go": goTest}
	for i := range 50_000 {
		files[fmt.Sprintf("data/d%d/f%d.txt", i%500, i)] = fmt.Sprint(i)
	}
	benchRepository(b, dir, files, map[string]string{"m.go": goFixed, "m_test.go": goProof})
	var gateTime float64
	for b.Loop() {
		began := time.Now()
		code, stdout, stderr := run("check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--full", "never", "--budget", "-1s", "--format", "json")
		if code != exitPass {
			b.Fatalf("check exited with %d: %s", code, stderr)
		}
		var tests float64
		if _, after, ok := strings.Cut(stdout, `"seconds": {`); ok {
			fmt.Sscanf(after[strings.Index(after, `"tests":`):], `"tests": %g`, &tests)
		}
		gateTime += time.Since(began).Seconds() - tests
	}
	b.ReportMetric(gateTime/float64(b.N), "gate-s")
}

func benchRepository(b testing.TB, dir string, commits ...map[string]string) {
	b.Helper()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	for _, files := range commits {
		for name, content := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", "fix: it")
	}
}
