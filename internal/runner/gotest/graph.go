package gotest

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/rts"
)

// AddGraph adds to a graph which packages of a tree use which, by their import
// clauses under every build tag, and which files belong to them: sources, those
// of other languages beside them, and embedded ones. The sources are read, not
// the go command asked: that answers for one set of tags, and not at all where a
// package is broken.
func (r *Runner) AddGraph(g *rts.Graph, tree gate.Tree) {
	l := newLayout(tree, r.Dir)
	m := newPackageMap(l)
	for dir, files := range l.sources {
		for _, file := range files {
			user := node(dir)
			if isTest(file) {
				user = dir
			}
			g.Know(file)
			g.Use(user, file)
			source := m.read(file)
			for _, name := range importsOf(source) {
				for _, used := range l.directories(name) {
					g.Use(user, node(used))
				}
				if why := doubts[name]; why != "" {
					g.Doubt(user, why)
				}
			}
			m.addEmbedded(g, user, dir, source)
		}
	}
	for _, dir := range m.withTests {
		g.Unit(dir)
		g.Use(dir, node(dir))
	}
	m.addNative(g)
}

// node stands for a package without its tests; its directory for the tests.
func node(dir string) string { return "package " + dir }

// doubts are packages by which code reaches what its imports do not say.
var doubts = map[string]string{
	"os/exec": "starts processes", "plugin": "loads plug-ins", "os": "reads files", "io/fs": "reads files",
	"golang.org/x/tools/go/packages": "starts processes",
}

func (m *packageMap) addEmbedded(g *rts.Graph, user, dir string, source []byte) {
	if !bytes.Contains(source, []byte("//go:embed")) {
		return
	}
	for _, file := range m.tree.Paths() {
		if inside(dir, file) && file != dir && embeds(string(source), relative(dir, file)) {
			g.Know(file)
			g.Use(user, file)
		}
	}
}

var native = []string{".c", ".h", ".s", ".S", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".f", ".F", ".for", ".f90", ".syso", ".swig", ".swigcxx"}

func (m *packageMap) addNative(g *rts.Graph) {
	for _, file := range m.tree.Paths() {
		if dir := path.Dir(file); len(m.sources[dir]) > 0 && slices.Contains(native, path.Ext(file)) && !strings.HasPrefix(path.Base(file), "_") {
			g.Know(file)
			g.Use(node(dir), file)
		}
	}
}
