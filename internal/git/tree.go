package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// MaxFiles bounds the files of a tree.
const MaxFiles = 1_000_000

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

// Tree is a tree's list of files with their content on demand. It is safe for
// concurrent use.
//
// Invariants: paths are sorted by bytes and occur once; none is hostile; none
// lies under another one that is a file.
type Tree struct {
	repo    *Repo
	entries []Entry
	paths   []string
	byPath  map[string]int
	dir     string // of the last entry, known to be a directory all the way up
}

// Tree lists a tree, given by its id or a commit's. A tree that a checkout would
// refuse is an error, of type *HostilePathError where a path is at fault.
func (r *Repo) Tree(ctx context.Context, id string) (*Tree, error) {
	if known, ok := r.trees.Load(id); ok {
		return known.(*Tree), nil
	}
	t, err := r.list(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("listing the tree %s: %w", short(id), err)
	}
	if isID(id) {
		r.trees.Store(id, t)
	}
	return t, nil
}

// list reads git's listing as it comes: a few small objects can make a tree
// without end.
func (r *Repo) list(ctx context.Context, id string) (*Tree, error) {
	t := &Tree{repo: r, byPath: make(map[string]int)}
	err := r.command(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", id).records(func(record string) error {
		entry, err := parseEntry(record)
		if err != nil {
			return err
		}
		return t.add(entry)
	})
	return t, err
}

func parseEntry(record string) (Entry, error) {
	facts, path, ok := strings.Cut(record, "\t")
	fields := strings.Fields(facts)
	if !ok || len(fields) != 3 {
		return Entry{}, fmt.Errorf("git ls-tree printed %q, which is no entry", record)
	}
	mode, err := parseMode(fields[0])
	if err != nil {
		return Entry{}, err
	}
	return Entry{Path: path, Mode: mode, ID: fields[2]}, checkPath(path)
}

func parseMode(text string) (uint32, error) {
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("git printed the mode %q: %w", text, err)
	}
	if mode == 0o100664 { // written by very old git
		mode = ModeFile
	}
	return uint32(mode), nil
}

// add appends the next entry, or says which invariant it breaks.
func (t *Tree) add(entry Entry) error {
	n := len(t.entries)
	if n == MaxFiles {
		return fmt.Errorf("it holds more than %d files: refused", MaxFiles)
	}
	if n > 0 && entry.Path <= t.paths[n-1] {
		return fmt.Errorf("it holds %q after %q, which no git writes: refused", entry.Path, t.paths[n-1])
	}
	dir := entry.Path[:max(0, strings.LastIndexByte(entry.Path, '/'))]
	for up := dir; up != "" && dir != t.dir; up = up[:max(0, strings.LastIndexByte(up, '/'))] {
		if _, isFile := t.byPath[up]; isFile {
			return fmt.Errorf("it holds %q both as a file and as a directory: refused", up)
		}
	}
	t.dir = dir
	t.byPath[entry.Path] = n
	t.entries = append(t.entries, entry)
	t.paths = append(t.paths, entry.Path)
	return nil
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
