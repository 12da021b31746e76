package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenFindsTheWorkTree(t *testing.T) {
	f := newFixture(t)
	f.write("sub/dir/file", "1")
	f.commit("one")
	inner := f.at(filepath.Join(t.TempDir(), "inner"))
	f.git("clone", "-q", f.dir, inner.dir)
	f.git("submodule", "add", "-q", inner.dir, "module")
	linked := filepath.Join(t.TempDir(), "linked")
	f.git("worktree", "add", "-q", "--detach", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	f.git("clone", "-q", "--bare", f.dir, bare)
	ofBare := filepath.Join(t.TempDir(), "of bare")
	f.at(bare).git("worktree", "add", "-q", "--detach", ofBare)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.path("sub/dir"), link); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "line\nbreak:and\"colon")
	f.git("clone", "-q", "--shared", f.dir, odd)

	for name, c := range map[string]struct{ dir, root string }{
		"root":                 {f.dir, f.dir},
		"subdirectory":         {f.path("sub/dir"), f.dir},
		"symbolic link inside": {link, f.dir},
		"submodule":            {f.path("module/sub"), f.path("module")},
		"linked work tree":     {linked, linked},
		"work tree of a bare":  {ofBare, ofBare},
		"odd name, shared":     {odd, odd},
	} {
		repo, err := Open(context.Background(), c.dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root, _ := filepath.EvalSymlinks(c.root)
		if repo.Root() != root {
			t.Errorf("%s: root %q, want %q", name, repo.Root(), root)
		}
		id, err := repo.Snapshot(context.Background(), false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if tree, err := repo.Tree(context.Background(), id); err != nil || !slices.Contains(tree.Paths(), "sub/dir/file") {
			t.Errorf("%s: %v, %v", name, tree, err)
		} else if content, err := tree.ReadFile("sub/dir/file"); string(content) != "1" || err != nil {
			t.Errorf("%s: %q, %v", name, content, err)
		}
		repo.Close()
	}
}

func TestOpenErrorsSayWhatToDo(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("file", "1")
	bare := filepath.Join(t.TempDir(), "bare")
	f.git("init", "-q", "--bare", bare)
	broken := newFixture(t)
	broken.write(".git/config", "[core\n")
	for name, c := range map[string]struct{ dir, want string }{
		"no repository": {t.TempDir(), "not a git repository"},
		"no directory":  {filepath.Join(t.TempDir(), "none"), "does not exist"},
		"a file":        {f.path("file"), "is no directory"},
		"bare":          {bare, "is bare"},
		"inside .git":   {f.path(".git/refs"), "inside a repository's .git"},
		"broken config": {broken.dir, "bad config line 1"},
	} {
		if _, err := Open(ctx, c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(ctx, t.TempDir()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("not marked: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(ctx, f.dir); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("without git: %v", err)
	}
}

func TestOpenNamesDubiousOwnership(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: only root can give a repository to another user")
	}
	f := newFixture(t)
	for _, dir := range []string{f.dir, f.path(".git")} {
		if err := os.Chown(dir, 12345, 12345); err != nil {
			t.Skipf("this system does not let root give files away: %v", err)
		}
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if _, err := Open(context.Background(), f.dir); err == nil || !strings.Contains(err.Error(), "safe.directory") {
		t.Errorf("got %v", err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	f := newFixture(t)
	f.write("file", "1")
	t.Setenv("TMPDIR", temp)
	repo := f.open()
	id, err := repo.Snapshot(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Tree(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.ReadFile("file"); err != nil {
		t.Fatal(err)
	}
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := tree.ReadFile("file"); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("after Close: %v", err)
	}
}

// TestOurTemporaryFilesAreNotTheChange puts the temporary directory into the work tree.
func TestOurTemporaryFilesAreNotTheChange(t *testing.T) {
	f := newFixture(t)
	f.write("tmp/user", "1")
	t.Setenv("TMPDIR", f.path("tmp"))
	if got, want := f.snapshot(), []string{"100644 tmp/user=1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCancellation(t *testing.T) {
	f := newFixture(t)
	f.write("file", "1")
	id := f.commit("one")
	ctx, cancel := context.WithCancel(context.Background())
	repo, err := Open(ctx, f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	blob := f.git("rev-parse", "HEAD:file")
	if _, err := repo.Blob(blob); err != nil {
		t.Fatal(err)
	}
	cancel()
	for name, err := range map[string]error{
		"Snapshot": second(repo.Snapshot(ctx, false)),
		"Tree":     second(repo.Tree(ctx, id)),
		"Resolve":  second(repo.Resolve(ctx, "HEAD")),
		"Blob":     second(repo.Blob(blob)),
		"Open":     second(Open(ctx, f.dir)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ any, err error) error { return err }
