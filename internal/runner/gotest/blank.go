package gotest

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	packageClause = lazyregexp.New(`(?m)^package \w+`)
	setsUp        = lazyregexp.New(`(?m)^func (?:TestMain|init)\(`)
)

// takeOut blanks the declarations at fault. It returns false when something is
// at fault that cannot be taken out: then nothing can be isolated.
func (l *leftOut) takeOut(at *layout, dir string, faults []compileError) bool {
	byFile := make(map[string][]compileError)
	for _, e := range faults {
		if path.Dir(e.file) != dir || !slices.Contains(at.tests(dir), e.file) {
			return false
		}
		byFile[e.file] = append(byFile[e.file], e)
	}
	some := false
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		b := l.sources[file]
		if b == nil {
			original, err := at.tree.ReadFile(file)
			if err != nil {
				return false
			}
			b = &blanked{original, slices.Clone(original)}
			l.sources[file] = b
		}
		done, ok := l.blank(b, file, byFile[file])
		if !ok {
			return false
		}
		some = some || done
		b.dropImports()
	}
	l.takeUsers(at, dir)
	return some
}

// blank takes out what holds the errors' lines in one file. done tells whether
// that changed anything; ok is false for what must not be taken out.
func (l *leftOut) blank(b *blanked, file string, faults []compileError) (done, ok bool) {
	f := parseFile(file, b.text)
	if f.err != nil {
		return l.blankFile(b, f)
	}
	var unused []int // lines
	for _, decl := range f.parsed.Decls {
		for _, node := range pieces(decl) {
			from, to := span(node)
			here := slices.DeleteFunc(slices.Clone(faults), func(e compileError) bool { return e.line < f.line(from) || e.line > f.line(to) })
			_, imports := node.(*ast.ImportSpec)
			switch {
			case len(here) == 0:
				continue
			case imports && here[0].isUnused():
				unused = append(unused, here[0].line)
				continue
			case imports && !decl.(*ast.GenDecl).Lparen.IsValid():
				node = decl
			}
			if done = true; !l.erase(b, f, node, here) {
				return true, false
			}
		}
	}
	for _, line := range unused {
		done = b.keepForEffect(line) || done
	}
	return done, true
}

// erase blanks one piece and remembers what it declared.
func (l *leftOut) erase(b *blanked, f *testFile, node ast.Node, faults []compileError) bool {
	o := l.fault(f, faults)
	for _, name := range declared(node) {
		if name == "TestMain" || name == "init" {
			if l.setUps == nil {
				return false
			}
			l.setUps[path.Dir(f.name)] = o
		}
		l.names[nameKey{path.Dir(f.name), f.parsed.Name.Name, name}] = o
		l.rows[rowKey{f.name, name}] = o
	}
	from, to := span(node)
	spaces(b.text[f.files.Position(from).Offset:min(f.files.Position(to).Offset, len(b.text))])
	return true
}

// blankFile leaves only the package clause of a file that does not parse.
func (l *leftOut) blankFile(b *blanked, f *testFile) (done, ok bool) {
	clause := packageClause.FindIndex(b.text)
	if clause == nil || f.parsed == nil || setsUp.Match(b.text) {
		return false, false
	}
	o := syntaxError(f.name, f.err)
	for _, decl := range f.parsed.Decls {
		for _, name := range declared(decl) {
			l.names[nameKey{path.Dir(f.name), f.parsed.Name.Name, name}] = o
			l.rows[rowKey{f.name, name}] = o
		}
	}
	spaces(b.text[clause[1]:])
	return true, true
}

// fault is the observation of what is taken out. Errors about a name that was
// itself taken out are that one's; they count when there is no other.
func (l *leftOut) fault(f *testFile, faults []compileError) gate.Observation {
	var own []compileError
	var inherited *gate.Observation
	for _, e := range faults {
		if o, ok := l.cause(f, e); !ok {
			own = append(own, e)
		} else if inherited == nil {
			inherited = &o
		}
	}
	if len(own) == 0 {
		return *inherited
	}
	telling := own[0]
	for _, e := range own {
		if m, certain := e.missing(); certain && !m.Signature {
			telling = e
			break
		}
	}
	o := gate.Observation{
		Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message(telling.message),
		Place: gate.Place{File: telling.file, Line: telling.line}, Missing: missing(own, f.source),
	}
	if telling.isImport() {
		o.Reason = gate.Import
	}
	return o
}

// cause is the observation of a name that was taken out, when an error is about
// that name.
func (l *leftOut) cause(f *testFile, e compileError) (gate.Observation, bool) {
	name, certain := e.missing()
	if !certain {
		return gate.Observation{}, false
	}
	for _, root := range []string{name.Owner, name.Name, "." + name.Name} {
		if o, ok := l.names[nameKey{path.Dir(f.name), f.parsed.Name.Name, root}]; ok {
			return o, true
		}
	}
	return gate.Observation{}, false
}

// pieces are the parts of a declaration that can be taken out alone. A group of
// constants is one, since iota counts its lines.
func pieces(decl ast.Decl) []ast.Node {
	d, ok := decl.(*ast.GenDecl)
	if !ok || d.Tok != token.IMPORT && (!d.Lparen.IsValid() || d.Tok == token.CONST) {
		return []ast.Node{decl}
	}
	nodes := make([]ast.Node, len(d.Specs))
	for i, spec := range d.Specs {
		nodes[i] = spec
	}
	return nodes
}

// span is where a piece begins and ends, the comment above it (which may hold
// directives) included.
func span(node ast.Node) (from, to token.Pos) {
	var above *ast.CommentGroup
	switch n := node.(type) {
	case *ast.FuncDecl:
		above = n.Doc
	case *ast.GenDecl:
		above = n.Doc
	case *ast.ValueSpec:
		above = n.Doc
	case *ast.TypeSpec:
		above = n.Doc
	}
	if above != nil {
		return above.Pos(), node.End()
	}
	return node.Pos(), node.End()
}

// declared are the names that a piece brings into the package.
func declared(node ast.Node) []string {
	var names []string
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Recv != nil {
			return []string{"." + n.Name.Name}
		}
		return []string{n.Name.Name}
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			names = append(names, declared(spec)...)
		}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			names = append(names, name.Name)
		}
	case *ast.TypeSpec:
		names = append(names, n.Name.Name)
	case *ast.ImportSpec:
		names = localNames(n)
	}
	return names
}

// spaces blanks text and keeps its lines.
func spaces(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
