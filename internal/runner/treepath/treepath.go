// Package treepath is about paths of a repository's tree: relative to its root,
// with forward slashes, "." for the root.
package treepath

import (
	"bytes"
	"slices"
	"strings"
)

// Within tells whether a path is a directory or lies in it.
func Within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// Relative is a path as seen from a directory that it lies in; other paths stay.
func Relative(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// Naming are those of some files whose text holds a name: all of them where none does.
func Naming(read func(name string) ([]byte, error), files []string, name string) []string {
	naming := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		text, err := read(file)
		return err != nil || !bytes.Contains(text, []byte(name))
	})
	if len(naming) == 0 {
		return files
	}
	return naming
}

// HasPart tells whether a directory on a path has one of some names: those of data,
// say, or of copies of other projects.
func HasPart(dir string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return slices.Contains(names, part) })
}
