package javascript

import (
	"io/fs"
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

func (f fakeTree) Paths() []string {
	var paths []string
	for path := range f {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}
