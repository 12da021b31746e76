package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// BenchmarkOverhead runs the same tests bare and in a state, in turn, and reports
// the median of the paired ratios: of the command alone, and with making and
// closing the state; and of processor time, which a busy machine disturbs less. The
// targets are 1.05 for overlay and 1.25 for docker.
func BenchmarkOverhead(b *testing.B) {
	pytestTree := func(b *testing.B) string {
		root := b.TempDir()
		var text strings.Builder
		text.WriteString("import pytest\n")
		for i := range 500 {
			fmt.Fprintf(&text, "\n\ndef test_%d(tmp_path):\n    (tmp_path / 'f').write_text('x')\n    assert sum(i * i for i in range(20_000)) > 0\n", i)
		}
		benchWrite(b, filepath.Join(root, "tests", "test_many.py"), text.String())
		benchWrite(b, filepath.Join(root, "conftest.py"), "")
		return root
	}
	goTree := func(b *testing.B) string {
		root := b.TempDir()
		benchWrite(b, filepath.Join(root, "go.mod"), "module m\n\ngo 1.25\n")
		for i := range 8 {
			dir := filepath.Join(root, fmt.Sprintf("p%d", i))
			benchWrite(b, filepath.Join(dir, "p.go"), fmt.Sprintf("package p%d\n\nfunc N(n int) (sum int) {\n\tfor i := range n {\n\t\tsum += i %% 7\n\t}\n\treturn sum\n}\n", i))
			benchWrite(b, filepath.Join(dir, "p_test.go"), fmt.Sprintf("package p%d\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestN(t *testing.T) {\n\tfor i := range 60 {\n\t\tt.Run(fmt.Sprint(i), func(t *testing.T) {\n\t\t\tif N(1_000_000) == 0 {\n\t\t\t\tt.Fatal()\n\t\t\t}\n\t\t})\n\t}\n}\n", i))
		}
		return root
	}
	pytest := []string{"/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"}
	for _, c := range []struct {
		name, kind string
		tree       func(*testing.B) string
		argv       []string
	}{
		{"pytest/overlay", "overlay", pytestTree, pytest},
		{"pytest/docker", "docker", pytestTree, pytest},
		{"go/overlay", "overlay", goTree, []string{"go", "test", "-count=1", "./..."}},
	} {
		b.Run(c.name, func(b *testing.B) { benchOverhead(b, c.kind, c.tree(b), c.argv) })
	}
}

func benchWrite(b *testing.B, path, content string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

func benchOverhead(b *testing.B, kind, root string, argv []string) {
	opts := Options{Kind: kind, Root: root}
	if kind == "docker" {
		opts.Image = testImage(b)
	}
	box, err := New(b.Context(), opts)
	if err != nil {
		b.Skipf("skipped: %v", err)
	}
	defer box.Close()
	bare := func() (wall, cpu time.Duration) {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		begin := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("skipped: %q does not run here: %v\n%s", argv, err, out)
		}
		return time.Since(begin), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	bare()
	var alone, whole, processor []float64
	for b.Loop() {
		plain, plainCPU := bare()
		begin := time.Now()
		st, err := box.State(b.Context(), nil)
		if err != nil {
			b.Fatal(err)
		}
		ran := time.Now()
		exit, err := st.Run(b.Context(), gate.Command{Argv: argv, Env: map[string]string{"PYTHONDONTWRITEBYTECODE": "1"}})
		ended := time.Now()
		if err != nil || exit.Code != 0 {
			b.Fatal(err, exit)
		}
		st.Close()
		alone = append(alone, ended.Sub(ran).Seconds()/plain.Seconds())
		whole = append(whole, time.Since(begin).Seconds()/plain.Seconds())
		processor = append(processor, exit.CPU.Seconds()/plainCPU.Seconds())
	}
	median := func(ratios []float64) float64 { slices.Sort(ratios); return ratios[len(ratios)/2] }
	b.ReportMetric(median(alone), "x-bare")
	b.ReportMetric(median(whole), "x-bare-with-state")
	if kind != "docker" { // where it is only sampled
		b.ReportMetric(median(processor), "cpu-x-bare")
	}
}
