//go:build unix

package git

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweep: a directory that a living process holds stays, and so does a young
// one; one that nobody holds goes.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	mine, err := Scratch("files")
	if err != nil {
		t.Fatal(err)
	}
	left, young := filepath.Join(os.TempDir(), "touchstone-held-files-left"), filepath.Join(os.TempDir(), "touchstone-held-files-young")
	other := filepath.Join(os.TempDir(), "touchstone-files-left")
	for _, dir := range []string{left, young, other} {
		if err := os.MkdirAll(filepath.Join(dir, "inner"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().Add(-time.Hour)
	for _, dir := range []string{mine, left, other} {
		if err := os.Chtimes(dir, before, before); err != nil {
			t.Fatal(err)
		}
	}
	Sweep("files", "git")
	for dir, stays := range map[string]bool{mine: true, left: false, young: true, other: true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
}
