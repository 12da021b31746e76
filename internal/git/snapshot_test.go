package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSnapshotTakesTheWorkTreeAndWritesNothing(t *testing.T) {
	f := newFixture(t)
	f.write("kept", "1")
	f.write("edited", "1")
	f.write("gone", "1")
	f.write(".gitignore", "*.tmp\n")
	f.commit("one")
	f.write("stashed", "x")
	f.git("stash", "push", "-q", "--include-untracked")
	f.write("edited", "2")
	f.write("new/file", "3")
	f.write("new/ignored.tmp", "4")
	f.write("staged", "5")
	f.write("intended", "6")
	f.git("add", "staged")
	f.git("add", "--intent-to-add", "intended")
	f.write("staged", "5, edited since")
	os.Remove(f.path("gone"))
	if err := os.Symlink("/etc/passwd", f.path("link")); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, f.path(".git"))

	ctx := context.Background()
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.TreeOf(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	changes, err := repo.Changes(ctx, head, id)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range changes {
		list = append(list, string(c.Status)+" "+c.Path)
	}
	if want := []string{"M edited", "D gone", "A intended", "A link", "A new/file", "A staged"}; !slices.Equal(list, want) {
		t.Errorf("changes %q, want %q", list, want)
	}
	if got := f.snapshot(); !slices.Contains(got, "100644 staged=5, edited since") || !slices.Contains(got, "120000 link=/etc/passwd") {
		t.Errorf("%q", got)
	}
	if after := fingerprint(t, f.path(".git")); after != before {
		t.Error("the snapshot wrote into the repository")
	}
	tree, err := repo.Tree(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.ReadFile("link"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a symbolic link was read: %v", err)
	}
	if _, err := tree.ReadFile("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
}

// TestSnapshotSeesTheDisk goes through what makes git look away, or trip.
func TestSnapshotSeesTheDisk(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *fixture) // after one commit of a=1 and dir/b=1
		want    []string
	}{
		"nothing": {func(f *fixture) {}, []string{"100644 a=1", "100644 dir/b=1"}},
		"assume-unchanged": {func(f *fixture) {
			f.git("update-index", "--assume-unchanged", "a", "dir/b")
			f.write("a", "2")
			os.Remove(f.path("dir/b"))
		}, []string{"100644 a=2"}},
		"skip-worktree, edited": {func(f *fixture) {
			f.git("update-index", "--skip-worktree", "a")
			f.write("a", "2")
		}, []string{"100644 a=2", "100644 dir/b=1"}},
		"sparse checkout": {func(f *fixture) {
			f.git("sparse-checkout", "set", "--no-cone", "/a")
			if _, err := os.Stat(f.path("dir/b")); err == nil {
				f.Fatal("the checkout is not sparse")
			}
			f.write("a", "2")
			f.write("outside/new", "3")
		}, []string{"100644 a=2", "100644 dir/b=1", "100644 outside/new=3"}},
		"sparse index": {func(f *fixture) {
			f.git("sparse-checkout", "set", "--cone", "--sparse-index")
			f.write("a", "2")
		}, []string{"100644 a=2", "100644 dir/b=1"}},
		"split index": {func(f *fixture) {
			f.git("update-index", "--split-index")
			f.git("config", "core.splitIndex", "true")
			f.git("config", "splitIndex.maxPercentChange", "0")
			f.write("a", "2")
		}, []string{"100644 a=2", "100644 dir/b=1"}},
		"file monitor that says nothing changed": {func(f *fixture) {
			monitor := f.at(f.TempDir())
			monitor.write("monitor", "#!/bin/sh\nprintf 'token\\0'\n")
			os.Chmod(monitor.path("monitor"), 0o755)
			f.git("config", "core.fsmonitor", monitor.path("monitor"))
			f.git("config", "core.fsmonitorHookVersion", "2")
			f.git("config", "core.untrackedCache", "true")
			past := time.Now().Add(-time.Hour)
			os.Chtimes(f.path("a"), past, past)
			f.git("add", "a")
			f.git("update-index", "--fsmonitor")
			f.git("status")
			f.git("status")
			f.write("a", "22")
			if f.git("status", "--porcelain") != "" {
				f.Fatal("the monitor is not believed")
			}
		}, []string{"100644 a=22", "100644 dir/b=1"}},
		"repositories inside": {func(f *fixture) {
			f.git("init", "-q", "empty")
			f.git("init", "-q", "full")
			f.at(f.path("full")).commit("inner")
			f.git("worktree", "add", "-q", "--detach", "trees/linked")
			f.write("trees/beside", "2")
		}, []string{"100644 a=1", "100644 dir/b=1", "100644 trees/beside=2"}},
		"directory becomes a link": {func(f *fixture) {
			os.RemoveAll(f.path("dir"))
			os.Symlink(".", f.path("dir"))
		}, []string{"100644 a=1", "120000 dir=."}},
		"directory becomes a file": {func(f *fixture) {
			os.RemoveAll(f.path("dir"))
			f.write("dir", "2")
		}, []string{"100644 a=1", "100644 dir=2"}},
		"file becomes a directory": {func(f *fixture) {
			os.Remove(f.path("a"))
			f.write("a/c", "2")
		}, []string{"100644 a/c=2", "100644 dir/b=1"}},
		"mode": {func(f *fixture) { os.Chmod(f.path("a"), 0o755) }, []string{"100755 a=1", "100644 dir/b=1"}},
		"mode, not trusted": {func(f *fixture) {
			f.git("config", "core.fileMode", "false")
			os.Chmod(f.path("a"), 0o755)
		}, []string{"100644 a=1", "100644 dir/b=1"}},
		"line endings": {func(f *fixture) {
			f.git("config", "core.safecrlf", "true")
			f.write(".gitattributes", "*.txt text eol=lf\n")
			f.write("c.txt", "1\r\n")
		}, []string{"100644 .gitattributes=*.txt text eol=lf\n", "100644 a=1", "100644 c.txt=1\n", "100644 dir/b=1"}},
		"no index":     {func(f *fixture) { os.Remove(f.path(".git/index")) }, []string{"100644 a=1", "100644 dir/b=1"}},
		"locked index": {func(f *fixture) { f.write(".git/index.lock", ""); f.write("a", "2") }, []string{"100644 a=2", "100644 dir/b=1"}},
		"odd names":    {func(f *fixture) { f.write(":(exclude)x", "2"); f.write("*", "3") }, []string{"100644 *=3", "100644 :(exclude)x=2", "100644 a=1", "100644 dir/b=1"}},
		"everything gone": {func(f *fixture) {
			os.Remove(f.path("a"))
			os.RemoveAll(f.path("dir"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a", "1")
			f.write("dir/b", "1")
			f.commit("one")
			c.prepare(f)
			before := fingerprint(t, f.path(".git"))
			if got := f.snapshot(); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if fingerprint(t, f.path(".git")) != before {
				t.Error("the snapshot wrote into the repository")
			}
		})
	}
}

// TestSnapshotRecordsAMovedSubmodule though the change's .gitmodules says to
// ignore it, and leaves what lies in the submodule uncommitted.
func TestSnapshotRecordsAMovedSubmodule(t *testing.T) {
	ctx := context.Background()
	f, inner := newFixture(t), newFixture(t)
	inner.commit("inner")
	f.git("submodule", "add", "-q", inner.dir, "module")
	f.git("config", "-f", ".gitmodules", "submodule.module.ignore", "all")
	f.git("config", "submodule.module.ignore", "all")
	base := f.commit("one")
	moved := f.at(f.path("module")).commit("moved")
	f.write("module/dirt", "2")
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := repo.Changes(ctx, base, id)
	if err != nil || len(changes) != 1 || changes[0].Path != "module" || changes[0].NewMode != ModeSubmodule || changes[0].NewID != moved {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestSnapshotWithoutCommit(t *testing.T) {
	f := newFixture(t)
	if got := f.snapshot(); got != nil {
		t.Errorf("empty: %q", got)
	}
	f.git("init", "-q", "inner")
	if got := f.snapshot(); got != nil {
		t.Errorf("only a repository inside: %q", got)
	}
	f.write("a", "1")
	if got := f.snapshot(); !slices.Equal(got, []string{"100644 a=1"}) {
		t.Errorf("%q", got)
	}
}

// TestSnapshotSeesAFileOfTheSameSizeAndTime is the race that stat data loses:
// an edit in the tick in which the index was written.
func TestSnapshotSeesAFileOfTheSameSizeAndTime(t *testing.T) {
	f := newFixture(t)
	for i := range 20 {
		f.write("a", fmt.Sprint("a", i%10))
		f.git("add", "a")
		f.write("a", fmt.Sprint("b", i%10))
		if got, want := f.snapshot(), []string{fmt.Sprint("100644 a=b", i%10)}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

func TestSnapshotOfUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every file: run as another user")
	}
	f := newFixture(t)
	f.write("secret", "1")
	if err := os.Chmod(f.path("secret"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.open().Snapshot(context.Background(), false); err == nil || !strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestSnapshotRefusesConflicts(t *testing.T) {
	f := newFixture(t)
	names := []string{"a", "b", "c", "d", "e", "f", "sp ace"}
	put := func(content string) {
		for _, name := range names {
			f.write(name, content)
		}
		f.commit(content)
	}
	put("base\n")
	f.git("checkout", "-q", "-b", "other")
	put("theirs\n")
	f.git("checkout", "-q", "main")
	put("ours\n")
	if err := plainGit(f.dir, "merge", "other").Run(); err == nil {
		t.Fatal("the merge had no conflict")
	}
	repo := f.open()
	if _, err := repo.Snapshot(context.Background(), false); err == nil || !strings.Contains(err.Error(), `unresolved conflicts in ["a" "b" "c" "d" "e"] and 2 more`) {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Snapshot(context.Background(), true); err != nil {
		t.Errorf("with conflicts allowed: %v", err)
	}
}

// TestLargeFileStorage uses the real git-lfs: a file that was only touched is
// unchanged, an edited one is a pointer, and nothing is written into .git.
func TestLargeFileStorage(t *testing.T) {
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed")
	}
	f := newFixture(t)
	f.git("lfs", "install", "--local", "--skip-repo")
	f.git("lfs", "track", "*.bin")
	f.write("a.bin", "content")
	f.write("b.bin", "content")
	f.commit("one")
	os.Remove(f.path("a.bin"))
	f.write("a.bin", "content")
	f.write("b.bin", "edited")
	before := fingerprint(t, f.path(".git"))
	got := f.snapshot()
	pointer := func(path string) bool {
		return slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "100644 "+path+"=version https://git-lfs") })
	}
	if !pointer("a.bin") || !pointer("b.bin") {
		t.Errorf("%q", got)
	}
	if fingerprint(t, f.path(".git")) != before {
		t.Error("something was written into .git")
	}
}

// BenchmarkSnapshot measures the work tree of 50,000 files as a tree.
func BenchmarkSnapshot(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		if out, err := plainGit(dir, args...).CombinedOutput(); err != nil {
			b.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	run("init", "-q")
	for i := range 50_000 {
		path := filepath.Join(dir, fmt.Sprint("d", i%500), fmt.Sprint("f", i))
		if i < 500 {
			os.Mkdir(filepath.Dir(path), 0o755)
		}
		if err := os.WriteFile(path, []byte(fmt.Sprint(i)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	run("add", "-A")
	run("commit", "-q", "-m", "all")
	ctx := context.Background()
	repo, err := Open(ctx, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	id := ""
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			if id, err = repo.Snapshot(ctx, false); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if _, err := repo.list(ctx, id); err != nil {
				b.Fatal(err)
			}
		}
	})
}
