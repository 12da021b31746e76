package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

var _ gate.Tree = (*Tree)(nil)

func TestPathsAreBytes(t *testing.T) {
	f := newFixture(t)
	odd := []string{"sp ace", "quo\"te", "line\nbreak", "tab\there", "caf\xe9-latin1", "-dash", "ünïcode", "back\\slash", "a.b", "a/c", "a-b", "git~10", "esc\x1b[31m"}
	for _, name := range odd {
		f.write("dir/"+name, name)
	}
	f.commit("odd")
	tree, err := f.open().Tree(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Paths()) != len(odd) || !slices.IsSorted(tree.Paths()) {
		t.Errorf("%q", tree.Paths())
	}
	for _, name := range odd {
		if content, err := tree.ReadFile("dir/" + name); string(content) != name || err != nil {
			t.Errorf("%q: %q, %v", name, content, err)
		}
	}
}

func TestHostilePaths(t *testing.T) {
	for path, want := range map[string]bool{
		"a/b": false, ".github/x": false, ".gitignore": false, "a/.gitattributes": false, "git~2": false, "back\\slash": false, "a..b": false, "...": false, "agit~1": false,
		"": true, "/etc/passwd": true, "../x": true, "a/../b": true, ".git/config": true, ".GIT/hooks": true, "a/.git": true, "git~1/x": true, "GIT~1": true, "a/.": true, "a/": true,
		".git. /x": true, ".g\u200cit/x": true, "a\\..\\b": true, "a\\.git\\b": true, ".git::$INDEX_ALLOCATION/x": true, "a//b": true, "a//b\\c": true,
	} {
		if hostile(path) != want {
			t.Errorf("hostile(%q) is %v", path, !want)
		}
	}
	var hostile *HostilePathError
	if err := checkPath("a/../b\n"); !errors.As(err, &hostile) || !strings.Contains(err.Error(), `"a/../b\n"`) {
		t.Errorf("%v", err)
	}
}

// TestHostileTrees writes tree objects that git itself would not.
func TestHostileTrees(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("file", "1")
	good := f.commit("good")
	blob := f.git("rev-parse", "HEAD:file")
	dir := f.git("rev-parse", "HEAD^{tree}")
	tree := func(entries ...[]byte) string { return f.object("tree", slices.Concat(entries...)) }
	repo := f.open()
	for name, c := range map[string]struct {
		tree, want string
		hostile    bool
	}{
		"climbs":          {tree(rawEntry("40000", "..", dir)), `"../file"`, true},
		"git directory":   {tree(rawEntry("40000", ".git", dir)), `".git/file"`, true},
		"upper case":      {tree(rawEntry("40000", ".GIT", dir)), `".GIT/file"`, true},
		"submodule":       {tree(rawEntry("160000", "git~1", good)), `"git~1"`, true},
		"twice":           {tree(rawEntry("100644", "a", blob), rawEntry("100644", "a", blob)), "after", false},
		"unsorted":        {tree(rawEntry("100644", "b", blob), rawEntry("100644", "a", blob)), "after", false},
		"file and folder": {tree(rawEntry("100644", "a", blob), rawEntry("100644", "a-", blob), rawEntry("40000", "a", dir)), `"a" both as a file and as a directory`, false},
		"long path":       {tree(rawEntry("100644", strings.Repeat("x", MaxPath+1), blob)), "4096", false},
		"longer path":     {tree(rawEntry("100644", strings.Repeat("x", maxRecord+1), blob)), "refused", false},
	} {
		_, err := repo.Tree(ctx, c.tree)
		var hostile *HostilePathError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &hostile) != c.hostile {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := repo.Changes(ctx, good, c.tree); err == nil {
			t.Errorf("%s: compared", name)
		}
	}
}

// TestEndlessTree compares with 10^12 files made of 12 small objects.
func TestEndlessTree(t *testing.T) {
	if testing.Short() {
		t.Skip("short: listing up to the limit takes seconds")
	}
	f := newFixture(t)
	f.write("file", "1")
	good := f.commit("good")
	endless := f.git("rev-parse", "HEAD^{tree}")
	for range 12 {
		var content []byte
		for i := range 10 {
			content = append(content, rawEntry("40000", fmt.Sprint("d", i), endless)...)
		}
		endless = f.object("tree", content)
	}
	if _, err := f.open().Differences(context.Background(), good, endless); err == nil || !strings.Contains(err.Error(), fmt.Sprint(MaxFiles)) {
		t.Errorf("got %v", err)
	}
}

func TestTreeIsSafeForConcurrentUse(t *testing.T) {
	f := newFixture(t)
	for i := range 50 {
		f.write(fmt.Sprint("f", i), strings.Repeat(fmt.Sprint(i), 1000))
	}
	f.commit("one")
	repo := f.open()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			tree, err := repo.Tree(context.Background(), f.git("rev-parse", "HEAD^{tree}"))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				if content, err := tree.ReadFile(fmt.Sprint("f", i)); string(content) != strings.Repeat(fmt.Sprint(i), 1000) || err != nil {
					t.Errorf("f%d: %q, %v", i, content, err)
				}
			}
		})
	}
	all.Wait()
}

func TestSHA256Repository(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t, "--object-format=sha256")
	f.write("file", "1")
	base := f.commit("one")
	f.write("file", "2")
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil || len(id) != 64 {
		t.Fatalf("%q, %v", id, err)
	}
	changes, err := repo.Changes(ctx, base, id)
	if err != nil || len(changes) != 1 {
		t.Fatalf("%v, %v", changes, err)
	}
	if content, err := repo.Blob(changes[0].NewID); string(content) != "2" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
}
