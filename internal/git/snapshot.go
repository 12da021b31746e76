package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Snapshot writes the work tree, with all that is not committed and not
// ignored, as a tree, and returns its id. The repository's index, objects and
// refs stay as they are: a copy of the index and an object directory of ours
// take the writes. Unresolved conflicts are an error unless conflicts allows
// them; then files stand in the tree as they are on disk, markers and all.
//
// The tree says what lies on disk: marks in the index that tell git to look away
// (assume-unchanged, skip-worktree on a file that is there) are not believed. A
// repository inside the work tree that is no submodule is not part of the tree.
// Line endings are converted as git add would; which filter programs run is said
// at foreignFilters.
func (r *Repo) Snapshot(ctx context.Context, conflicts bool) (tree string, err error) {
	dir, err := os.MkdirTemp(r.scratch, "snapshot-")
	if err != nil {
		return "", fmt.Errorf("making a directory for a temporary index: %w", err)
	}
	defer os.RemoveAll(dir)
	s := snapshot{repo: r, index: filepath.Join(dir, "index")}
	if s.filters, err = r.foreignFilters(ctx); err != nil {
		return "", err
	}
	if err := s.copyIndex(); err != nil {
		return "", fmt.Errorf("copying the index: %w", err)
	}
	marks, err := s.readMarks(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the index: %w", err)
	}
	if len(marks.unmerged) > 0 && !conflicts {
		return "", conflictError(marks.unmerged)
	}
	if err := s.clear(ctx, marks); err != nil {
		return "", fmt.Errorf("preparing the temporary index: %w", err)
	}
	if err := s.add(ctx, len(marks.skipped) > 0); err != nil {
		return "", fmt.Errorf("reading the work tree: %w", err)
	}
	if tree, err = s.git(ctx, "write-tree").line(); err != nil {
		return "", fmt.Errorf("writing the work tree as a tree: %w", err)
	}
	return tree, nil
}

// snapshot is the work tree on its way into a temporary index.
type snapshot struct {
	repo    *Repo
	index   string
	filters []string // settings that take filter programs away
}

// git is a call on the temporary index. Each may look into files, even
// write-tree: what changed within the index's own tick is read again.
func (s snapshot) git(ctx context.Context, args ...string) *call {
	c := s.repo.onWorkTree(ctx, s.index, append([]string{"-c", "lfs.storage=" + filepath.Join(s.repo.scratch, "lfs")}, args...)...)
	c.name = args[0]
	c.Env = append(c.Env, s.filters...)
	return c
}

// copyIndex copies the user's index, whose stat data saves reading every file.
func (s snapshot) copyIndex() error {
	from, err := os.Open(filepath.Join(s.repo.gitDir, "index"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := os.OpenFile(s.index, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	// git trusts stat data older than the index itself: keep the index's time.
	return os.Chtimes(s.index, info.ModTime(), info.ModTime())
}

// marks are the entries of an index that are not plain.
type marks struct {
	unmerged []string
	assumed  []string // assume-unchanged
	skipped  []string // skip-worktree: sparse checkouts, and by hand
}

func (s snapshot) readMarks(ctx context.Context) (m marks, err error) {
	err = s.git(ctx, "ls-files", "-v", "--stage", "-z").records(func(record string) error {
		facts, path, ok := strings.Cut(record, "\t")
		if !ok || facts == "" {
			return fmt.Errorf("git ls-files printed %q, which is no entry", record)
		}
		tag := facts[0]
		if lower := tag >= 'a'; lower {
			m.assumed = append(m.assumed, path)
			tag -= 'a' - 'A'
		}
		if tag == 'S' {
			m.skipped = append(m.skipped, path)
		}
		if stage := facts[len(facts)-1]; stage != '0' && (len(m.unmerged) == 0 || m.unmerged[len(m.unmerged)-1] != path) {
			m.unmerged = append(m.unmerged, path)
		}
		return nil
	})
	return m, err
}

func conflictError(paths []string) error {
	more := ""
	if len(paths) > 5 {
		more = fmt.Sprintf(" and %d more", len(paths)-5)
		paths = paths[:5]
	}
	return fmt.Errorf("the work tree has unresolved conflicts in %q%s: resolve them, or name a commit by --head", paths, more)
}

// clear takes away the marks that would hide what is on disk. A skipped file
// that is not there is not deleted: it was never checked out.
func (s snapshot) clear(ctx context.Context, m marks) error {
	var present []string
	for _, path := range m.skipped {
		if _, err := os.Lstat(filepath.Join(s.repo.root, path)); err == nil {
			present = append(present, path)
		}
	}
	if err := s.feed(s.git(ctx, "update-index", "--no-skip-worktree", "-z", "--stdin"), present); err != nil {
		return err
	}
	return s.feed(s.git(ctx, "update-index", "--no-assume-unchanged", "-z", "--stdin"), m.assumed)
}

// feed runs a call on a list of paths, unless it is empty.
func (s snapshot) feed(c *call, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	c.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	_, err := c.line()
	return err
}

// add brings the work tree into the index.
func (s snapshot) add(ctx context.Context, sparse bool) error {
	outside, err := s.outside(ctx)
	if err != nil {
		return err
	}
	args := []string{"add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"}
	if sparse {
		args = append(args, "--sparse")
	}
	c := s.git(ctx, args...)
	c.Env = append(c.Env, "GIT_LITERAL_PATHSPECS=0")
	specs := []string{"."}
	for _, path := range outside {
		specs = append(specs, ":(exclude,literal)"+path)
	}
	if err := s.feed(c, specs); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: make each a file that can be read, or ignore it in .gitignore", err)
	}
	return ctx.Err()
}

// outside lists what lies in the work tree and is no part of it: repositories of
// their own, which git ls-files names with a slash at the end, and our own
// temporary files.
func (s snapshot) outside(ctx context.Context) (paths []string, err error) {
	untracked := 0
	err = s.git(ctx, "ls-files", "--others", "--exclude-standard", "-z").records(func(path string) error {
		if untracked++; untracked > MaxFiles {
			return fmt.Errorf("more than %d files are neither tracked nor ignored: ignore what is no source in .gitignore", MaxFiles)
		}
		if inner, ok := strings.CutSuffix(path, "/"); ok {
			paths = append(paths, inner)
		}
		return nil
	})
	if ours, err := filepath.Rel(s.repo.root, s.repo.scratch); err == nil && filepath.IsLocal(ours) {
		paths = append(paths, filepath.ToSlash(ours))
	}
	return paths, err
}
