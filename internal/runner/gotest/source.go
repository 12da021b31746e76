package gotest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/doc"
	"go/parser"
	"go/scanner"
	"go/token"
	"hash"
	"strings"
)

// testFile is one parsed test source. What a syntax error leaves readable is
// there all the same.
type testFile struct {
	name    string
	source  []byte
	parsed  *ast.File // nil when not even the package clause could be read
	files   *token.FileSet
	outputs map[string]string // compared output of the examples
	tests   []*ast.FuncDecl
	err     error
}

func parseFile(name string, source []byte) *testFile {
	f := &testFile{name: name, source: source, files: token.NewFileSet(), outputs: make(map[string]string)}
	f.parsed, f.err = parser.ParseFile(f.files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if f.parsed == nil {
		return f
	}
	for _, example := range doc.Examples(f.parsed) {
		if example.Output != "" || example.EmptyOutput {
			f.outputs["Example"+example.Name] = fmt.Sprint(example.Unordered, example.Output)
		}
	}
	for _, decl := range f.parsed.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && f.isTest(d) {
			f.tests = append(f.tests, d)
		}
	}
	return f
}

// external tells whether the file is of the package p_test.
func (f *testFile) external() bool {
	return f.parsed != nil && strings.HasSuffix(f.parsed.Name.Name, "_test")
}

func (f *testFile) line(at token.Pos) int { return f.files.Position(at).Line }

func (f *testFile) text(from, to token.Pos) []byte {
	begin, end := f.files.Position(from).Offset, f.files.Position(to).Offset
	return f.source[max(0, begin):max(begin, min(end, len(f.source)))]
}

// digest identifies a test's own source whatever its position, layout and
// comments. A renamed test is the same test; an example's name says what it is
// about and a fuzz target's where its corpus is, so those count. So does an
// example's output, which is a comment.
func (f *testFile) digest(d *ast.FuncDecl) string {
	name := d.Name.Name
	if strings.HasPrefix(name, "Test") {
		name = "Test"
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s", name, tokens(f.text(d.Name.End(), d.End())), f.outputs[d.Name.Name])
	return hex.EncodeToString(sum.Sum(nil))
}

// tokens is a source text as its tokens, one a line, without comments.
func tokens(source []byte) string {
	var out strings.Builder
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), source, func(token.Position, string) {}, 0)
	for {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return out.String()
		case tok == token.SEMICOLON:
			out.WriteString(";\n")
		case literal != "":
			fmt.Fprintf(&out, "%s\n", literal)
		default:
			fmt.Fprintf(&out, "%s\n", tok)
		}
	}
}

// testContext digests what the tests of a package share: everything in its test
// files but the tests themselves.
type testContext struct{ hash.Hash }

func newContext() testContext { return testContext{sha256.New()} }

func (c testContext) add(f *testFile) {
	if f.parsed == nil {
		c.Write(f.source)
		return
	}
	fmt.Fprintf(c, "package %s\n", f.parsed.Name.Name)
	for _, group := range f.parsed.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:") || constraint.IsPlusBuild(comment.Text) && group.Pos() < f.parsed.Package {
				fmt.Fprintln(c, comment.Text)
			}
		}
	}
	for _, decl := range f.parsed.Decls {
		if d, ok := decl.(*ast.FuncDecl); !ok || !f.isTest(d) {
			fmt.Fprintln(c, tokens(f.text(decl.Pos(), decl.End())))
		}
	}
}

func (c testContext) sum() string { return hex.EncodeToString(c.Sum(nil)) }
