package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// goLanguage changes Go sources by go/ast, and compares with what go list says
// of packages: all tests of those that are built from the changed one.
var goLanguage = language{
	suffixes: []string{".go"}, tick: 0.005, // go test prints hundredths of a second
	mutants: goMutants,
	compiles: func(dir string, _ []string) bool {
		cmd := exec.Command("go", "build", "./...")
		cmd.Dir = dir
		return cmd.Run() == nil
	},
	rivals: func(t *testing.T, dir string) map[string]rival {
		return map[string]rival{"go list -deps": goListDeps(t, dir)}
	},
}

var goSwaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL,
}

// goMutants lists the changes of a file. Not all of them compile.
func goMutants(t *testing.T, path string, source []byte) (found []edit) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	put := func(operator string, from, to token.Pos, text string) {
		at := files.Position(from)
		found = append(found, edit{Operator: operator, Line: at.Line, Start: at.Offset, End: files.Position(to).Offset, Text: text})
	}
	over := func(operator string, node ast.Node, text string) { put(operator, node.Pos(), node.End(), text) }
	text := func(node ast.Node) string {
		return string(source[files.Position(node.Pos()).Offset:files.Position(node.End()).Offset])
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec, *ast.Field: // paths and tags
			return false
		case *ast.BinaryExpr:
			if other, ok := goSwaps[n.Op]; ok {
				put("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
			}
		case *ast.BasicLit:
			if text := otherLiteral(n); text != "" {
				over("constant", n, text)
			}
		case *ast.Ident:
			if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
				over("constant", n, other)
			}
		case *ast.IfStmt:
			over("condition", n.Cond, "!("+text(n.Cond)+")")
		case *ast.ExprStmt, *ast.IncDecStmt:
			over("deletion", n, "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				over("deletion", n, "")
			}
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				for _, zero := range []string{"nil", `""`, "0", "false"} { // the compiler knows which
					if text(result) != zero {
						over("return", result, zero)
					}
				}
			}
		}
		return true
	})
	return found
}

func otherLiteral(n *ast.BasicLit) string {
	switch n.Kind {
	case token.INT:
		if value, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return strconv.FormatInt(value+1, 10)
		}
	case token.STRING:
		if value, err := strconv.Unquote(n.Value); err == nil {
			return strconv.Quote(value + "_")
		}
	}
	return ""
}

// goListDeps asks the go command once which packages each package's tests are
// built from.
func goListDeps(t *testing.T, dir string) rival {
	cmd := exec.Command("go", "list", "-e", "-test", "-f", `{{if .ForTest}}{{else}}{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}}{{end}}`, "./...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dirs, users := make(map[string]string), make(map[string]map[string]bool)
	var tests [][2]string
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 {
			continue
		}
		at, err := filepath.Rel(dir, fields[1])
		if err != nil {
			t.Fatal(err)
		}
		dirs[fields[0]] = filepath.ToSlash(at)
		if of, ok := strings.CutSuffix(fields[0], ".test"); ok {
			tests = append(tests, [2]string{of, fields[2]})
		}
	}
	for _, test := range tests {
		for _, dep := range append(strings.Fields(test[1]), test[0]) {
			if at, own := dirs[dep]; own {
				if users[at] == nil {
					users[at] = make(map[string]bool)
				}
				users[at][dirs[test[0]]] = true
			}
		}
	}
	return func(_ *testing.T, changed []string) func(key rowKey) bool {
		units := make(map[string]bool)
		for _, file := range changed {
			for unit := range users[filepath.ToSlash(filepath.Dir(file))] {
				units[unit] = true
			}
		}
		return func(key rowKey) bool { return units[key.unit] }
	}
}
