package patchsplit

import (
	"iter"
	"slices"
	"sort"
	"strings"
)

// Tree is one state's content, read as data. A nil Tree is an empty one.
type Tree interface {
	// ReadFile returns a file's content, or an error when there is none.
	ReadFile(path string) ([]byte, error)
	// Paths lists every file, sorted.
	Paths() []string
}

// maxRead is how much of one file is looked at. Evidence (imports, embeds,
// configuration) stands near the top of files made by people.
const maxRead = 1 << 20

// view answers questions about a tree's paths by binary search and remembers
// what was read.
type view struct {
	tree  Tree
	paths []string
	read  map[string][]byte
}

func newView(t Tree) *view {
	v := &view{tree: t, read: make(map[string][]byte)}
	if t == nil {
		return v
	}
	v.paths = t.Paths()
	if !slices.IsSorted(v.paths) {
		v.paths = slices.Sorted(slices.Values(v.paths))
	}
	return v
}

func (v *view) has(path string) bool {
	_, ok := slices.BinarySearch(v.paths, path)
	return ok
}

// under lists the files below a directory, at any depth; "" is the root.
func (v *view) under(dir string) []string {
	if dir == "" || dir == "." {
		return v.paths
	}
	prefix := dir + "/"
	from := sort.SearchStrings(v.paths, prefix)
	to := from + sort.Search(len(v.paths)-from, func(i int) bool {
		return !strings.HasPrefix(v.paths[from+i], prefix)
	})
	return v.paths[from:to]
}

// in lists the files that lie directly in a directory.
func (v *view) in(dir string) []string {
	var direct []string
	for _, path := range v.under(dir) {
		if dirOf(path) == dir {
			direct = append(direct, path)
		}
	}
	return direct
}

// content returns the beginning of a file, nil when it cannot be read.
func (v *view) content(path string) []byte {
	if v.tree == nil {
		return nil
	}
	data, known := v.read[path]
	if !known {
		data, _ = v.tree.ReadFile(path) // no content is no evidence
		data = data[:min(len(data), maxRead)]
		v.read[path] = data
	}
	return data
}

// dirOf is a path's directory, "" for the root.
func dirOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// baseOf is a path's last component.
func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// extOf is a path's extension in lower case with its dot, "" for none.
func extOf(path string) string {
	for i := len(path) - 1; i > 0 && path[i] != '/'; i-- {
		if path[i] == '.' && path[i-1] != '/' {
			return strings.ToLower(path[i:])
		} else if path[i] == '.' {
			break
		}
	}
	return ""
}

// stemOf is a path's last component without its extension.
func stemOf(path string) string {
	base := baseOf(path)
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}

// joinDir puts a path below a directory that may be the root.
func joinDir(dir, path string) string {
	if dir == "" {
		return path
	}
	return dir + "/" + path
}

// relTo is a path as seen from a directory above it, and whether it lies there.
func relTo(dir, path string) (string, bool) {
	if dir == "" {
		return path, true
	}
	return strings.CutPrefix(path, dir+"/")
}

// ancestors yields the directories above a path, nearest first, the root last.
func ancestors(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := dirOf(path); dir != ""; dir = dirOf(dir) {
			if !yield(dir) {
				return
			}
		}
		yield("")
	}
}
