package gotest

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Units lists the package directories whose tests the paths may touch: those of
// changed test files; those nearest above a changed fixture or helper; those
// that depend on a package that the path is in or is embedded in; and those
// whose tests name the path.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	m := newPackageMap(newLayout(tree, r.Dir))
	if all {
		return m.withTests, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		for _, dir := range m.touchedBy(file) {
			chosen[dir] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.withTests), func(dir string) bool { return !chosen[dir] }), nil
}

// packageMap is what units are found with: the runner's package directories
// and, once asked for, what their files import, embed and mention.
type packageMap struct {
	*layout
	withTests []string // directories with test files, sorted
	contents  map[string][]byte
	graph     *importGraph
	strings   *mentions
}

func newPackageMap(l *layout) *packageMap {
	m := &packageMap{layout: l, contents: make(map[string][]byte)}
	for dir, files := range l.sources {
		if slices.ContainsFunc(files, isTest) {
			m.withTests = append(m.withTests, dir)
		}
	}
	slices.Sort(m.withTests)
	return m
}

// read returns a source, nil when it cannot be read.
func (m *packageMap) read(file string) []byte {
	content, known := m.contents[file]
	if !known {
		content, _ = m.tree.ReadFile(file)
		m.contents[file] = content
	}
	return content
}

// touchedBy lists the directories whose tests one path may touch. The path need
// not exist.
func (m *packageMap) touchedBy(file string) []string {
	dir := path.Dir(file)
	if isTest(file) && !hidden(path.Base(file)) && m.owns(dir) {
		return []string{dir}
	}
	dirs := m.mentioning(file)
	if near := m.nearest(dir); near != "" {
		dirs = append(dirs, near)
	}
	for _, embedder := range m.embedders(file) {
		dirs = append(dirs, m.dependents(embedder)...)
	}
	if strings.HasSuffix(file, ".go") && !ignored(dir) {
		dirs = append(dirs, m.dependents(dir)...)
	}
	return dirs
}

// nearest is the closest directory at or above dir, in its module, that has
// tests.
func (m *packageMap) nearest(dir string) string {
	module, _ := m.home(dir)
	for ; ; dir = path.Dir(dir) {
		if slices.Contains(m.withTests, dir) {
			return dir
		}
		if dir == "." || dir == module {
			return ""
		}
	}
}
