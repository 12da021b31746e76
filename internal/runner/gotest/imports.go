package gotest

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
)

// importGraph is who imports whom, by import path and directory. What tests
// import is kept apart: it leads to those tests and no further.
type importGraph struct {
	users   map[string][]string // directories whose packages import the path
	testers map[string][]string // directories whose tests import it
}

// dependents lists the directories with tests that use the package in dir:
// their own, or imported directly or through other packages of the tree.
func (m *packageMap) dependents(dir string) []string {
	if m.graph == nil {
		m.graph = m.readImports()
	}
	reached := map[string]bool{dir: true}
	tested := map[string]bool{dir: true}
	for queue := []string{dir}; len(queue) > 0; queue = queue[1:] {
		name := m.importPath(queue[0])
		for _, tester := range m.graph.testers[name] {
			tested[tester] = true
		}
		for _, user := range m.graph.users[name] {
			if tested[user] = true; !reached[user] {
				reached[user] = true
				queue = append(queue, user)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.withTests), func(d string) bool { return !tested[d] })
}

func (m *packageMap) readImports() *importGraph {
	g := &importGraph{users: make(map[string][]string), testers: make(map[string][]string)}
	for _, dir := range slices.Sorted(maps.Keys(m.sources)) {
		for _, file := range m.sources[dir] {
			into := g.users
			if isTest(file) {
				into = g.testers
			}
			for _, name := range importsOf(m.read(file)) {
				into[name] = append(into[name], dir)
			}
		}
	}
	return g
}

func importsOf(source []byte) []string {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var names []string
	for _, spec := range parsed.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			names = append(names, name)
		}
	}
	return names
}
