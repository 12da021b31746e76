package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// BenchmarkWithoutHunks asks about ten hunk groups, each held in place by one of the
// ten tests that the change adds (or, in the second case, half of them by none), and
// reports how long tests ran for that, as a multiple of the plain replay's test
// time, both on the clock with two states at a time. Tests wait where others
// compute, so that the ratio is that of the work and not of the machine's load.
func BenchmarkWithoutHunks(b *testing.B) {
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		b.Skipf("python3 -m pytest does not run here: %s", out)
	}
	for _, pinned := range []int{10, 5} {
		b.Run(fmt.Sprintf("pinned=%d", pinned), func(b *testing.B) {
			dir := b.TempDir()
			base, head := map[string]string{"conftest.py": ""}, make(map[string]string)
			for i := range 10 {
				name := fmt.Sprintf("m%d.py", i)
				base[name] = "def absolute(x):\n    return x\n"
				head[name] = "def absolute(x):\n    return -x if x < 0 else x\n"
				test := fmt.Sprintf("import time\nfrom m%d import absolute\n\n\ndef test_positive():\n    time.sleep(0.3)\n    assert absolute(2) == 2\n", i)
				base[fmt.Sprintf("tests/test_m%d.py", i)] = test
				if i < pinned {
					head[fmt.Sprintf("tests/test_m%d.py", i)] = test + "\n\ndef test_negative():\n    time.sleep(0.3)\n    assert absolute(-2) == 2\n"
				}
			}
			benchRepository(b, dir, base, head)
			var plain, without float64
			for b.Loop() {
				few, all := checkWithin(b, dir, "-1s"), checkWithin(b, dir, "1h")
				results := make(map[gate.GroupResult]int)
				for _, g := range all.Groups {
					results[g.Result]++
				}
				if results[gate.Pinned] != pinned || results[gate.Unpinned] != 10-pinned {
					b.Fatalf("hunk groups: %v", results)
				}
				plain += few.Seconds.Tests
				without += all.Seconds.Tests - few.Seconds.Tests
			}
			b.ReportMetric(plain/float64(b.N), "plain-s")
			b.ReportMetric(without/float64(b.N), "without-s")
			b.ReportMetric(without/plain, "ratio")
		})
	}
}

// checkWithin checks a repository's last commit within a budget.
func checkWithin(b *testing.B, dir, budget string) *gate.Report {
	b.Helper()
	path := filepath.Join(b.TempDir(), "report.json")
	if code, _, stderr := run("check", "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--full", "never", "--jobs", "2", "--budget", budget, "--output", "json="+path, "-q"); code != exitPass {
		b.Fatalf("check exited with %d: %s", code, stderr)
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	r, err := report.Read(file)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
