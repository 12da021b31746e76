package template

import (
	"io/fs"
	"maps"
	"slices"
)

// fakeTree is a tree of texts.
type fakeTree map[string]string

func (f fakeTree) ReadFile(path string) ([]byte, error) {
	content, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(content), nil
}

func (f fakeTree) Paths() []string { return slices.Sorted(maps.Keys(f)) }
