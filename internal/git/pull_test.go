package git

import (
	"context"
	"strings"
	"testing"
)

// TestPull fetches a pull request's head from origin, and leaves the repository
// as it was.
func TestPull(t *testing.T) {
	ctx := context.Background()
	origin := newFixture(t)
	origin.write("a", "1")
	origin.commit("first")
	clone := origin.at(t.TempDir())
	clone.git("clone", "--quiet", origin.dir, ".")
	origin.write("a", "2")
	want := origin.commit("second")
	origin.git("update-ref", "refs/pull/12/head", want)
	origin.git("reset", "--quiet", "--hard", "HEAD~1")

	before := clone.snapshot()
	repo := clone.open()
	number, ok := repo.PullNumber(ctx, "12")
	if !ok || number != "12" {
		t.Fatalf("PullNumber: %q, %t", number, ok)
	}
	got, err := repo.Pull(ctx, number)
	if err != nil || got != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
	if _, err := repo.TreeOf(ctx, got); err != nil {
		t.Error(err)
	}
	if base, err := repo.MergeBase(ctx, got, clone.git("rev-parse", "HEAD")); err != nil || base == "" {
		t.Errorf("merge base %q, %v", base, err)
	}
	if after := clone.snapshot(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the repository was written to:\n%q\n%q", before, after)
	}
}

func TestPullSaysWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a", "1")
	f.commit("first")
	repo := f.open()
	refused := func(number, words string) {
		t.Helper()
		if _, err := repo.Pull(ctx, number); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want an error with %q", err, words)
		}
	}
	refused("7", "no remote named origin")
	f.git("remote", "add", "origin", f.path("absent"))
	refused("7", "git fetch origin pull/7/head")
	f.git("remote", "set-url", "origin", f.dir)
	refused("7", "origin has no refs/pull/7/head")
}

// TestPullNumber keeps branches, tags and commits what they are.
func TestPullNumber(t *testing.T) {
	f := newFixture(t)
	f.write("a", "1")
	f.commit("first")
	f.git("branch", "34")
	f.git("tag", "56")
	repo := f.open()
	for name, want := range map[string]string{
		"#12": "12", "12": "12", "34": "", "#34": "34", "56": "", "012": "", "#0": "", "main": "", "12ab": "", "123456789": "", "-1": "", "": "", "#12/head": "",
	} {
		if got, _ := repo.PullNumber(context.Background(), name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
