package bridge

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

const base = `package p

type Mode int

const (
	Fast Mode = iota
	Slow
)

type T struct {
	A int // first
}

type One struct{ A int }

type Doer interface {
	Do() int
}

func (t T) Do() int { return t.A }

func Open(name string) (*T, error) { return &T{A: len(name)}, nil }

func use() int { _, _ = Open("x"); return T{A: 1}.Do() }
`

// library is the standard library, checked once for all tests.
var (
	files   = token.NewFileSet()
	library = importer.ForCompiler(files, "source", nil)
)

// build bridges one file and type-checks what comes out, as far as it can stand.
func build(t *testing.T, head string, without ...string) Result {
	t.Helper()
	out := make(map[string]bool)
	for _, key := range without {
		out[key] = true
	}
	r := Package{Files: []Source{{Path: "p.go", Base: []byte(base), Head: []byte(head)}}}.Build("/tmp/mark", out)
	content, changed := r.Files["p.go"]
	if !changed {
		content = []byte(base)
	}
	parsed, err := parser.ParseFile(files, "p.go", content, parser.ParseComments)
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	config := types.Config{Importer: library, GoVersion: "go1.12"} // a module may be old
	if strings.Contains(head, "[A, B any]") {
		config.GoVersion = "go1.18"
	}
	if _, err := config.Check("p", files, []*ast.File{parsed}, nil); err != nil {
		t.Errorf("%v\n%s", err, content)
	}
	return r
}

func keys(r Result) string {
	var list []string
	for _, p := range r.Pieces {
		list = append(list, strings.TrimPrefix(p.Key, "p.go "))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestPieces(t *testing.T) {
	for _, c := range []struct{ name, from, to, pieces, values string }{
		{"nothing new", "return t.A }", "return t.A + 1 }", "", ""},
		{"a function", "func use", "func New(a int) string { return \"\" }\n\nfunc use", "New", ""},
		{"a method", "func use", "func (t *T) Stop() {}\n\nfunc use", "T.Stop", ""},
		{"a generic function", "func use", "func Map[A, B any](a []A, f func(A) B) []B { return nil }\n\nfunc use", "Map", ""},
		{"a field", "	A int // first\n", "	A int // first\n	B, C string\n", "T.B,C", ""},
		{"a field that reflection reads", "	A int // first\n", "	A int // first\n	B string `json:\"b\"`\n", "T.B", "B"},
		{"a field of a one-line struct", "type One struct{ A int }", "type One struct {\n	A int\n	B int\n	C []string\n}", "One.B One.C", ""},
		{"a constant behind the others", "	Slow\n", "	Slow\n	Never\n", "Never", "Never"},
		{"a constant among the others", "	Slow\n", "	Never\n	Slow\n", "", ""},
		{"a sentinel error", "type Mode int", "import \"errors\"\n\nvar ErrX = errors.New(\"x\")\n\ntype Mode int", "ErrX", "ErrX"},
		{"a variable that runs its package's code", "func use", "var now = use()\n\nfunc use", "", ""},
		{"a variable that holds a function", "func use", "var Hook = func(n int) int { return use() + n }\n\nfunc use", "Hook", "Hook"},
		{"a variadic parameter", "Open(name string)", "Open(name string, modes ...Mode)", "Open()", ""},
		{"another result", "Open(name string) (*T, error)", "Open(name string) (*T, bool, error)", "", ""},
		{"another parameter's type", "Open(name string)", "Open(name []byte)", "", ""},
		{"a type", "type Mode int", "type Mode int\n\ntype Options struct {\n	Deep map[string]Mode\n}", "Options", ""},
		{"init and main", "func use", "func init() { panic(1) }\n\nfunc use", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := strings.Replace(base, c.from, c.to, 1)
			if head == base {
				t.Fatalf("%q does not occur in base", c.from)
			}
			r := build(t, head)
			if keys(r) != c.pieces || strings.Join(r.Values, " ") != c.values {
				t.Errorf("pieces %q, values %q; want %q, %q\n%s", keys(r), r.Values, c.pieces, c.values, r.Files["p.go"])
			}
		})
	}
}

// TestBodiesOfBaseStay is the point of the bridge: what base does, it does, and
// what it does not have never runs.
func TestBodiesOfBaseStay(t *testing.T) {
	head := strings.Replace(base, "return t.A }", "return 2 * t.A }\n\nfunc Twice(t T) int { return secret(t) }\n\nfunc secret(t T) int { return 4711 }", 1)
	r := build(t, head)
	got := string(r.Files["p.go"])
	if !strings.HasPrefix(strings.SplitAfterN(got, "\n", 3)[2], strings.SplitAfterN(base, "\n", 3)[2]) {
		t.Errorf("base's lines moved or changed:\n%s", got)
	}
	if strings.Contains(got, "4711") || strings.Contains(got, "2 * t.A") {
		t.Errorf("it holds a body of head's:\n%s", got)
	}
}

func TestPiecesCanBeLeftOut(t *testing.T) {
	head := strings.Replace(base, "func use", "func New() {}\n\nfunc Other() {}\n\nfunc use", 1)
	head = strings.Replace(head, "	A int // first\n", "	A int // first\n	B string\n", 1)
	if r := build(t, head, "p.go New", "p.go T.B"); keys(r) != "Other" {
		t.Errorf("pieces %q", keys(r))
	}
	if r := build(t, head, "p.go New", "p.go T.B", "p.go Other"); len(r.Files) != 0 {
		t.Errorf("files %q", r.Files)
	}
}

func TestPiecesKnowTheirLines(t *testing.T) {
	head := strings.Replace(base, "func use", "func New(\n	a int,\n) {\n}\n\nfunc use", 1)
	head = strings.Replace(head, "	A int // first\n", "	A int // first\n	B string\n", 1)
	r := build(t, head)
	lines := strings.Split(string(r.Files["p.go"]), "\n")
	for _, p := range r.Pieces {
		text := strings.Join(lines[p.From-1:p.To], "\n")
		if p.Key == "p.go New" && !strings.HasPrefix(text, "func New(") || p.Key == "p.go T.B" && !strings.Contains(text, "B string") {
			t.Errorf("%s is at %d-%d: %q", p.Key, p.From, p.To, text)
		}
	}
	if len(r.Pieces) != 2 {
		t.Errorf("pieces %+v", r.Pieces)
	}
}

// TestNewFile is a file that only head has, with a build constraint.
func TestNewFile(t *testing.T) {
	head := "//go:build !windows\n\n// Package p.\npackage p\n\nimport (\n	\"fmt\"\n	\"strings\"\n)\n\nfunc New(b *strings.Builder) { fmt.Fprint(b, 1) }\n"
	r := Package{Files: []Source{{Path: "n.go", Head: []byte(head)}}, Rest: [][]byte{[]byte(base)}}.Build("/tmp/mark", nil)
	got := string(r.Files["n.go"])
	if !strings.HasPrefix(got, "//go:build !windows\n") || !strings.Contains(got, `import "strings"`) || strings.Contains(got, `"fmt"`) {
		t.Errorf("got\n%s", got)
	}
}
