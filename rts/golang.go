package rts

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// readGo reads a Go source. nil content is an empty file.
func readGo(content []byte) (*source, error) {
	s := newSource()
	s.loose = true
	if content == nil {
		return s, nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	g := &goSource{source: s, content: content, files: files}
	g.directives(parsed)
	for _, decl := range parsed.Decls {
		g.declareTypes(decl)
	}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			g.general(d)
		}
	}
	g.quiet["package "+parsed.Name.Name] = quiet{}
	g.shape = append(g.shape, "package "+parsed.Name.Name)
	return s, nil
}

type goSource struct {
	*source
	content []byte
	files   *token.FileSet
	cgo     bool
	vars    int
	dots    bool // a dot import: names may come from elsewhere
}

func (g *goSource) text(from, to token.Pos) string {
	begin, end := g.files.Position(from).Offset, g.files.Position(to).Offset
	return goTokens(g.content[begin:min(end, len(g.content))])
}

// goTokens is a source text as its tokens, without comments and layout.
func goTokens(text []byte) string {
	var out strings.Builder
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, func(token.Position, string) {}, 0)
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return out.String()
		case tok == token.SEMICOLON:
			out.WriteString("; ")
		case literal != "":
			out.WriteString(literal + " ")
		default:
			out.WriteString(tok.String() + " ")
		}
	}
}

// directives are the comments that mean something.
func (g *goSource) directives(parsed *ast.File) {
	for _, spec := range parsed.Imports {
		g.cgo = g.cgo || spec.Path.Value == `"C"`
		g.dots = g.dots || spec.Name != nil && spec.Name.Name == "."
	}
	for _, group := range parsed.Comments {
		for _, comment := range group.List {
			if g.cgo || strings.HasPrefix(comment.Text, "//go:") || strings.HasPrefix(comment.Text, "// +build") || strings.HasPrefix(comment.Text, "//export ") {
				g.shape = append(g.shape, comment.Text)
			}
		}
	}
}

func (g *goSource) declareTypes(decl ast.Decl) {
	if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.TYPE {
		for _, spec := range d.Specs {
			g.source.types[spec.(*ast.TypeSpec).Name.Name] = true
		}
	}
}

func (g *goSource) function(d *ast.FuncDecl) {
	symbol, receiver := d.Name.Name, ""
	if d.Recv != nil && len(d.Recv.List) > 0 {
		receiver = typeName(d.Recv.List[0].Type)
		symbol = receiver + "." + symbol
	}
	head, body := g.text(d.Pos(), d.End()), ""
	if d.Body != nil {
		head, body = g.text(d.Pos(), d.Body.Pos()), g.text(d.Body.Pos(), d.Body.End())
	}
	g.spans = append(g.spans, Span{symbol, g.files.Position(d.Pos()).Line, g.files.Position(d.End()).Line})
	if _, twice := g.bodies[symbol]; twice || symbol == "init" || symbol == "_" || d.Body == nil {
		g.shape = append(g.shape, head+body) // init runs for whoever loads the package
		return
	}
	g.bodies[symbol], g.lasts[symbol] = body, setsGoVariable(d)
	if receiver == "" {
		// A plain function is reached by its name only, in code that changes too.
		if predeclared[symbol] || g.dots {
			g.shape = append(g.shape, head)
		}
		g.heads[symbol] = head
		return
	}
	g.shape = append(g.shape, head)
	if g.source.types[receiver] {
		g.quiet[head] = quiet{[]string{d.Name.Name}, receiver}
	}
}

// typeName is a receiver's type without pointer and parameters.
func typeName(x ast.Expr) string {
	switch t := x.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

func (g *goSource) general(d *ast.GenDecl) {
	if d.Tok == token.CONST && dependsOnOrder(d) {
		g.shape = append(g.shape, g.text(d.Pos(), d.End()))
		return
	}
	for _, spec := range d.Specs {
		piece := d.Tok.String() + " " + g.text(spec.Pos(), spec.End())
		if d.Tok == token.VAR {
			piece = fmt.Sprintf("%d %s", g.vars, piece) // they are set in their order
			g.vars++
		}
		g.shape = append(g.shape, piece)
		if names, ok := g.quietSpec(d.Tok, spec); ok {
			g.quiet[piece] = quiet{names: names}
		}
	}
}

// dependsOnOrder holds for a group of constants in which a new one may shift
// the others.
func dependsOnOrder(d *ast.GenDecl) bool {
	iota := false
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "iota" {
			iota = true
		}
		return true
	})
	return iota || slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return len(s.(*ast.ValueSpec).Values) == 0 })
}

// quietSpec tells whether a declaration changes nothing for code that does not
// name it, and which names it brings.
func (g *goSource) quietSpec(kind token.Token, spec ast.Spec) (names []string, ok bool) {
	switch s := spec.(type) {
	case *ast.ImportSpec:
		name, err := strconv.Unquote(s.Path.Value)
		return nil, err == nil && (s.Name == nil || s.Name.Name != "_" && s.Name.Name != ".") && harmless(name)
	case *ast.TypeSpec:
		return []string{s.Name.Name}, !predeclared[s.Name.Name] && !g.dots
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.Name == "_" || predeclared[name.Name] || g.dots {
				return nil, false
			}
			names = append(names, name.Name)
		}
		return names, kind == token.CONST || !calls(s)
	}
	return nil, false
}

func calls(spec *ast.ValueSpec) bool {
	found := false
	for _, value := range spec.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.CallExpr, *ast.UnaryExpr:
				found = true // it runs when the package is loaded
			}
			return !found
		})
	}
	return found
}

// harmless holds for packages of the standard library whose loading is not
// noticed.
func harmless(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	switch path {
	case "C", "expvar", "net/http/pprof", "time/tzdata", "image/png", "image/jpeg", "image/gif", "embed":
		return false
	}
	return standard[first]
}

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

var (
	standard = wordSet(`bufio bytes cmp compress container context encoding errors fmt hash html io iter maps math mime net os path reflect regexp
		runtime slices sort strconv strings structs sync text time unicode unique unsafe weak`)
	predeclared = wordSet(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8
		uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real recover`)
)
