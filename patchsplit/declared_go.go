package patchsplit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
)

// readGo reads the top-level declarations of a Go file. A file that does not
// parse gives what the parser could make of it.
func (d *declarations) readGo(path string, source []byte) {
	file, _ := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if file == nil || file.Name == nil {
		return
	}
	g := goReader{declarations: d, scope: dirOf(path), pkg: file.Name.Name}
	// The package itself. In a new file this names a package that base may well
	// have; then nothing on base fails for want of it.
	d.add(g.scope, "", g.pkg)
	d.add(g.scope, "", g.scope)
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			g.function(decl)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				g.spec(spec)
			}
		}
	}
}

type goReader struct {
	*declarations
	scope, pkg string
}

func (g goReader) function(decl *ast.FuncDecl) {
	name, owner := decl.Name.Name, g.pkg
	if decl.Recv != nil && len(decl.Recv.List) > 0 {
		owner = typeName(decl.Recv.List[0].Type)
		g.signatures[owner+"."+name] = parameters(decl.Type)
	} else {
		g.signatures[name] = parameters(decl.Type)
	}
	g.add(g.scope, owner, name)
}

// parameters is a function's type without the names in it, which callers do
// not see.
func parameters(f *ast.FuncType) string {
	var text strings.Builder
	for _, list := range []*ast.FieldList{f.TypeParams, f.Params, f.Results} {
		text.WriteByte('(')
		for _, field := range fieldsOf(list) {
			for range max(1, len(field.Names)) {
				text.WriteString(types.ExprString(field.Type) + ",")
			}
		}
		text.WriteByte(')')
	}
	return text.String()
}

func fieldsOf(list *ast.FieldList) []*ast.Field {
	if list == nil {
		return nil
	}
	return list.List
}

func (g goReader) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			g.add(g.scope, g.pkg, name.Name)
			g.members(name.Name, spec.Type)
		}
	case *ast.TypeSpec:
		g.add(g.scope, g.pkg, spec.Name.Name)
		g.members(spec.Name.Name, spec.Type)
	}
}

// members reads the fields of a struct, nested ones too, and the methods of an
// interface.
func (g goReader) members(owner string, expr ast.Expr) {
	if expr == nil {
		return
	}
	ast.Inspect(expr, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.StructType:
			g.fields(owner, node.Fields)
		case *ast.InterfaceType:
			g.fields(owner, node.Methods)
		case *ast.FuncType:
			return false
		}
		return true
	})
}

func (g goReader) fields(owner string, list *ast.FieldList) {
	for _, field := range fieldsOf(list) {
		if len(field.Names) == 0 {
			g.add(g.scope, owner, typeName(field.Type))
		}
		for _, name := range field.Names {
			g.add(g.scope, owner, name.Name)
			if f, ok := field.Type.(*ast.FuncType); ok {
				g.signatures[owner+"."+name.Name] = parameters(f)
			}
		}
	}
}

// typeName is the bare name of a named type, through pointers and parameters.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.ParenExpr:
		return typeName(expr.X)
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.IndexListExpr:
		return typeName(expr.X)
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}
