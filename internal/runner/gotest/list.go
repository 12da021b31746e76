package gotest

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// List reads the tests, examples and fuzz targets of the units from their
// sources. Subtests have no name before they run. A file that does not parse
// gives what can be read of it, each row with the syntax error; it fails its
// unit only where no row can carry the error.
func (r *Runner) List(_ context.Context, state gate.State, units []string) (gate.Result, error) {
	var result gate.Result
	l := newLayout(state.Tree(), r.Dir)
	for _, unit := range units {
		p := r.parse(l, unit)
		for _, row := range p.rows {
			observed := gate.Observed{Row: row}
			if o, broken := p.broken[row.File]; broken {
				observed.Observations = []gate.Observation{o}
			}
			result.Rows = append(result.Rows, observed)
		}
		if len(p.rows) == 0 {
			result.Units = append(result.Units, p.failures()...)
		}
	}
	return result, nil
}

// testPackage is what the test sources of one package directory say.
type testPackage struct {
	dir, importPath string
	rows            []gate.Row // tests, examples and fuzz targets that the build takes
	byName          map[string]int
	files           []string                    // test files that the build takes
	broken          map[string]gate.Observation // those that do not parse
	elsewhere       map[string]bool             // tests of files that this build leaves out
}

// row finds a test by its name, with "#2" for a second one of the name.
func (p *testPackage) row(name string) (gate.Row, bool) {
	if i, ok := p.byName[name]; ok {
		return p.rows[i], true
	}
	return gate.Row{}, false
}

func (p *testPackage) failures() []gate.UnitFailure {
	for _, file := range p.files {
		if o, broken := p.broken[file]; broken {
			return []gate.UnitFailure{{Unit: p.dir, Observation: o}}
		}
	}
	return nil
}

// parse reads one package directory.
func (r *Runner) parse(l *layout, dir string) *testPackage {
	p := &testPackage{
		dir: dir, importPath: l.importPath(dir), byName: make(map[string]int),
		broken: make(map[string]gate.Observation), elsewhere: make(map[string]bool),
	}
	var inner, outer []gate.Row
	around := newContext()
	for _, file := range l.tests(dir) {
		source, err := l.tree.ReadFile(file)
		if err != nil {
			p.files = append(p.files, file) // the build will say what is wrong with it
			continue
		}
		f := parseFile(file, source)
		if !r.settings.builds(file, source) {
			for _, test := range f.tests {
				p.elsewhere[test.Name.Name] = true
			}
			continue
		}
		p.files = append(p.files, file)
		if f.err != nil {
			p.broken[file] = syntaxError(file, f.err)
		}
		around.add(f)
		rows := &inner
		if f.external() {
			rows = &outer
		}
		for _, test := range f.tests {
			*rows = append(*rows, r.describe(p, f, test))
		}
	}
	p.take(append(inner, outer...), around.sum()) // the order in which a test binary runs them
	return p
}

func (r *Runner) describe(p *testPackage, f *testFile, test *ast.FuncDecl) gate.Row {
	return gate.Row{
		ID: p.importPath + "." + test.Name.Name, Runner: r.Config.Name, Name: test.Name.Name, Unit: p.dir, File: f.name,
		Line: f.line(test.Pos()), End: f.line(test.End()), Digest: f.digest(test),
	}
}

// take gives the rows their context, and the second of a name its number.
func (p *testPackage) take(rows []gate.Row, context string) {
	for _, row := range rows {
		row.Context = context
		name := row.Name
		for n := 2; ; n++ {
			if _, taken := p.byName[row.Name]; !taken {
				break
			}
			row.Name = fmt.Sprintf("%s#%d", name, n)
			row.ID = p.importPath + "." + row.Name
		}
		p.byName[row.Name] = len(p.rows)
		p.rows = append(p.rows, row)
	}
}

func syntaxError(file string, err error) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message(err.Error()), Place: gate.Place{File: file}}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		o.Message, o.Place.Line = gate.Message(list[0].Msg), list[0].Pos.Line
	}
	return o
}

// isTest holds for the functions that go test runs; examples only when their
// output is compared.
func (f *testFile) isTest(d *ast.FuncDecl) bool {
	name := d.Name.Name
	if d.Recv != nil || d.Type.TypeParams != nil {
		return false
	}
	switch {
	case prefixed(name, "Test"):
		return takes(d, "T")
	case prefixed(name, "Fuzz"):
		return takes(d, "F")
	case prefixed(name, "Example"):
		_, checked := f.outputs[name]
		return checked && d.Type.Params.NumFields() == 0
	}
	return false
}

// takes tells whether the one parameter is a pointer to testing.kind.
func takes(f *ast.FuncDecl, kind string) bool {
	if f.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := pointer.X.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == kind
	case *ast.Ident: // import . "testing"
		return x.Name == kind
	}
	return false
}

// prefixed follows the go command: TestX and Test, not Testx.
func prefixed(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}
