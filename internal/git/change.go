package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Limits on what a change may hold.
const (
	MaxChanges = 100_000
	MaxPatch   = 256 << 20 // bytes of patch text
	// maxRenames is how many added and how many deleted files are compared with
	// each other for similarity; beyond it only equal content is a rename. It is
	// git's own default and keeps the quadratic work to seconds.
	maxRenames = "-l1000"
)

// Change is one file that differs between two trees.
type Change struct {
	Status  byte // A, D, M, T (type changed), R (renamed), C (copied)
	Path    string
	OldPath string // as Path, unless renamed or copied
	OldMode uint32 // 0 when absent
	NewMode uint32
	OldID   string
	NewID   string
	Score   int // similarity in percent of what was renamed or copied, else 0
}

// Changes lists the differences between two trees, renames found.
func (r *Repo) Changes(ctx context.Context, a, b string) ([]Change, error) {
	return r.changes(ctx, a, b, "-M")
}

// Differences lists the paths at which two trees differ, without renames.
func (r *Repo) Differences(ctx context.Context, a, b string) ([]Change, error) {
	return r.changes(ctx, a, b, "--no-renames")
}

func (r *Repo) changes(ctx context.Context, a, b, renames string) ([]Change, error) {
	if err := r.bounded(ctx, a, b); err != nil {
		return nil, err
	}
	var changes []Change
	var record []string // the parts of a change so far
	err := r.command(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--ignore-submodules=none", maxRenames, renames, "--end-of-options", a, b).records(func(part string) error {
		record = append(record, part)
		if len(record) < parts(record[0]) {
			return nil
		}
		change, err := parseChange(record)
		if err != nil {
			return err
		}
		if len(changes) == MaxChanges {
			return fmt.Errorf("more than %d files differ: refused", MaxChanges)
		}
		changes, record = append(changes, change), nil
		return nil
	})
	if err == nil && record != nil {
		err = fmt.Errorf("git diff-tree ended within %q", record)
	}
	if err != nil {
		return nil, fmt.Errorf("comparing %s and %s: %w", short(a), short(b), err)
	}
	return changes, nil
}

// bounded refuses trees that break a limit before git compares them, which it
// does in memory.
func (r *Repo) bounded(ctx context.Context, trees ...string) error {
	for _, id := range trees {
		if _, err := r.Tree(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// parts is how many records make up the change that a record begins.
func parts(first string) int {
	if letter := first[strings.LastIndexByte(first, ' ')+1:]; strings.HasPrefix(letter, "R") || strings.HasPrefix(letter, "C") {
		return 3
	}
	return 2
}

func parseChange(record []string) (c Change, err error) {
	fields := strings.Fields(strings.TrimPrefix(record[0], ":"))
	if len(fields) != 5 {
		return c, fmt.Errorf("git diff-tree printed %q, which is no change", record[0])
	}
	c = Change{Status: fields[4][0], OldID: fields[2], NewID: fields[3], OldPath: record[1], Path: record[len(record)-1]}
	if c.OldMode, err = parseMode(fields[0]); err != nil {
		return c, err
	}
	if c.NewMode, err = parseMode(fields[1]); err != nil {
		return c, err
	}
	if len(record) == 3 {
		if c.Score, err = strconv.Atoi(fields[4][1:]); err != nil {
			return c, fmt.Errorf("git diff-tree printed the score %q: %w", fields[4], err)
		}
	}
	if err := checkPath(c.OldPath); err != nil {
		return c, err
	}
	return c, checkPath(c.Path)
}

// Patch is the difference of two trees as git's own patch text, with whole ids
// and binary content, the same whatever the user's configuration and the
// change's .gitattributes say.
func (r *Repo) Patch(ctx context.Context, a, b string) ([]byte, error) {
	if err := r.bounded(ctx, a, b); err != nil {
		return nil, err
	}
	out, err := r.command(ctx, "diff-tree", "-r", "-p", "-M", maxRenames, "--full-index", "--binary", "--no-color", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", a, b).output(MaxPatch)
	if err != nil {
		return nil, fmt.Errorf("comparing %s and %s: %w", short(a), short(b), err)
	}
	return out, nil
}
