package rts

import (
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, path, old, new string
		shape                bool
		bodies, names        []string
	}{
		{"python body", "a.py", "def f(x):\n    return 1\n", "def f(x):\n    return 2\n", false, []string{"f"}, nil},
		{"python comment", "a.py", "def f(x):\n    return 1\n", "# new\ndef f( x ):  # why\n\n    return 1\n", false, nil, nil},
		{"python constant", "a.py", "LIMIT = 1\n", "LIMIT = 2\n", true, nil, []string{"LIMIT"}},
		{"python default", "a.py", "def f(x=1):\n    return x\n", "def f(x=2):\n    return x\n", true, nil, []string{}},
		{"python docstring", "a.py", "def f():\n    'one'\n    return 1\n", "def f():\n    'two'\n    return 1\n", true, nil, []string{"one", "two"}},
		{"python method", "a.py", "class A:\n    def m(self):\n        x = '''\n  def no():\n'''\n        return 1\n    y = 1\n", "class A:\n    def m(self):\n        x = '''\n  def no():\n'''\n        return 2\n    y = 1\n", false, []string{"A.m"}, nil},
		{"python nested", "a.py", "def f():\n    def g():\n        return 1\n    return g\n", "def f():\n    def g():\n        return 2\n    return g\n", false, []string{"f"}, nil},
		{"python one-liner", "a.py", "def f(): return 1\n", "def f(): return 2\n", false, []string{"f"}, nil},
		{"python deleted", "a.py", "def f():\n    return 1\ndef g():\n    return 1\n", "def g():\n    return 1\n", true, []string{"f"}, []string{"f"}},
		{"python moved out of a block", "a.py", "if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n", true, nil, nil},
		{"python order", "a.py", "import a\nimport b\n", "import b\nimport a\n", true, nil, nil},
		{"python property", "a.py", "class A:\n    @property\n    def v(self): return 1\n    @v.setter\n    def v(self, x): self.x = x\n", "class A:\n    @property\n    def v(self): return 1\n    @v.setter\n    def v(self, x): self.y = x\n", false, []string{"A.v"}, nil},
		{"python continued", "a.py", "x = (1,\n  2)\ndef f():\n    return 1 + \\\n  1\n", "x = (1,\n  2)\ndef f():\n    return 1 + \\\n  2\n", false, []string{"f"}, nil},
		{"go body", "a.go", "package p\nfunc F() int { return 1 }\n", "package p\n// F is\nfunc F() int { return 2 }\n", false, []string{"F"}, nil},
		{"go method", "a.go", "package p\nfunc (t *T[K]) M() int { return 1 }\n", "package p\nfunc (t *T[K]) M() int { return 2 }\n", false, []string{"T.M"}, nil},
		{"go comment", "a.go", "package p\n// one\nvar x = 1\n", "package p\n// two\nvar x = 1 // three\n", false, nil, nil},
		{"go const", "a.go", "package p\nconst Limit = 1\n", "package p\nconst Limit = 2\n", true, nil, []string{"Limit"}},
		{"go struct tag", "a.go", "package p\ntype T struct { A int }\n", "package p\ntype T struct { A int `json:\"a\"` }\n", true, nil, nil},
		{"go init", "a.go", "package p\nfunc init() { x = 1 }\n", "package p\nfunc init() { x = 2 }\n", true, nil, nil},
		{"go new function", "a.go", "package p\n", "package p\nfunc helper() {}\n", false, nil, []string{"helper"}},
		{"go shadows a builtin", "a.go", "package p\n", "package p\nfunc min(a, b int) int { return a }\n", true, nil, nil},
		{"go new method", "a.go", "package p\ntype T int\n", "package p\ntype T int\nfunc (T) String() string { return \"\" }\n", true, nil, nil},
		{"go new type with a method", "a.go", "package p\n", "package p\ntype T int\nfunc (T) String() string { return \"\" }\n", false, nil, []string{"String"}},
		{"go deleted function", "a.go", "package p\nfunc F() {}\n", "package p\n", false, []string{"F"}, nil},
		{"go iota", "a.go", "package p\nconst (\n A = iota\n B\n)\n", "package p\nconst (\n A = iota\n C\n B\n)\n", true, nil, nil},
		{"go embed", "a.go", "package p\nimport _ \"embed\"\n//go:embed a.txt\nvar s string\n", "package p\nimport _ \"embed\"\n//go:embed b.txt\nvar s string\n", true, nil, nil},
		{"go build tag", "a.go", "package p\n", "//go:build linux\n\npackage p\n", true, nil, nil},
		{"go blank import", "a.go", "package p\n", "package p\nimport _ \"image/png\"\n", true, nil, nil},
		{"go plain import", "a.go", "package p\nfunc F() {}\n", "package p\nimport \"strings\"\nfunc F() { strings.ToUpper(\"\") }\n", false, []string{"F"}, nil},
		{"go sets a variable", "a.go", "package p\nvar x []int\nfunc F() { x = nil }\n", "package p\nvar x []int\nfunc F() { x = []int{1} }\n", true, []string{"F"}, nil},
		{"go sets a variable no more", "a.go", "package p\nfunc F(y int) { x.field[y]++ }\n", "package p\nfunc F(y int) { y++ }\n", true, []string{"F"}, nil},
		{"go sets another package's", "a.go", "package p\nfunc F() { http.DefaultClient = nil }\n", "package p\nfunc F() { http.DefaultClient = c }\n", true, []string{"F"}, nil},
		{"go empties a variable", "a.go", "package p\nfunc F() { }\n", "package p\nfunc F() { delete(x, 1) }\n", true, []string{"F"}, nil},
		{"go ranges into a variable", "a.go", "package p\nfunc (t *T) F(a, b int) (c int) { a = 1; t.x = 1; var d, e int; d, f := 2, 3; for i, e = range b { f++ }; c = func(g int) int { g = a; return g }(1); *t = T{}; _ = i }\n", "package p\nfunc (t *T) F(a, b int) (c int) { i := 1; i++; for range a { i = 2 }; return i }\n", true, []string{"T.F"}, nil},
		{"go sets its own", "a.go", "package p\nfunc (t *T) F(a, b int) (c int) { a = 1; t.x = 1; var d, e int; d, f := 2, 3; for i := range b { f++; i = e }; c = func(g int) int { g = a; return g }(1); *t = T{} }\n", "package p\nfunc (t *T) F(a, b int) (c int) { return 1 }\n", false, []string{"T.F"}, nil},
		{"python sets a global", "a.py", "def f():\n    global x\n    x = 1\n", "def f():\n    global x\n    x = 2\n", true, []string{"f"}, nil},
		{"go variable with a call", "a.go", "package p\n", "package p\nvar _ = register()\n", true, nil, nil},
	} {
		d := Diff(c.path, []byte(c.old), []byte(c.new))
		if !d.Compared || d.Shape != c.shape || !slices.Equal(d.Bodies, c.bodies) {
			t.Errorf("%s: %+v", c.name, d)
		}
		for _, name := range c.names {
			if len(name) >= minName && !slices.Contains(d.Names, name) {
				t.Errorf("%s: names are %q, want %q", c.name, d.Names, name)
			}
		}
	}
}

