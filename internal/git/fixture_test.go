package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// plainGit is git as a user runs it, with an author.
func plainGit(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	return cmd
}

func (f *fixture) git(args ...string) string {
	f.Helper()
	out, err := plainGit(f.dir, args...).CombinedOutput()
	if err != nil {
		f.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// object writes an object past git's own checks and returns its id.
func (f *fixture) object(kind string, content []byte) string {
	f.Helper()
	cmd := plainGit(f.dir, "hash-object", "-w", "--literally", "-t", kind, "--stdin")
	cmd.Stdin = bytes.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		f.Fatalf("git hash-object: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// rawEntry is one entry of a tree object's content.
func rawEntry(mode, name, id string) []byte {
	var raw []byte
	fmt.Sscanf(id, "%x", &raw)
	return append([]byte(mode+" "+name+"\x00"), raw...)
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fixture) write(path, content string) {
	f.Helper()
	full := f.path(path)
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

// at is a fixture for another directory.
func (f *fixture) at(dir string) *fixture { return &fixture{f.T, dir} }

// snapshot is the work tree as "mode path=content" lines.
func (f *fixture) snapshot() []string {
	f.Helper()
	ctx := context.Background()
	repo := f.open()
	id, err := repo.Snapshot(ctx, false)
	if err != nil {
		f.Fatal(err)
	}
	tree, err := repo.Tree(ctx, id)
	if err != nil {
		f.Fatal(err)
	}
	var lines []string
	for _, path := range tree.Paths() {
		entry, _ := tree.Entry(path)
		content := "submodule"
		if entry.Mode != ModeSubmodule {
			blob, err := repo.Blob(entry.ID)
			if err != nil {
				f.Fatal(err)
			}
			content = string(blob)
		}
		lines = append(lines, fmt.Sprintf("%o %s=%s", entry.Mode, path, content))
	}
	return lines
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
