package gotest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// List reads the tests, examples and fuzz targets of the units from their
// sources. Subtests have no name before they run.
func (r *Runner) List(_ context.Context, state gate.State, units []string) (gate.Result, error) {
	var result gate.Result
	mods := modules(state.Tree())
	for _, unit := range units {
		p := r.parse(state.Tree(), mods, unit)
		for _, row := range p.rows {
			result.Rows = append(result.Rows, gate.Observed{Row: row})
		}
		if p.broken != nil {
			result.Units = append(result.Units, *p.broken)
		}
	}
	return result, nil
}

// testPackage is what the sources of one package directory say.
type testPackage struct {
	dir, importPath string
	rows            []gate.Row // tests, examples and fuzz targets, in file order
	files           []string   // test files that the build takes
	broken          *gate.UnitFailure
}

func (p *testPackage) row(name string) (gate.Row, bool) {
	i := slices.IndexFunc(p.rows, func(row gate.Row) bool { return row.Name == name })
	if i < 0 {
		return gate.Row{}, false
	}
	return p.rows[i], true
}

// parse reads one package directory.
func (r *Runner) parse(tree gate.Tree, mods map[string]string, dir string) *testPackage {
	p := &testPackage{dir: dir, importPath: importPath(mods, dir)}
	around := sha256.New()
	for _, file := range tree.Paths() {
		if path.Dir(file) != dir || !strings.HasSuffix(file, "_test.go") || hiddenFile(file) || !r.builds(tree, file) {
			continue
		}
		p.files = append(p.files, file)
		source, err := tree.ReadFile(file)
		if err == nil {
			err = p.read(r.Config.Name, file, source, around)
		}
		if err != nil && p.broken == nil {
			p.broken = &gate.UnitFailure{Unit: dir, Observation: syntaxError(file, err)}
		}
	}
	context := hex.EncodeToString(around.Sum(nil))
	for i := range p.rows {
		p.rows[i].Context = context
	}
	return p
}

func syntaxError(file string, err error) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: clean(err.Error()), Place: gate.Place{File: file}}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		o.Place.Line = list[0].Pos.Line
	}
	return o
}

// read takes one test file apart: its rows, and all else for the context.
func (p *testPackage) read(runner, file string, source []byte, around io.Writer) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	checked := make(map[string]bool)
	for _, example := range doc.Examples(parsed) {
		checked["Example"+example.Name] = example.Output != "" || example.EmptyOutput
	}
	fmt.Fprintln(around, parsed.Name.Name)
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !isRow(f, checked) {
			io.WriteString(around, render(files, decl))
			continue
		}
		p.rows = append(p.rows, gate.Row{
			ID: p.importPath + "." + f.Name.Name, Runner: runner, Name: f.Name.Name, Unit: p.dir, File: file,
			Line: files.Position(f.Pos()).Line, End: files.Position(f.End()).Line, Digest: digestOf(files, f, source),
		})
	}
	return nil
}

// isRow holds for the functions that go test runs.
func isRow(f *ast.FuncDecl, checkedExamples map[string]bool) bool {
	name := f.Name.Name
	if f.Recv != nil || f.Type.TypeParams != nil {
		return false
	}
	parameters := f.Type.Params.NumFields()
	switch {
	case prefixed(name, "Test"):
		return parameters == 1 && takes(f, "T")
	case prefixed(name, "Fuzz"):
		return parameters == 1 && takes(f, "F")
	case prefixed(name, "Example"):
		return parameters == 0 && checkedExamples[name]
	}
	return false
}

func takes(f *ast.FuncDecl, kind string) bool {
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	selector, ok := pointer.X.(*ast.SelectorExpr)
	if !ok {
		name, ok := pointer.X.(*ast.Ident) // import . "testing"
		return ok && name.Name == kind
	}
	return selector.Sel.Name == kind
}

func prefixed(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}

// digestOf identifies a test's own source, whatever its position and comments.
// An example's output is a comment and part of it.
func digestOf(files *token.FileSet, f *ast.FuncDecl, source []byte) string {
	text := render(files, f)
	if strings.HasPrefix(f.Name.Name, "Example") {
		text = string(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// render writes a declaration in one form, without comments and positions.
func render(files *token.FileSet, decl ast.Decl) string {
	var out bytes.Buffer
	switch d := decl.(type) {
	case *ast.FuncDecl:
		bare := *d
		bare.Doc = nil
		if d.Recv == nil && prefixed(d.Name.Name, "Test") {
			bare.Name = ast.NewIdent("Test") // a renamed test is the same test
		}
		decl = &bare
	case *ast.GenDecl:
		bare := *d
		bare.Doc = nil
		decl = &bare
	}
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&out, files, decl); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// builds tells whether the build takes a file, by its name and constraints.
func (r *Runner) builds(tree gate.Tree, file string) bool {
	context := build.Default
	context.BuildTags = r.tags()
	context.OpenFile = func(string) (io.ReadCloser, error) {
		content, err := tree.ReadFile(file)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	ok, err := context.MatchFile(".", path.Base(file))
	return ok || err != nil // what cannot be read is the compiler's to complain about
}

// tags are the build tags that the command asks for.
func (r *Runner) tags() []string {
	var tags []string
	for i, word := range r.Command {
		value, ok := strings.CutPrefix(strings.TrimPrefix(word, "-"), "-tags")
		if !ok {
			value, ok = strings.CutPrefix(word, "-tags")
		}
		if !ok {
			if word == "-race" {
				tags = append(tags, "race")
			}
			continue
		}
		if value, ok = strings.CutPrefix(value, "="); !ok && i+1 < len(r.Command) {
			value = r.Command[i+1]
		}
		tags = append(tags, strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' })...)
	}
	return tags
}
