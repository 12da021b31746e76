package git

import (
	"fmt"
	"strings"
)

// MaxPath bounds a path in a tree, in bytes: what Linux can open.
const MaxPath = 4096

// HostilePathError is a tree that names a place outside itself or inside a
// repository's own directory.
type HostilePathError struct{ Path string }

func (e *HostilePathError) Error() string {
	return fmt.Sprintf("the tree holds the path %q, which leaves the work tree or reaches into .git: refused", e.Path)
}

// checkPath refuses paths that no checkout may write.
func checkPath(path string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("the tree holds a path of %d bytes, more than %d: %.60q…: refused", len(path), MaxPath, path)
	}
	if hostile(path) {
		return &HostilePathError{path}
	}
	return nil
}

// hostile tells whether a path is empty, absolute, climbs, or names a git
// directory in one of the spellings that file systems take for it. A backslash
// is a plain byte on some systems and a separator on others: it is read both ways.
func hostile(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || hostileName(part) {
			return true
		}
		if strings.Contains(part, `\`) {
			for piece := range strings.SplitSeq(part, `\`) {
				if hostileName(piece) {
					return true
				}
			}
		}
	}
	return false
}

func hostileName(name string) bool {
	if name == "." || name == ".." {
		return true
	}
	if !strings.ContainsAny(name, "gG") {
		return false
	}
	name, _, _ = strings.Cut(name, ":") // NTFS streams
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return name == "git~1" || stripIgnorable(name) == ".git"
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
