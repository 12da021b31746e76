package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/rts"
)

// AddGraph adds to a graph which Python files of a tree import which, as far as
// their text says so: by import statements, and by dotted names in strings. A
// name is taken for every file that it could mean.
func (r *Runner) AddGraph(g *rts.Graph, tree gate.Tree) {
	s := r.suite(tree)
	m := indexModules(tree)
	for _, file := range tree.Paths() {
		if !strings.HasSuffix(file, ".py") {
			continue
		}
		g.Know(file)
		source := s.source(file)
		for _, name := range imported(source, path.Dir(file)) {
			for _, used := range m.find(name) {
				g.Use(file, used)
			}
		}
		if why := doubt(source); why != "" {
			g.Doubt(file, why)
		}
	}
	for _, unit := range s.files {
		g.Unit(unit)
		for dir := path.Dir(unit); ; dir = path.Dir(dir) {
			for _, name := range []string{"conftest.py", "__init__.py"} {
				if beside := path.Join(dir, name); beside != unit && s.exists(beside) {
					g.Use(unit, beside)
				}
			}
			if dir == "." {
				break
			}
		}
	}
}

// modules finds files by the names under which they may be imported.
type modules struct {
	paths  map[string]bool
	byName map[string][]string // slash-separated name, from every possible root
}

func indexModules(tree gate.Tree) *modules {
	m := &modules{paths: make(map[string]bool), byName: make(map[string][]string)}
	for _, file := range tree.Paths() {
		m.paths[file] = true
	}
	for _, file := range tree.Paths() {
		name, ok := strings.CutSuffix(file, ".py")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "/__init__")
		m.byName["/"+name] = append(m.byName["/"+name], file)
		for rest, root := name, "."; ; {
			if !m.paths[path.Join(root, "__init__.py")] { // inside a package nothing is at the top
				m.byName[rest] = append(m.byName[rest], file)
			}
			first, after, more := strings.Cut(rest, "/")
			if !more {
				break
			}
			rest, root = after, path.Join(root, first)
		}
	}
	return m
}

// find lists the files that a name means, and the packages that are loaded on
// the way to them.
func (m *modules) find(name string) []string {
	var found []string
	for _, file := range m.byName[name] {
		found = append(found, file)
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			init := path.Join(dir, "__init__.py")
			if !m.paths[init] {
				break
			}
			if !slices.Contains(found, init) {
				found = append(found, init)
			}
		}
	}
	return found
}

var (
	computed = lazyregexp.New(`\b(importlib|__import__|iter_modules|walk_packages|entry_points|runpy|exec|eval|pluginmanager|load_plugins?)\b`)
	starting = lazyregexp.New(`\b(subprocess|os\.system|os\.exec\w*|os\.spawn\w*|os\.fork|multiprocessing|pexpect|ProcessPoolExecutor)\b`)
	reading  = lazyregexp.New(`\b(open|read_text|read_bytes|listdir|scandir|iterdir|glob|rglob|walk|get_data|getsource|linecache)\s*\(|\bimportlib[._]resources\b|\bpkg_resources\b`)
)

// doubt says why a source may reach more than it names, "" when it does not.
func doubt(source string) string {
	switch {
	case starting.MatchString(source):
		return "starts processes"
	case computed.MatchString(source):
		return "imports by computed names"
	case reading.MatchString(source):
		return "reads files"
	}
	return ""
}
