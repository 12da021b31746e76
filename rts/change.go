package rts

import (
	"maps"
	"slices"
	"strings"
)

// Status says what happened to a path. A rename is two entries.
type Status uint8

const (
	Modified Status = iota // content, mode or kind
	Added
	Deleted
)

// FileChange is one changed path and what is known of the difference. The zero
// value beyond Path is a modification of which nothing is known.
type FileChange struct {
	Path   string // repository-relative, forward slashes
	Status Status
	// Neutral is set when no test can see the file, unless one was seen to.
	Neutral bool
	// Compared is set when both contents were read as source; the fields below
	// hold only then.
	Compared bool
	// Shape is set when more than bodies of functions differs: anything that has
	// an effect on who merely loads the file.
	Shape bool
	// Bodies are the functions, as Symbol names them, whose behaviour differs
	// only for who calls them.
	Bodies []string
	// Names are identifiers and words of string literals of what was added,
	// deleted, re-signed or is constant.
	Names []string
}

// Change is a set of changed files, each path once, sorted.
type Change struct {
	Files []FileChange
}

// NewChange sorts the entries and unites those of one path.
func NewChange(files ...FileChange) Change {
	byPath := make(map[string]FileChange, len(files))
	for _, file := range files {
		if before, known := byPath[file.Path]; known {
			file = before.unite(file)
		}
		byPath[file.Path] = file
	}
	var c Change
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		c.Files = append(c.Files, byPath[path])
	}
	return c
}

// Union is both changes, one after the other.
func (c Change) Union(other Change) Change {
	return NewChange(slices.Concat(c.Files, other.Files)...)
}

// unite is what two changes of one path are together. Paths that were not
// modified both times have come or gone: everybody who loads them is concerned.
func (f FileChange) unite(g FileChange) FileChange {
	u := FileChange{
		Path: f.Path, Neutral: f.Neutral && g.Neutral, Compared: f.Compared && g.Compared,
		Shape: f.Shape || g.Shape, Bodies: sortedSet(f.Bodies, g.Bodies), Names: sortedSet(f.Names, g.Names),
	}
	switch {
	case f.Status == g.Status:
		u.Status = f.Status
	case f.Status == Deleted || g.Status == Deleted:
		u.Status, u.Compared = Deleted, false
	default:
		u.Status = Added
	}
	return u
}

// inert holds for a difference that nobody can notice who does not read the
// file as data: comments and layout.
func (f FileChange) inert() bool {
	return f.Compared && !f.Shape && len(f.Bodies) == 0
}

func sortedSet(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// base is the last part of a path, dir all before it, "." for none.
func split(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ".", path
	}
	return path[:i], path[i+1:]
}

func extOf(path string) string {
	_, base := split(path)
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return strings.ToLower(base[i:])
	}
	return ""
}
