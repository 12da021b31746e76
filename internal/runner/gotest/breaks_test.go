package gotest

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestBreaksFindsWhatNoLongerCompiles(t *testing.T) {
	base := files{
		"go.mod": mod, "a/a.go": "package a\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n\ntype T struct{ X int }\n\nfunc (t T) String() string { return fmt.Sprint(t.X) }\n\nfunc F(x int) int { return len(strings.Repeat(\"a\", x)) }\n\nfunc G() int { return F(1) }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F(1) != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
		"b/b.go":      "package b\n\nimport \"m.test/x/a\"\n\nfunc H() int { return a.F(2) }\n",
		"c/c_test.go": "package c_test\n\nimport (\n\t\"testing\"\n\n\t\"m.test/x/a\"\n)\n\nfunc TestC(t *testing.T) { _ = a.T{X: 1} }\n",
	}
	for name, c := range map[string]struct {
		old, new string
		broken   bool
	}{
		"body":                      {"return F(1)", "return F(2) + 1", false},
		"call of another package":   {"return F(1)", "return F(strings.Count(\"a\", \"b\"))", false},
		"unknown name":              {"return F(1)", "return E(1)", true},
		"wrong type":                {"return F(1)", "return \"\"", true},
		"unused variable":           {"return F(1)", "x := 1; return F(1)", true},
		"missing return":            {"{ return F(1) }", "{ F(1) }", true},
		"syntax":                    {"return F(1)", "return F(1", true},
		"signature used in tests":   {"func F(x int) int", "func F(x string) int", true},
		"field used from elsewhere": {"struct{ X int }", "struct{ Y int }", true},
		"signature with its caller": {"func G() int { return F(1) }", "func G(x int) int { return F(x) }", false},
		"method of a new type":      {"func G()", "type U struct{}\n\nfunc (U) M() fmt.Stringer { return T{} }\n\nfunc G()", false},
	} {
		head := maps.Clone(base)
		head["a/a.go"] = strings.Replace(base["a/a.go"], c.old, c.new, 1)
		if head["a/a.go"] == base["a/a.go"] {
			t.Fatalf("%s: %q is not in the source", name, c.old)
		}
		broken := New(Config{}).Breaks(base, head, []string{"a/a.go"})
		if slices.Contains(broken, "a/a.go") != c.broken {
			t.Errorf("%s: broken %q; %q", name, broken, New(Config{}).newChecker(head).problems("a"))
		}
	}
}
