// Package git reads a repository by object id through the git command: commits,
// trees, blobs, differences, and the work tree as a tree of its own.
//
// The repository is hostile ground: its configuration may name programs, its
// trees may hold names that leave it, and the code under test may have written
// to its directory. So every call carries settings that take the programs away,
// nothing of the caller's own GIT_ variables that places a repository reaches
// git, and nothing in the repository is ever written: objects made on the way
// go to a directory of our own. What is read without end is read against a
// limit, and the error names the limit. The one exception is Ref: a ref below
// refs/touchstone/ that trusted jobs write, here or at a remote.
//
// It is not a general git library: no fetch but of such a ref, Deepen's and
// Pull's (not even the silent one of a partial clone), no checkout, no other commit or ref
// written, no history walk beyond a merge base and a list of subjects. Needs git
// 2.31 or newer, Merge 2.38.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Repo is one repository with a work tree. Close it when done. Methods may be
// called from several goroutines.
type Repo struct {
	root    string // real path of the work tree
	gitDir  string // its own: a linked work tree has one that refers to the shared one
	objects string // the shared object directory
	scratch string // ours: temporary indexes and objects, removed by Close
	blank   string // a repository that Blank made, removed by Close

	life context.Context // ends the batch process: Open's, or Close
	end  context.CancelFunc

	mu    sync.Mutex // one question at a time to blobs
	blobs *batch

	trees sync.Map // *Tree by object id
}

// ErrNotRepository says that there is no repository at a directory.
var ErrNotRepository = errors.New("not a git repository")

// Open finds the repository that dir is in: its work tree, a directory inside
// it, a linked work tree or a submodule. ctx ends whatever the Repo keeps running.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("git is not installed: install it and have it in PATH: %w", err)
	}
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the directory %q does not exist", dir)
	} else if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%q is no directory: name the repository's directory", dir)
	}
	if surelyOutside(dir) {
		return nil, outside(dir)
	}
	r, err := find(ctx, dir)
	if err != nil {
		return nil, explainOpen(ctx, dir, err)
	}
	if err := r.makeScratch(); err != nil {
		return nil, fmt.Errorf("making a directory for temporary objects: %w", err)
	}
	r.life, r.end = context.WithCancel(ctx)
	return r, nil
}

// Blank makes an empty repository that lives until Close: a place to work on a ref
// of a remote from, where there is no clone.
func Blank(ctx context.Context) (*Repo, error) {
	dir, err := os.MkdirTemp("", "touchstone-blank-")
	if err != nil {
		return nil, fmt.Errorf("making an empty repository: %w", err)
	}
	var r *Repo
	if _, err = probe(ctx, dir, "init", "-q").output(1 << 20); err == nil {
		r, err = Open(ctx, dir)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("making an empty repository: %w", err)
	}
	r.blank = dir
	return r, nil
}

// find asks git where the repository is. Each answer is asked for alone: a path
// may hold a line feed.
func find(ctx context.Context, dir string) (*Repo, error) {
	var r Repo
	var shown string
	for _, question := range []struct {
		answer *string
		args   []string
	}{
		{&shown, []string{"--show-toplevel"}},
		{&r.gitDir, []string{"--absolute-git-dir"}},
		{&r.objects, []string{"--path-format=absolute", "--git-path", "objects"}},
	} {
		var err error
		if *question.answer, err = probe(ctx, dir, append([]string{"rev-parse"}, question.args...)...).line(); err != nil {
			return nil, err
		}
	}
	if !filepath.IsAbs(r.objects) {
		return nil, errors.New("this git is too old: 2.31 or newer is needed")
	}
	root, err := filepath.EvalSymlinks(shown)
	r.root = root
	return &r, err
}

func outside(dir string) error {
	return fmt.Errorf("%w: %q: run inside one, or name one with --repo", ErrNotRepository, dir)
}

func explainOpen(ctx context.Context, dir string, err error) error {
	text := err.Error()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(text, "dubious ownership"):
		return fmt.Errorf("the repository at %q belongs to another user: if you trust it, run: git config --global --add safe.directory %q", dir, dir)
	case strings.Contains(text, "must be run in a work tree"):
		if bare, _ := probe(ctx, dir, "rev-parse", "--is-bare-repository").line(); bare == "true" {
			return fmt.Errorf("the repository at %q is bare and has no work tree: make one with git worktree add, or clone it", dir)
		}
		return fmt.Errorf("%q lies inside a repository's .git directory: run in its work tree", dir)
	case strings.Contains(text, "not a git repository"):
		return outside(dir)
	}
	return fmt.Errorf("opening the repository at %q: %w", dir, err)
}

// makeScratch lays out our own directory: objects, and an empty work tree for
// calls that are to see none.
func (r *Repo) makeScratch() error {
	dir, err := Scratch("git")
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	for _, name := range []string{"objects", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			os.RemoveAll(dir)
			return err
		}
	}
	r.scratch = dir
	return nil
}

// Root is the real path of the work tree.
func (r *Repo) Root() string { return r.root }

// Close ends the processes and removes the temporary objects: trees that
// Snapshot made cannot be read afterwards.
func (r *Repo) Close() error {
	r.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropBatch()
	err := os.RemoveAll(r.scratch)
	if r.blank != "" {
		err = errors.Join(err, os.RemoveAll(r.blank))
	}
	return err
}
