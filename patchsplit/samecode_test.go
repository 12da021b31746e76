package patchsplit

import "testing"

func TestUntellableGroups(t *testing.T) {
	for _, c := range []struct{ name, path, old, new, why, quiet string }{
		{"comments and layout", "a.js", "f(1) // one\n\n/* two */ g()\n", "f(1)\n  g()\n", "comments or layout", ""},
		{"what looks like a comment", "a.js", "f('// one')\n", "f('// two')\n", "", ""},
		{"a blank in a template", "a.js", "f(`a  b`)\n", "f(`a b`)\n", "", ""},
		{"a line feed that ends a statement", "a.js", "return\nf()\n", "return f()\n", "", ""},
		{"a comment that a checker reads", "a.ts", "f(1)\n", "// @ts-expect-error\nf(1)\n", "", ""},
		{"a regular expression", "a.js", "f(/a b/)\n", "f(/a  b/)\n", "", ""},
		{"documentation", "a.rs", "/// One.\nfn f() {}\n", "/// Two.\nfn f() {}\n", "comments or layout", ""},
		{"an example that runs", "a.rs", "/// One.\n/// ```\n/// f(1);\n/// ```\nfn f() {}\n", "/// One.\n/// ```\n/// f(2);\n/// ```\nfn f() {}\n", "", ""},
		{"an interface", "a.ts", "interface A { b: string }\nf()\n", "export interface A<T> extends B { b: string; c?: { d: T } }\nf()\n", "", "types that do not run"},
		{"types that are imported", "a.ts", "f()\n", "import type { A } from './a'\nf()\n", "", "types that do not run"},
		{"an import that runs", "a.ts", "f()\n", "import { A } from './a'\nf()\n", "", ""},
		{"annotations", "a.py", "def f(x):\n    return x\n", "def f(x: int) -> int:\n    return x\n", "", "types that do not run"},
		{"annotations that are strings", "a.py", "def f(x: \"A\") -> \"C\":\n    return x\n", "def f(x: \"B\") -> \"C\":\n    return x\n", "", "types that do not run"},
		{"a default that is a string", "a.py", "def f(x: \"A\" = \"a\"):\n    return x\n", "def f(x: \"A\" = \"b\"):\n    return x\n", "", ""},
		{"a declaration that goes", "a.go", "package p\n\nvar a bool\n\nfunc f() {}\n", "package p\n\nfunc f() {}\n", "", "takes away declarations that nothing uses any more"},
		{"a benchmark", "benches/a.rs", "fn f() { g(1) }\n", "fn f() { g(2) }\n", "", "benchmarks and examples, which no test runs"},
		{"a statement that goes", "a.go", "package p\n\nfunc f() { g(); h() }\n", "package p\n\nfunc f() { g() }\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			groups := Groups([]Sides{sidesOf(c.path, c.old, c.new)})
			for _, g := range groups {
				if g.Why != c.why || g.Quiet != c.quiet {
					t.Errorf("%+v: why %q, quiet %q; want %q, %q", g.Runs, g.Why, g.Quiet, c.why, c.quiet)
				}
			}
			if len(groups) == 0 {
				t.Error("no groups")
			}
		})
	}
}
