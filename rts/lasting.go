package rts

import (
	"go/ast"
	"go/token"
	"strings"
)

// A function that sets a variable of its module leaves something behind for
// whatever runs after it in the process. Tests that never call it are concerned by
// a change in it, as by one of the variable's own value.

// setsGoVariable tells whether a function stores into something that neither it
// nor its signature declares: a variable of its package, or of another.
func setsGoVariable(d *ast.FuncDecl) bool {
	own, stored := make(map[string]bool), make(map[string]bool)
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // of receiver, parameters, results, also of functions inside
			declare(own, n.Names...)
		case *ast.ValueSpec:
			declare(own, n.Names...)
		case *ast.RangeStmt:
			storeAll(own, stored, n.Tok, n.Key, n.Value)
		case *ast.AssignStmt:
			storeAll(own, stored, n.Tok, n.Lhs...)
		case *ast.IncDecStmt:
			store(stored, n.X)
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "delete" || name.Name == "clear") && len(n.Args) > 0 {
				store(stored, n.Args[0])
			}
		}
		return true
	})
	for name := range stored {
		if !own[name] {
			return true
		}
	}
	return false
}

func declare(own map[string]bool, names ...*ast.Ident) {
	for _, name := range names {
		own[name.Name] = true
	}
}

func storeAll(own, stored map[string]bool, kind token.Token, targets ...ast.Expr) {
	for _, target := range targets {
		if name, ok := target.(*ast.Ident); ok && kind == token.DEFINE {
			own[name.Name] = true
		} else if target != nil {
			store(stored, target)
		}
	}
}

// store notes the variable that a target is part of.
func store(stored map[string]bool, target ast.Expr) {
	for {
		switch t := target.(type) {
		case *ast.Ident:
			if t.Name != "_" {
				stored[t.Name] = true
			}
			return
		case *ast.SelectorExpr:
			target = t.X
		case *ast.IndexExpr:
			target = t.X
		case *ast.StarExpr:
			target = t.X
		case *ast.ParenExpr:
			target = t.X
		default:
			return
		}
	}
}

// setsPythonVariable tells whether a function's body declares a name of its module
// as its own to set.
func setsPythonVariable(body string) bool {
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "global ") {
			return true
		}
	}
	return false
}
