package patchsplit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repo is a git repository made for one test.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := repo{t, t.TempDir()}
	r.git(nil, "init", "-q")
	return r
}

func (r repo) git(stdin []byte, args ...string) string {
	r.t.Helper()
	out, err := r.try(stdin, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r repo) try(stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "core.autocrlf=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		return errs.String(), err
	}
	return out.String(), nil
}

func (r repo) write(path, text string) {
	r.t.Helper()
	full := filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit stages everything and returns the commit.
func (r repo) commit() string {
	r.t.Helper()
	r.git(nil, "add", "-A")
	return r.commitStaged()
}

func (r repo) commitStaged() string {
	r.t.Helper()
	r.git(nil, "commit", "-q", "--allow-empty", "-m", "x")
	return strings.TrimSpace(r.git(nil, "rev-parse", "HEAD"))
}

// apply returns the tree that patches give when git applies them to a commit,
// in order.
func (r repo) apply(base string, patches ...[]byte) string {
	r.t.Helper()
	r.git(nil, "read-tree", base)
	for _, patch := range patches {
		if len(patch) > 0 {
			if out, err := r.try(patch, "apply", "--cached", "--unidiff-zero", "--whitespace=nowarn", "-"); err != nil {
				r.t.Fatalf("git apply: %s\n%s", out, patch[:min(len(patch), 2000)])
			}
		}
	}
	return strings.TrimSpace(r.git(nil, "write-tree"))
}
