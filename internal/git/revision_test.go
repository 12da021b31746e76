package git

import (
	"context"
	"crypto/sha1"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	first := f.commit("one")
	f.git("tag", "-a", "-m", "annotated", "v1")
	second := f.commit("two")
	f.git("update-ref", "refs/remotes/origin/x", first)
	f.git("branch", "same", first)
	f.git("tag", "same", second)
	f.git("update-ref", "refs/tags/HEAD", first)
	f.git("update-ref", "refs/tags/"+second, first)
	repo := f.open()
	for rev, want := range map[string]string{"HEAD": second, "main": second, first: first, first[:10]: first, "v1": first, "origin/x": first, "HEAD~1": first, "refs/heads/same": first, "refs/tags/same": second, second: second} {
		if got, err := repo.Resolve(ctx, rev); got != want || err != nil {
			t.Errorf("%s: %q, %v", rev, got, err)
		}
	}
	for rev, want := range map[string]string{
		"": "not a revision", "--all": "not a revision", "-n1": "not a revision", "main\nx": "not a revision", "nonsense": `unknown revision "nonsense"`,
		"same": "ambiguous", "HEAD^{tree}": "no commit but another object", "main..v1": "unknown revision", strings.Repeat("0", 40): "unknown revision",
	} {
		if got, err := repo.Resolve(ctx, rev); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v", rev, got, err)
		}
	}
}

// TestAmbiguousShortIds makes commits until two share four digits.
func TestAmbiguousShortIds(t *testing.T) {
	f := newFixture(t)
	tree := f.object("tree", nil)
	seen := make(map[string][]byte)
	for i := 0; ; i++ {
		content := fmt.Appendf(nil, "tree %s\nauthor t <t@example.com> %d +0000\ncommitter t <t@example.com> %d +0000\n\nx\n", tree, i, i)
		prefix := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "commit %d\x00%s", len(content), content)))[:4]
		if twin, ok := seen[prefix]; ok {
			f.object("commit", content)
			f.object("commit", twin)
			if _, err := f.open().Resolve(context.Background(), prefix); err == nil || !strings.Contains(err.Error(), "ambiguous") {
				t.Errorf("%v", err)
			}
			return
		}
		seen[prefix] = content
	}
}

func TestHistoryErrorsSayWhatToDo(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.commit("one")
	f.git("checkout", "-q", "-b", "side")
	f.commit("side")
	f.git("checkout", "-q", "main")
	base := f.git("rev-parse", "main")
	f.commit("two")
	f.git("checkout", "-q", "--orphan", "island")
	f.commit("island")
	f.git("checkout", "-q", "main")
	shallow := f.at(filepath.Join(t.TempDir(), "shallow"))
	f.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+f.dir, shallow.dir)
	empty := newFixture(t)

	if got, err := f.open().MergeBase(ctx, "main", "side"); got != base || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no commit", second(empty.open().Resolve(ctx, "HEAD")), "no commit yet"},
		{"unrelated", second(f.open().MergeBase(ctx, "main", "island")), "share no history"},
		{"unknown", second(f.open().MergeBase(ctx, "main", strings.Repeat("1", 40))), "finding the merge base"},
		{"shallow", second(shallow.open().MergeBase(ctx, "HEAD", "origin/side")), "holds 1 and 1 of their commits: run git fetch --unshallow"},
		{"shallow revision", second(shallow.open().Resolve(ctx, "HEAD~1")), "shallow clone"},
		{"no tree", second(f.open().TreeOf(ctx, strings.Repeat("1", 40))), "reading the tree"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	if f.open().IsShallow(ctx) || !shallow.open().IsShallow(ctx) {
		t.Error("IsShallow is wrong")
	}
}

// TestReplacedHistoryIsNotBelieved plants what rewrites history on reading.
func TestReplacedHistoryIsNotBelieved(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("file", "1")
	one := f.commit("one")
	f.write("file", "2")
	two := f.commit("two")
	blob := f.git("rev-parse", two+":file")
	f.git("replace", blob, f.git("rev-parse", one+":file"))
	f.write(".git/info/grafts", two+"\n")
	repo := f.open()
	if content, err := repo.Blob(blob); string(content) != "2" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if base, err := repo.MergeBase(ctx, one, two); base != one || err != nil {
		t.Errorf("%q, %v", base, err)
	}
}

func TestSubjects(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	base := f.commit("base")
	f.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	f.commit("fix: ünïcode\n\nbody")
	f.commit(strings.Repeat("long ", 400))
	repo := f.open()
	subjects, err := repo.Subjects(ctx, base, "HEAD")
	if err != nil || len(subjects) != 2 || !strings.HasPrefix(subjects[0], "long long") || len(subjects[0]) > 1000 || subjects[1] != "fix: ünïcode" {
		t.Errorf("%q, %v", subjects, err)
	}
	if subjects, err := repo.Subjects(ctx, base, base); len(subjects) != 0 || err != nil {
		t.Errorf("none: %q, %v", subjects, err)
	}
}

func TestDefaultBranch(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.commit("one")
	if rev, _, err := f.open().DefaultBranch(ctx); rev != "refs/heads/main" || err != nil {
		t.Errorf("local only: %q, %v", rev, err)
	}
	f.git("branch", "trunk")
	f.git("config", "init.defaultBranch", "trunk")
	if rev, why, err := f.open().DefaultBranch(ctx); rev != "refs/heads/trunk" || why != "trunk by its name" || err != nil {
		t.Errorf("configured: %q %q, %v", rev, why, err)
	}
	clone := f.at(filepath.Join(t.TempDir(), "clone"))
	f.git("branch", "-m", "main", "released")
	f.git("clone", "-q", f.dir, clone.dir)
	if rev, why, err := clone.open().DefaultBranch(ctx); rev != "refs/remotes/origin/released" || err != nil {
		t.Errorf("clone: %q %q, %v", rev, why, err)
	}
	clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
	if rev, why, err := clone.open().DefaultBranch(ctx); rev != "refs/remotes/origin/trunk" || why != "origin/trunk by its name" || err != nil {
		t.Errorf("dangling: %q %q, %v", rev, why, err)
	}
	clone.git("remote", "remove", "origin")
	if _, _, err := clone.open().DefaultBranch(ctx); err == nil || !strings.Contains(err.Error(), "--base") || !strings.Contains(err.Error(), "trunk") {
		t.Errorf("none: %v", err)
	}
}

func TestRepositoryName(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/owner/name.git": "owner/name", "git@github.com:owner/name": "owner/name", "https://user:token@host/owner/name/": "owner/name",
		"ssh://git@host:22/owner/name.git": "owner/name", "/srv/git/name": "", "../name": "", "": "",
	} {
		f := newFixture(t)
		if address != "" {
			f.git("remote", "add", "origin", address)
		}
		if got := f.open().RepositoryName(context.Background()); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	if got := []string{shown("refs/heads/a/b"), shown("refs/remotes/origin/a")}; !slices.Equal(got, []string{"a/b", "origin/a"}) {
		t.Errorf("%q", got)
	}
}
