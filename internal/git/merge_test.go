package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestMerge merges branches of one base, and leaves nothing in the repository.
func TestMerge(t *testing.T) {
	f := newFixture(t)
	f.put(map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n", "b": "b\n"})
	base := f.git("rev-parse", "HEAD")
	branch := func(name string, files map[string]string) string {
		f.git("checkout", "-q", "-b", name, base)
		f.put(files)
		return f.git("rev-parse", "HEAD")
	}
	top := branch("top", map[string]string{"a": "one\n2\n3\n4\n5\n6\n7\n"})
	bottom := branch("bottom", map[string]string{"a": "1\n2\n3\n4\n5\n6\nseven\n", "c": "c\n"})
	clash := branch("clash", map[string]string{"a": "ONE\n2\n3\n4\n5\n6\n7\n", "b": "B\n"})
	f.git("checkout", "-q", "main")
	before := f.git("for-each-ref") + f.git("count-objects", "-v")

	r := f.open()
	merged, err := r.Merge(t.Context(), top, bottom)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.TreeOf(t.Context(), merged)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := r.Tree(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a": "one\n2\n3\n4\n5\n6\nseven\n", "b": "b\n", "c": "c\n"} {
		if got, err := listed.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q: %v", path, got, err)
		}
	}
	if _, err := r.Merge(t.Context(), merged, clash); !conflicts(err, "a") {
		t.Errorf("a conflict: %v", err)
	}
	if again, err := r.Merge(t.Context(), base, top); err != nil || treeOf(t, r, again) != treeOf(t, r, top) {
		t.Errorf("a merge into its own base: %v", err)
	}
	if after := f.git("for-each-ref") + f.git("count-objects", "-v"); after != before {
		t.Errorf("the repository has changed:\n%s\n%s", before, after)
	}
}

// put commits files.
func (f *fixture) put(files map[string]string) {
	f.Helper()
	for path, content := range files {
		f.write(path, content)
	}
	f.commit("c")
}

func conflicts(err error, paths ...string) bool {
	var conflict *ConflictError
	return errors.As(err, &conflict) && slices.Equal(conflict.Paths, paths)
}

func treeOf(t *testing.T, r *Repo, commit string) string {
	t.Helper()
	tree, err := r.TreeOf(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestMergeRunsNoDriver has the repository name a program that merges, and a file
// that chooses it.
func TestMergeRunsNoDriver(t *testing.T) {
	f := newFixture(t)
	f.put(map[string]string{"a": "1\n"})
	base := f.git("rev-parse", "HEAD")
	var heads []string
	for _, text := range []string{"2\n", "3\n"} {
		f.git("checkout", "-q", "--detach", base)
		f.put(map[string]string{"a": text, ".gitattributes": "a merge=evil\n"})
		heads = append(heads, f.git("rev-parse", "HEAD"))
	}
	ran := filepath.Join(t.TempDir(), "ran")
	f.git("config", "merge.evil.driver", "touch '"+ran+"'")
	if err := os.WriteFile(filepath.Join(f.dir, ".git", "info", "attributes"), []byte("a merge=evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open().Merge(context.Background(), heads[0], heads[1]); !conflicts(err, "a") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the driver ran")
	}
}
