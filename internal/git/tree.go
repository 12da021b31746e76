package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Limits on what a tree or a change may hold.
const (
	MaxFiles   = 1_000_000
	MaxChanges = 100_000
	MaxBlob    = 64 << 20 // bytes of one file that is read as text
)

// The modes of tree entries.
const (
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeSymlink    = 0o120000
	ModeSubmodule  = 0o160000
)

// Entry is one file of a tree.
type Entry struct {
	Path string // bytes as git has them: any but NUL
	Mode uint32
	ID   string
}

// HostilePathError is a tree that names a place outside itself or inside a
// repository's own directory.
type HostilePathError struct{ Path string }

func (e *HostilePathError) Error() string {
	return fmt.Sprintf("the tree holds the path %q, which leaves the work tree or reaches into .git: refused", e.Path)
}

// Tree is a tree's list of files with their content on demand. It is safe for
// concurrent use.
type Tree struct {
	repo    *Repo
	entries []Entry
	paths   []string
	byPath  map[string]int
}

// Tree lists a tree.
func (r *Repo) Tree(ctx context.Context, id string) (*Tree, error) {
	out, err := r.output(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", id)
	if err != nil {
		return nil, fmt.Errorf("listing the tree %s: %w", short(id), err)
	}
	t := &Tree{repo: r, byPath: make(map[string]int)}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if record == "" {
			continue
		}
		entry, err := parseEntry(record)
		if err != nil {
			return nil, err
		}
		if len(t.entries) == MaxFiles {
			return nil, fmt.Errorf("the tree %s holds more than %d files: refused", short(id), MaxFiles)
		}
		t.byPath[entry.Path] = len(t.entries)
		t.entries = append(t.entries, entry)
		t.paths = append(t.paths, entry.Path)
	}
	return t, nil
}

func parseEntry(record string) (Entry, error) {
	facts, path, ok := strings.Cut(record, "\t")
	fields := strings.Fields(facts)
	if !ok || len(fields) != 3 {
		return Entry{}, fmt.Errorf("git ls-tree printed %q, which is no entry", record)
	}
	mode, err := strconv.ParseUint(fields[0], 8, 32)
	if err != nil {
		return Entry{}, fmt.Errorf("git ls-tree printed the mode %q: %w", fields[0], err)
	}
	if hostile(path) {
		return Entry{}, &HostilePathError{path}
	}
	return Entry{Path: path, Mode: uint32(mode), ID: fields[2]}, nil
}

// hostile tells whether a path is absolute, climbs, or names a git directory in
// one of the spellings that file systems take for it.
func hostile(path string) bool {
	if path == "" || strings.HasPrefix(path, "/") {
		return true
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		bare := strings.ToLower(strings.TrimRight(part, ". "))
		if name, _, found := strings.Cut(bare, ":"); found {
			bare = name
		}
		switch {
		case part == "." || part == ".." || part == "":
			return part != "" || !strings.Contains(path, `\`)
		case stripIgnorable(bare) == ".git", bare == "git~1":
			return true
		}
	}
	return false
}

// stripIgnorable removes the code points that HFS+ ignores in names.
func stripIgnorable(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
}

// Paths lists every file, sorted by bytes. Callers do not modify it.
func (t *Tree) Paths() []string { return t.paths }

// Entry returns the file at a path.
func (t *Tree) Entry(path string) (Entry, bool) {
	i, ok := t.byPath[path]
	if !ok {
		return Entry{}, false
	}
	return t.entries[i], true
}

// ErrNotRegular says that a path is a symbolic link or a submodule.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile returns a regular file's content.
func (t *Tree) ReadFile(path string) ([]byte, error) {
	entry, ok := t.Entry(path)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if entry.Mode != ModeFile && entry.Mode != ModeExecutable {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	return t.repo.Blob(entry.ID)
}

// Change is one file that differs between two trees.
type Change struct {
	Status  byte // A, D, M, T (type changed), R (renamed), C (copied)
	Path    string
	OldPath string // as Path, unless renamed or copied
	OldMode uint32 // 0 when absent
	NewMode uint32
	OldID   string
	NewID   string
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
	out, err := r.output(ctx, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-l10000", renames, "--end-of-options", a, b)
	if err != nil {
		return nil, fmt.Errorf("comparing %s and %s: %w", short(a), short(b), err)
	}
	records := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var changes []Change
	for i := 0; i < len(records) && records[i] != ""; {
		change, used, err := parseChange(records[i:])
		if err != nil {
			return nil, err
		}
		i += used
		changes = append(changes, change)
	}
	if len(changes) > MaxChanges {
		return nil, fmt.Errorf("%d files differ between %s and %s, more than %d: refused", len(changes), short(a), short(b), MaxChanges)
	}
	return changes, nil
}

func parseChange(records []string) (Change, int, error) {
	fields := strings.Fields(strings.TrimPrefix(records[0], ":"))
	if len(fields) != 5 || len(records) < 2 {
		return Change{}, 0, fmt.Errorf("git diff-tree printed %q, which is no change", records[0])
	}
	c := Change{Status: fields[4][0], OldID: fields[2], NewID: fields[3], Path: records[1], OldPath: records[1]}
	for i, mode := range []*uint32{&c.OldMode, &c.NewMode} {
		number, err := strconv.ParseUint(fields[i], 8, 32)
		if err != nil {
			return Change{}, 0, fmt.Errorf("git diff-tree printed the mode %q: %w", fields[i], err)
		}
		*mode = uint32(number)
	}
	used := 2
	if c.Status == 'R' || c.Status == 'C' {
		if len(records) < 3 {
			return Change{}, 0, fmt.Errorf("git diff-tree printed a rename of %q without its new name", c.OldPath)
		}
		c.Path, used = records[2], 3
	}
	for _, path := range []string{c.Path, c.OldPath} {
		if hostile(path) {
			return Change{}, 0, &HostilePathError{path}
		}
	}
	return c, used, nil
}

// Patch is the difference of two trees as git's own patch text, with whole ids
// and binary content, the same whatever the user's configuration says.
func (r *Repo) Patch(ctx context.Context, a, b string) ([]byte, error) {
	out, err := r.output(ctx, "diff-tree", "-r", "-p", "-M", "--full-index", "--binary", "--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", "-l10000", "--end-of-options", a, b)
	if err != nil {
		return nil, fmt.Errorf("comparing %s and %s: %w", short(a), short(b), err)
	}
	return out, nil
}

// WordFiles lists the files of a tree in which a word occurs as a whole word.
func (r *Repo) WordFiles(ctx context.Context, tree, word string) ([]string, error) {
	out, err := r.output(ctx, "grep", "-l", "-z", "-w", "-F", "-I", "--no-color", "--no-recurse-submodules", "--full-name", "-e", word, tree)
	if err != nil {
		if status(err) == 1 {
			return nil, nil
		}
		return nil, fmt.Errorf("looking for %q in %s: %w", word, short(tree), err)
	}
	var paths []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		paths = append(paths, strings.TrimPrefix(name, tree+":"))
	}
	return paths, nil
}