func TestDiffOfWhatDoesNotParse(t *testing.T) {
	for _, c := range [][3]string{
		{"a.go", "package p\nfunc F() {}\n", "package p\nfunc F() {\n"},
		{"a.py", "x = 1\n", "x = (1\n"},
		{"a.py", "x = 1\n", "x = 'one\n"},
		{"a.rb", "a = 1\n", "a = 1 # b\n"},
		{"a.js", "let a = '1\n", "let a = '2\n"},
		{"a.jsx", "const a = () => <p>http://x</p>\n", "const a = () => <p>http://y</p>\n"},
		{"a.js", "if (a) { b }\n/c'/.test(d)\n", "if (a) { b }\n/c/.test(d)\n"},
	} {
		if d := Diff(c[0], []byte(c[1]), []byte(c[2])); d.Compared {
			t.Errorf("%s: %+v", c[0], d)
		}
	}
}

func TestNewAndDeletedModules(t *testing.T) {
	if d := Diff("a.py", nil, []byte("def f(): pass\n")); !d.Shape || d.Status != Added {
		t.Errorf("a new module: %+v", d)
	}
	if d := Diff("a.go", []byte("package p\nfunc F() {}\n"), nil); !d.Shape || d.Status != Deleted || !slices.Equal(d.Bodies, []string{"F"}) {
		t.Errorf("a deleted file: %+v", d)
	}
	if d := Diff("a.go", nil, []byte("package p\nfunc F() {}\n")); d.Shape || d.Status != Added {
		t.Errorf("a new file with a function: %+v", d)
	}
}

func TestOutlineFindsTheFunctionOfALine(t *testing.T) {
	python := Outline("a.py", []byte("import x\n\n@deco(\n  1)\ndef f():\n    def g():\n        pass\n\nclass A:\n    y = 1\n    async def m(self,\n          b): return 2\n"))
	for line, want := range map[int]string{1: "", 3: "f", 5: "f", 7: "f", 10: "", 11: "A.m", 12: "A.m", 99: ""} {
		if got := At(python, line); got != want {
			t.Errorf("Python line %d is in %q, want %q (%v)", line, got, want, python)
		}
	}
	golang := Outline("a.go", []byte("package p\n\nfunc F() {\n}\n\nvar x = 1\n\nfunc (t *T) M() {}\n"))
	for line, want := range map[int]string{1: "", 3: "F", 4: "F", 6: "", 8: "T.M"} {
		if got := At(golang, line); got != want {
			t.Errorf("Go line %d is in %q, want %q", line, got, want)
		}
	}
}
