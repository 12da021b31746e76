package gotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// takeUsers takes out what uses a name of the package that was taken out, and
// what uses that in turn: it cannot compile, and need not be built to be told.
// What is used through a value (a method, a field) is left to the compiler.
func (l *leftOut) takeUsers(at *layout, dir string) {
	for again := true; again; {
		again = false
		declared := l.stillDeclared(at, dir)
		for _, file := range at.tests(dir) {
			again = l.usersIn(at, file, declared) || again
		}
	}
}

// stillDeclared are the names that the sources of a directory declare for their
// packages, as far as they stand.
func (l *leftOut) stillDeclared(at *layout, dir string) map[nameKey]bool {
	names := make(map[nameKey]bool)
	for _, file := range at.tree.Paths() {
		if path.Dir(file) != dir || !strings.HasSuffix(file, ".go") {
			continue
		}
		f := parseFile(file, l.textOf(at, file))
		if f.parsed == nil {
			continue
		}
		for _, decl := range f.parsed.Decls {
			for _, name := range declared(decl) {
				names[nameKey{dir, f.parsed.Name.Name, name}] = true
			}
		}
	}
	return names
}

// textOf is a file as far as it stands, nil when it cannot be read.
func (l *leftOut) textOf(at *layout, file string) []byte {
	if b := l.sources[file]; b != nil {
		return b.text
	}
	content, _ := at.tree.ReadFile(file)
	return content
}

// usersIn takes the users of names that are gone out of one file, and tells
// whether there were any.
func (l *leftOut) usersIn(at *layout, file string, still map[nameKey]bool) (some bool) {
	text := l.textOf(at, file)
	f := parseFile(file, text)
	if f.err != nil {
		return false
	}
	uses := unresolved(file, text)
	for _, decl := range f.parsed.Decls {
		for _, node := range pieces(decl) {
			name := l.goneIn(f, uses, node, still)
			if name == "" || slices.ContainsFunc(declared(node), func(n string) bool { return n == "TestMain" || n == "init" }) {
				continue
			}
			b := l.sources[file]
			if b == nil {
				b = &blanked{text, slices.Clone(text)}
				l.sources[file] = b
			}
			l.erase(b, f, node, []compileError{{file, f.line(node.Pos()), fmt.Sprintf("undefined: %s", name)}})
			some = true
		}
	}
	if some {
		l.sources[file].dropImports()
	}
	return some
}

// goneIn is a name that a piece uses and that was taken out, "" for none.
func (l *leftOut) goneIn(f *testFile, uses []*ast.Ident, node ast.Node, still map[nameKey]bool) string {
	from, to := f.files.Position(node.Pos()).Offset, f.files.Position(node.End()).Offset
	for _, use := range uses {
		if offset := int(use.Pos()) - 1; offset < from || offset >= to {
			continue
		}
		key := nameKey{path.Dir(f.name), f.parsed.Name.Name, use.Name}
		if _, out := l.names[key]; out && !still[key] {
			return use.Name
		}
	}
	return ""
}

// unresolved are the identifiers of a file that stand for no name that it declares
// itself: those of its package, of its imports, and predeclared ones. The
// position of each is its offset plus one.
func unresolved(name string, source []byte) []*ast.Ident {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, source, 0) //nolint:staticcheck // the resolution of one file is what is asked for
	if err != nil {
		return nil
	}
	return parsed.Unresolved
}
