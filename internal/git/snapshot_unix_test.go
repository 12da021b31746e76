//go:build unix

package git

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestSnapshotPassesPipesBy(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1")
	if err := syscall.Mkfifo(f.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := f.snapshot(), []string{"100644 a=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSnapshotErrorsNameTheFile(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a pipe", "1")
	f.commit("one")
	os.Remove(f.path("a pipe"))
	if err := syscall.Mkfifo(f.path("a pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open().Snapshot(ctx, false); err == nil || !strings.Contains(err.Error(), "a pipe") || !strings.Contains(err.Error(), ".gitignore") {
		t.Errorf("got %v", err)
	}
}
