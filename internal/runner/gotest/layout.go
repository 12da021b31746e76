package gotest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// layout is a tree as the go command sees it from a runner's directory.
//
// Invariant: sources holds only directories whose packages the runner's own
// commands can name; directories of other modules, testdata, vendor and hidden
// ones are left out.
type layout struct {
	tree    gate.Tree
	dir     string              // the runner's
	modules map[string]string   // module path by directory, of the whole tree
	used    map[string]bool     // directories of the modules that belong to the runner
	sources map[string][]string // Go files by directory, sorted
	alone   bool                // a workspace above does not use the runner's module
}

func newLayout(tree gate.Tree, dir string) *layout {
	l := &layout{tree: tree, dir: dir, modules: modules(tree), used: make(map[string]bool), sources: make(map[string][]string)}
	l.findModules()
	mine := make(map[string]bool)
	for _, file := range tree.Paths() {
		if !strings.HasSuffix(file, ".go") || hidden(path.Base(file)) {
			continue
		}
		at := path.Dir(file)
		if _, known := mine[at]; !known {
			mine[at] = l.owns(at)
		}
		if mine[at] {
			l.sources[at] = append(l.sources[at], file)
		}
	}
	return l
}

// findModules tells which modules belong to the runner: those that the
// workspace in its directory uses, else the one that the directory is in.
func (l *layout) findModules() {
	if uses := workspace(l.tree, l.dir); uses != nil {
		for _, dir := range uses {
			l.used[dir] = true
		}
		return
	}
	module, ok := l.home(l.dir)
	if !ok {
		return
	}
	l.used[module] = true
	for above := l.dir; above != "."; {
		above = path.Dir(above)
		if uses := workspace(l.tree, above); uses != nil {
			l.alone = !slices.Contains(uses, module)
			return
		}
	}
}

// modules reads the module path of every go.mod file.
func modules(tree gate.Tree) map[string]string {
	found := make(map[string]string)
	for _, file := range tree.Paths() {
		if path.Base(file) != "go.mod" {
			continue
		}
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		for _, words := range directives(content, "module") {
			found[path.Dir(file)] = words
			break
		}
	}
	return found
}

// workspace lists the module directories that a directory's go.work uses; nil
// when it has none.
func workspace(tree gate.Tree, dir string) []string {
	content, err := tree.ReadFile(path.Join(dir, "go.work"))
	if err != nil {
		return nil
	}
	uses := make([]string, 0, 4)
	for _, use := range directives(content, "use") {
		uses = append(uses, path.Join(dir, use))
	}
	return uses
}

// directives returns the first argument of each directive of a kind, in single
// lines and in blocks, of a go.mod or go.work file.
func directives(content []byte, kind string) []string {
	var found []string
	block := ""
	for line := range strings.SplitSeq(string(content), "\n") {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case block != "":
			if block == kind {
				found = append(found, strings.Trim(words[0], "\"`"))
			}
		case len(words) > 1 && words[1] == "(":
			block = words[0]
		case len(words) > 1 && words[0] == kind:
			found = append(found, strings.Trim(words[1], "\"`"))
		}
	}
	return found
}

// home returns the directory of the module that a directory is in, and whether
// there is one.
func (l *layout) home(dir string) (module string, ok bool) {
	for {
		if _, ok := l.modules[dir]; ok {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
		dir = path.Dir(dir)
	}
}

// importPath names the package in a directory.
func (l *layout) importPath(dir string) string {
	module, ok := l.home(dir)
	if !ok {
		return dir
	}
	return path.Join(l.modules[module], relative(module, dir))
}

// directories are where a package of the name may be among the sources.
func (l *layout) directories(name string) []string {
	var found []string
	for module, modulePath := range l.modules {
		if dir := path.Join(module, strings.TrimPrefix(strings.TrimPrefix(name, modulePath), "/")); inside(modulePath, name) && l.sources[dir] != nil {
			found = append(found, dir)
		}
	}
	return found
}

// owns tells whether a directory's package belongs to the runner.
func (l *layout) owns(dir string) bool {
	module, ok := l.home(dir)
	if !ok {
		return len(l.used) == 0 && inside(l.dir, dir) && !ignored(relative(l.dir, dir))
	}
	return l.used[module] && !ignored(relative(module, dir)) && (inside(l.dir, dir) || !inside(module, l.dir))
}

// target is the argument that names a directory's package to a command that
// runs in the runner's directory.
func (l *layout) target(dir string) string {
	switch {
	case dir == l.dir:
		return "."
	case inside(l.dir, dir):
		return "./" + relative(l.dir, dir)
	}
	return l.importPath(dir)
}

// tests lists the test files of a directory.
func (l *layout) tests(dir string) []string {
	return slices.DeleteFunc(slices.Clone(l.sources[dir]), func(file string) bool { return !isTest(file) })
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

// ignored holds for directories whose Go files the go command does not take for
// packages of the module.
func ignored(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || part != "." && hidden(part)
	})
}

// hidden holds for names that the go command passes over.
func hidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

func inside(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// relative is name as seen from dir, which holds it.
func relative(dir, name string) string {
	switch dir {
	case ".":
		return name
	case name:
		return "."
	}
	return strings.TrimPrefix(name, dir+"/")
}
