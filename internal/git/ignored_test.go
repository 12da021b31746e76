package git

import (
	"slices"
	"testing"
)

// Ignored directories are named once, as a whole; what is neither committed nor
// ignored is not named, and the index stays as it is.
func TestIgnored(t *testing.T) {
	f := newFixture(t)
	f.write(".gitignore", "*.log\nbuild/\n")
	f.write("sub/a.txt", "a")
	f.commit("one")
	f.write("b.log", "x")
	f.write("new.txt", "x")
	f.write("build/deep/x.txt", "x")
	f.write("sub/c.log", "x")
	before := fingerprint(t, f.path(".git"))
	got, err := f.open().Ignored(t.Context())
	if want := []string{"b.log", "build/", "sub/c.log"}; err != nil || !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if fingerprint(t, f.path(".git")) != before {
		t.Error("the repository was written")
	}
}
