package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// BenchmarkPrepare makes a state of a tree of 50,000 files and runs `true` in it.
// The target is 150 ms. A second figure is a further run in the same state.
func BenchmarkPrepare(b *testing.B) {
	root := bigTree(b, 50_000)
	box, err := New(b.Context(), Options{Kind: "overlay", Root: root})
	if err != nil {
		b.Skipf("skipped: %v", err)
	}
	blob := filepath.Join(b.TempDir(), "blob")
	if err := os.WriteFile(blob, []byte("base\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	var files []File
	for i := range 100 {
		files = append(files, File{Path: fmt.Sprintf("d%d/f%d", i, i), Mode: modeFile, Blob: blob})
	}
	var again time.Duration
	for b.Loop() {
		st, err := box.State(b.Context(), files)
		if err != nil {
			b.Fatal(err)
		}
		runTrue(b, st)
		begin := time.Now()
		runTrue(b, st)
		again += time.Since(begin)
		st.Close()
	}
	b.ReportMetric(float64(again.Milliseconds())/float64(b.N), "ms/again")
}

func runTrue(b *testing.B, st *State) {
	exit, err := st.Run(b.Context(), gate.Command{Argv: []string{"true"}})
	if err != nil || exit.Code != 0 {
		b.Fatal(err, exit)
	}
}

func bigTree(b *testing.B, n int) string {
	root := b.TempDir()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i%500))
		if i < 500 {
			if err := os.Mkdir(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), []byte("head\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root
}
