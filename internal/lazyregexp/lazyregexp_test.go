package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestEveryExpressionCompiles reads the expressions that this module holds off
// its source, since a wrong one would panic only when it is first used.
func TestEveryExpressionCompiles(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		source, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return nil // a broken source of testdata
		}
		ast.Inspect(source, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isNew(call.Fun) {
				return true
			}
			expr, ok := constant(call.Args[0])
			if !ok {
				return true // New's own body, or a helper that is handed a constant
			}
			found++
			if _, err := regexp.Compile(expr); err != nil {
				t.Errorf("%s: %v", files.Position(call.Pos()), err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 250 {
		t.Errorf("only %d expressions were found", found)
	}
}

// isNew knows lazyregexp.New, and the short name that the table of tells has
// for it.
func isNew(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == "lazyregexp" && f.Sel.Name == "New"
	case *ast.Ident:
		return f.Name == "re"
	}
	return false
}

// constant folds the strings of an expression's source.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := constant(e.X)
		right, also := constant(e.Y)
		return left + right, ok && also
	}
	return "", false
}

func TestRegexpIsCompiledOnce(t *testing.T) {
	r := New(`a(b*)`)
	first := r.compiled()
	if !r.MatchString("xabb") || r.FindStringSubmatch("xabb")[1] != "bb" || r.compiled() != first {
		t.Error("it matches otherwise, or is compiled twice")
	}
}
