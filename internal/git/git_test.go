package git

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is a real repository in a temporary directory.
type fixture struct {
	*testing.T
	dir string
}

func newFixture(t *testing.T, options ...string) *fixture {
	t.Helper()
	f := &fixture{t, filepath.Join(t.TempDir(), "a repo")}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f.git(append([]string{"init", "-q", "-b", "main"}, options...)...)
	return f
}

func (f *fixture) git(args ...string) string {
	f.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (f *fixture) write(path, content string) {
	f.Helper()
	full := filepath.Join(f.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) commit(message string) string {
	f.Helper()
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", message)
	return f.git("rev-parse", "HEAD")
}

func (f *fixture) open() *Repo {
	f.Helper()
	repo, err := Open(context.Background(), f.dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { repo.Close() })
	return repo
}

// fingerprint is every file of a directory with its content.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %x\n", path, sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func TestSnapshotTakesTheWorkTreeAndWritesNothing(t *testing.T) {
	f := newFixture(t)
	f.write("kept", "1")
	f.write("edited", "1")
	f.write("gone", "1")
	f.write(".gitignore", "*.tmp\n")
	f.commit("one")
	f.write("edited", "2")
	f.write("new/file", "3")
	f.write("new/ignored.tmp", "4")
	f.write("staged", "5")
	f.git("add", "staged")
	os.Remove(filepath.Join(f.dir, "gone"))
	if err := os.Symlink("/etc/passwd", filepath.Join(f.dir, "link")); err != nil {
		t.Fatal(err)
	}
	f.git("stash", "list")
	before := fingerprint(t, filepath.Join(f.dir, ".git"))

	ctx := context.Background()
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Tree(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".gitignore", "edited", "kept", "link", "new/file", "staged"}
	if !slices.Equal(tree.Paths(), want) {
		t.Errorf("paths %q, want %q", tree.Paths(), want)
	}
	if content, err := tree.ReadFile("edited"); string(content) != "2" || err != nil {
		t.Errorf("edited: %q, %v", content, err)
	}
	if _, err := tree.ReadFile("link"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a symbolic link was read: %v", err)
	}
	if _, err := tree.ReadFile("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
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
	if want := []string{"M edited", "D gone", "A link", "A new/file", "A staged"}; !slices.Equal(list, want) {
		t.Errorf("changes %q, want %q", list, want)
	}
	if after := fingerprint(t, filepath.Join(f.dir, ".git")); after != before {
		t.Error("the snapshot wrote into the repository")
	}
}

func TestSnapshotRefusesConflicts(t *testing.T) {
	f := newFixture(t)
	f.write("file", "base\n")
	f.commit("base")
	f.git("checkout", "-q", "-b", "other")
	f.write("file", "theirs\n")
	f.commit("theirs")
	f.git("checkout", "-q", "main")
	f.write("file", "ours\n")
	f.commit("ours")
	merge := exec.Command("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "merge", "other")
	merge.Dir = f.dir
	if err := merge.Run(); err == nil {
		t.Fatal("the merge had no conflict")
	}
	repo := f.open()
	if _, err := repo.Snapshot(context.Background(), false); err == nil || !strings.Contains(err.Error(), `unresolved conflicts in ["file"]`) {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Snapshot(context.Background(), true); err != nil {
		t.Errorf("with conflicts allowed: %v", err)
	}
}

func TestProgramsOfTheRepositoryDoNotRun(t *testing.T) {
	f := newFixture(t)
	f.write("file", "1")
	f.commit("one")
	marker := filepath.Join(t.TempDir(), "ran")
	script := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+marker+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.git("config", "core.fsmonitor", script)
	f.git("config", "diff.external", script)
	f.git("config", "core.pager", script)
	f.git("config", "diff.evil.textconv", script)
	f.git("config", "diff.evil.command", script)
	f.write(".gitattributes", "* diff=evil\n")
	f.write("file", "2")
	os.Remove(marker)
	ctx := context.Background()
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Patch(ctx, "HEAD^{tree}", id); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Changes(ctx, "HEAD^{tree}", id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a program that the repository's configuration names was run")
	}
}

func TestPathsAreBytes(t *testing.T) {
	f := newFixture(t)
	odd := []string{"sp ace", "quo\"te", "line\nbreak", "tab\there", "caf\xe9-latin1", "-dash", "ünïcode", "back\\slash"}
	for _, name := range odd {
		f.write("dir/"+name, name)
	}
	f.commit("odd")
	repo := f.open()
	tree, err := repo.Tree(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range odd {
		if content, err := tree.ReadFile("dir/" + name); string(content) != name || err != nil {
			t.Errorf("%q: %q, %v", name, content, err)
		}
	}
}

func TestRenamesAndModes(t *testing.T) {
	f := newFixture(t)
	f.write("old name", strings.Repeat("a long enough line\n", 20))
	f.write("script", "#!/bin/sh\n")
	f.write("empty", "")
	base := f.commit("base")
	f.git("mv", "old name", "new name")
	if err := os.Chmod(filepath.Join(f.dir, "script"), 0o755); err != nil {
		t.Fatal(err)
	}
	head := f.commit("head")
	repo := f.open()
	changes, err := repo.Changes(context.Background(), base, head)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 2 || changes[0].Status != 'R' || changes[0].OldPath != "old name" || changes[0].Path != "new name" ||
		changes[1].OldMode != ModeFile || changes[1].NewMode != ModeExecutable || changes[1].OldID != changes[1].NewID {
		t.Errorf("%+v", changes)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("file", "1")
	f.commit("one")
	f.write("file", "2")
	f.commit("two")
	f.git("checkout", "-q", "--orphan", "island")
	f.commit("island")
	f.git("checkout", "-q", "main")
	shallow := filepath.Join(t.TempDir(), "shallow")
	f.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+f.dir, shallow)
	bare := filepath.Join(t.TempDir(), "bare")
	f.git("init", "-q", "--bare", bare)
	empty := filepath.Join(t.TempDir(), "empty")
	f.git("init", "-q", empty)

	open := func(dir string) error { _, err := Open(ctx, dir); return err }
	in := func(dir string) *Repo {
		repo, err := Open(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { repo.Close() })
		return repo
	}
	second := func(_ any, err error) error { return err }
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no repository", open(t.TempDir()), "not a git repository"},
		{"no directory", open(filepath.Join(t.TempDir(), "none")), "does not exist"},
		{"bare", open(bare), "is bare"},
		{"unknown revision", second(f.open().Resolve(ctx, "nonsense")), `unknown revision "nonsense"`},
		{"an option", second(f.open().Resolve(ctx, "--all")), "not a revision"},
		{"no commit", second(in(empty).Resolve(ctx, "HEAD")), "no commit yet"},
		{"unrelated", second(f.open().MergeBase(ctx, "main", "island")), "share no history"},
		{"shallow", second(in(shallow).MergeBase(ctx, "HEAD", "origin/island")), "--unshallow"},
		{"shallow revision", second(in(shallow).Resolve(ctx, "HEAD~1")), "shallow clone"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, c.err, c.want)
		}
	}
	if err := open(t.TempDir()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("not marked: %v", err)
	}
}

func TestDefaultBranch(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.commit("one")
	if rev, _, err := f.open().DefaultBranch(ctx); rev != "refs/heads/main" || err != nil {
		t.Errorf("local only: %q, %v", rev, err)
	}
	clone := &fixture{t, filepath.Join(t.TempDir(), "clone")}
	f.git("branch", "-m", "main", "released")
	f.git("clone", "-q", f.dir, clone.dir)
	if rev, why, err := clone.open().DefaultBranch(ctx); rev != "refs/remotes/origin/released" || err != nil {
		t.Errorf("clone: %q %q, %v", rev, why, err)
	}
	clone.git("remote", "remove", "origin")
	if _, _, err := clone.open().DefaultBranch(ctx); err == nil || !strings.Contains(err.Error(), "--base") {
		t.Errorf("none: %v", err)
	}
}

func TestHostilePaths(t *testing.T) {
	for path, want := range map[string]bool{
		"a/b": false, ".github/x": false, ".gitignore": false, "a/.gitattributes": false, "git~2": false, "back\\slash": false, "a..b": false, "...": false,
		"": true, "/etc/passwd": true, "../x": true, "a/../b": true, ".git/config": true, ".GIT/hooks": true, "a/.git": true, "git~1/x": true,
		".git. /x": true, ".g\u200cit/x": true, "a\\..\\b": true, "a\\.git\\b": true, ".git::$INDEX_ALLOCATION/x": true, "a//b": true,
	} {
		if hostile(path) != want {
			t.Errorf("hostile(%q) is %v", path, !want)
		}
	}
}

func TestWordFilesAndMaterialize(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write("a.py", "def split(): pass\n")
	f.write("b.py", "splitter = 1\n")
	f.commit("one")
	repo := f.open()
	tree, err := repo.TreeOf(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if files, err := repo.WordFiles(ctx, tree, "split"); err != nil || !slices.Equal(files, []string{"a.py"}) {
		t.Errorf("%q, %v", files, err)
	}
	if files, err := repo.WordFiles(ctx, tree, "absent"); err != nil || len(files) != 0 {
		t.Errorf("%q, %v", files, err)
	}
	list, err := repo.Tree(ctx, tree)
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := list.Entry("b.py")
	dir := t.TempDir()
	if err := repo.Materialize(ctx, []string{entry.ID}, dir); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, entry.ID)); string(content) != "splitter = 1\n" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if err := repo.Materialize(ctx, []string{strings.Repeat("0", len(entry.ID))}, dir); err == nil {
		t.Error("a missing object was not noticed")
	}
}

func TestSHA256Repository(t *testing.T) {
	f := newFixture(t, "--object-format=sha256")
	f.write("file", "1")
	f.commit("one")
	f.write("file", "2")
	repo := f.open()
	id, err := repo.Snapshot(context.Background(), false)
	if err != nil || len(id) != 64 {
		t.Fatalf("%q, %v", id, err)
	}
}

// BenchmarkSnapshot measures the work tree of 50,000 files as a tree.
func BenchmarkSnapshot(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
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
	repo, err := Open(context.Background(), dir)
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	for b.Loop() {
		if _, err := repo.Snapshot(context.Background(), false); err != nil {
			b.Fatal(err)
		}
	}
}
