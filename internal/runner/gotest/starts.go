package gotest

import (
	"go/ast"
	"strings"
)

// starters lists the tests of a package that may start a process: by what they,
// or the functions of the test files that they name, say. all is set when the
// package's own start may.
func (r *Runner) starters(l *layout, dir string) (names map[string]bool, all bool) {
	mentions := make(map[string]map[string]bool) // declaration -> names that it uses
	starts := make(map[string]bool)
	for _, file := range l.tests(dir) {
		source, err := l.tree.ReadFile(file)
		if err != nil {
			return nil, true
		}
		f := parseFile(file, source)
		if f.parsed == nil {
			return nil, true
		}
		exec := execName(f.parsed)
		for _, decl := range f.parsed.Decls {
			name := "" // what is not a function runs at the start
			if d, ok := decl.(*ast.FuncDecl); ok {
				name = d.Name.Name
			}
			if mentions[name] == nil {
				mentions[name] = make(map[string]bool)
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					mentions[name][id.Name] = true
					starts[name] = starts[name] || id.Name == exec || id.Name == "StartProcess" || id.Name == "ForkExec"
				}
				return true
			})
		}
	}
	for again := true; again; {
		again = false
		for name, used := range mentions {
			for other := range used {
				if other != name && starts[other] && !starts[name] {
					starts[name], again = true, true
				}
			}
		}
	}
	delete(starts, "_")
	return starts, starts["TestMain"] || starts["init"] || starts[""] && anyValue(mentions[""], starts)
}

// anyValue holds when declarations that are no functions name something that
// starts a process, beyond importing it.
func anyValue(used, starts map[string]bool) bool {
	for name := range used {
		if name != "" && starts[name] {
			return true
		}
	}
	return false
}

// execName is how a file calls os/exec, "" when it does not.
func execName(file *ast.File) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != `"os/exec"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return "exec"
	}
	return ""
}

// startsIn tells whether a function of a production source starts a process.
func startsIn(parsed *ast.File) map[string]bool {
	exec := execName(parsed)
	found := make(map[string]bool)
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (exec != "" && id.Name == exec || strings.HasSuffix(id.Name, "ForkExec") || id.Name == "StartProcess") {
				found[d.Name.Name] = true
			}
			return true
		})
	}
	return found
}
