package bridge

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Package is the production sources of one directory on both sides.
type Package struct {
	Files []Source // those that differ, in the order of their paths
	Rest  [][]byte // base's other ones
}

// Source is one file on both sides; a side that does not have it is nil.
type Source struct {
	Path       string
	Base, Head []byte
}

// Result is a package as it stands on the bridge.
type Result struct {
	Files  map[string][]byte // by path; those of Package.Files that change
	Pieces []Piece           // what was added
	Values []string          // names that stand in with a value of head's
	Gaps   []string          // what was not added, in words
}

// Piece is one declaration of head's that was added to base.
type Piece struct {
	Key      string // stable between builds of one package
	File     string
	From, To int  // its lines in the built file
	Edit     bool // it changes a declaration of base's: a field, a method of an interface, a parameter
}

// Build writes the package. mark is the path of the file to which stand-ins
// tell that they were reached; without holds the keys of pieces to leave out.
func (p Package) Build(mark string, without map[string]bool) Result {
	b := &builder{known: p.declared(), without: without, edits: make(map[*file][]edit), out: Result{Files: make(map[string][]byte)}}
	var plans []*plan
	for _, source := range p.Files {
		if plan := b.plan(source); plan != nil {
			plans = append(plans, plan)
		}
	}
	for _, plan := range plans {
		b.write(plan, mark)
	}
	slices.Sort(b.out.Values)
	b.out.Values = slices.Compact(b.out.Values)
	return b.out
}

type builder struct {
	known   *declarations
	without map[string]bool
	edits   map[*file][]edit
	marked  bool // a file holds the mark already
	out     Result
}

// file is a parsed source.
type file struct {
	source []byte
	files  *token.FileSet
	parsed *ast.File
}

// parse returns nil for a source that is absent or does not parse.
func parse(source []byte) *file {
	if source == nil {
		return nil
	}
	f := &file{source: source, files: token.NewFileSet()}
	var err error
	if f.parsed, err = parser.ParseFile(f.files, "", source, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil
	}
	return f
}

func (f *file) offset(at token.Pos) int { return f.files.Position(at).Offset }

func (f *file) text(from, to token.Pos) string {
	return string(f.source[f.offset(from):min(f.offset(to), len(f.source))])
}

// declarations are what base's package declares.
type declarations struct {
	names  map[string]bool // of functions, variables, constants, types; "T.m" for methods
	types  map[string]placed[*ast.TypeSpec]
	funcs  map[string]placed[*ast.FuncDecl]
	consts map[string][]string // the names of the group that a constant is in
	files  map[string]*file    // by path
}

// placed is a node with the file it is in.
type placed[N ast.Node] struct {
	file *file
	node N
}

func (p Package) declared() *declarations {
	d := &declarations{make(map[string]bool), make(map[string]placed[*ast.TypeSpec]), make(map[string]placed[*ast.FuncDecl]), make(map[string][]string), make(map[string]*file)}
	for _, source := range p.Files {
		if d.files[source.Path] = parse(source.Base); d.files[source.Path] != nil {
			d.read(d.files[source.Path])
		}
	}
	for _, source := range p.Rest {
		if f := parse(source); f != nil {
			d.read(f)
		}
	}
	return d
}

func (d *declarations) read(f *file) {
	for _, decl := range f.parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.names[keyOf(decl)] = true
			d.funcs[keyOf(decl)] = placed[*ast.FuncDecl]{f, decl}
		case *ast.GenDecl:
			d.group(f, decl)
		}
	}
}

func (d *declarations) group(f *file, decl *ast.GenDecl) {
	names := namesOf(decl)
	for _, name := range names {
		d.names[name] = true
		if decl.Tok == token.CONST {
			d.consts[name] = names
		}
	}
	for _, spec := range decl.Specs {
		if spec, ok := spec.(*ast.TypeSpec); ok {
			d.types[spec.Name.Name] = placed[*ast.TypeSpec]{f, spec}
		}
	}
}

func namesOf(decl *ast.GenDecl) []string {
	var names []string
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		}
	}
	return names
}

// keyOf names a function F, a method T.m.
func keyOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return decl.Name.Name
	}
	return bare(decl.Recv.List[0].Type) + "." + decl.Name.Name
}

// bare is the name of a type through pointers, packages and type arguments.
func bare(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.StarExpr:
		return bare(expr.X)
	case *ast.ParenExpr:
		return bare(expr.X)
	case *ast.IndexExpr:
		return bare(expr.X)
	case *ast.IndexListExpr:
		return bare(expr.X)
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}

// lineCount is how many line ends a text has.
func lineCount(text string) int { return strings.Count(text, "\n") }
