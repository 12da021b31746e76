package gotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// dropImports turns the imports that only blanked code used into imports for
// their effects, as far as their names can be told; the compiler finds the rest.
func (b *blanked) dropImports() {
	before, after := selected(b.original), selected(b.text)
	f := parseFile("", b.text)
	if f.err != nil {
		return
	}
	for _, spec := range f.parsed.Imports {
		names := localNames(spec)
		was := slices.ContainsFunc(names, func(name string) bool { return before[name] })
		is := slices.ContainsFunc(names, func(name string) bool { return after[name] })
		if was && !is {
			b.keepForEffect(f.line(spec.Pos()))
		}
	}
}

// selected are the names that something is selected from, such as packages.
func selected(source []byte) map[string]bool {
	found := make(map[string]bool)
	parsed, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return found
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				found[x.Name] = true
			}
		}
		return true
	})
	return found
}

// keepForEffect turns the import on a line, which nothing uses any more, into one
// for its effects; false when it is one already.
func (b *blanked) keepForEffect(line int) bool {
	f := parseFile("", b.text)
	if f.err != nil {
		return false
	}
	for _, spec := range f.parsed.Imports {
		if f.line(spec.Pos()) == line && (spec.Name == nil || spec.Name.Name != "_") {
			from, to := f.files.Position(spec.Pos()).Offset, f.files.Position(spec.Path.Pos()).Offset
			b.text = slices.Concat(b.text[:from], []byte("_ "), b.text[to:])
			return true
		}
	}
	return false
}

// localNames are the names under which an import may be used: its own, else
// what the path suggests.
func localNames(spec *ast.ImportSpec) []string {
	if spec.Name != nil {
		return []string{spec.Name.Name}
	}
	value, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return nil
	}
	base := path.Base(value)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(value))
	}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	trimmed := strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
	return []string{base, trimmed, strings.ReplaceAll(base, "-", ""), strings.ReplaceAll(base, "-", "_")}
}

var majorVersion = lazyregexp.New(`^v\d+$`)
