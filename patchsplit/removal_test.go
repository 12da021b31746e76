package patchsplit

import "testing"

func TestRemovesOnly(t *testing.T) {
	const python = "import a\nimport b\n\n\nclass C:\n    x = 1\n\n    @cached\n    def old(self):\n        return b.f()\n\n    def kept(self):\n        return a.f()\n\n\ndef gone():\n    return 2\n"
	const golang = "package p\n\nimport \"fmt\"\n\nvar A, B = 1, 2\n\nfunc Old() { fmt.Println() }\n\n// New is kept.\nfunc New() int { return 1 }\n"
	for _, c := range []struct {
		name, path, old, new string
		want                 bool
	}{
		{"a function and a method", "a.py", python, "import a\n\n\nclass C:\n    x = 1\n\n    def kept(self):\n        return a.f()\n", true},
		{"a statement of a body", "a.py", python, "import a\nimport b\n\n\nclass C:\n\n    @cached\n    def old(self):\n        return b.f()\n\n    def kept(self):\n        return a.f()\n\n\ndef gone():\n    return 2\n", false},
		{"a check in a function", "a.py", "def f(x):\n    if x < 0:\n        raise ValueError\n    return x\n", "def f(x):\n    return x\n", false},
		{"a decorator alone", "a.py", "@check\ndef f():\n    return 1\n", "def f():\n    return 1\n", false},
		{"a function that a decorator hands on", "a.py", "x = 1\n\n\n@app.before_request\ndef f():\n    check()\n", "x = 1\n", false},
		{"a deprecated property", "a.py", "class C:\n    y = 1\n\n    @property\n    @deprecated('use y')\n    def x(self):\n        return 1\n", "class C:\n    y = 1\n", true},
		{"an operator", "a.py", "class C:\n    y = 1\n\n    def __eq__(self, other):\n        return False\n", "class C:\n    y = 1\n", false},
		{"an override", "a.py", "class A:\n    def f(self): return 1\n\n\nclass B(A):\n    x = 1\n\n    def f(self): return 2\n", "class A:\n    def f(self): return 1\n\n\nclass B(A):\n    x = 1\n", false},
		{"a method whose name another class has too", "a.py", "class A:\n    def f(self): return 1\n\n\nclass B:\n    x = 1\n\n    def f(self): return 2\n", "class A:\n    def f(self): return 1\n\n\nclass B:\n    x = 1\n", true},
		{"a later definition of the name", "a.py", "def f(): return 1\n\n\ndef f(): return 2\n", "def f(): return 1\n", false},
		{"a later method of the name", "a.py", "class A:\n    def f(self): return 1\n\n    def f(self): return 2\n", "class A:\n    def f(self): return 1\n", false},
		{"a Go method that an embedded one takes over from", "a.go", "package p\n\ntype A struct{}\n\nfunc (A) F() {}\n\ntype B struct{ A }\n\nfunc (b *B) F() { b.A.F() }\n", "package p\n\ntype A struct{}\n\nfunc (A) F() {}\n\ntype B struct{ A }\n", false},
		{"a Go type with its methods", "a.go", "package p\n\ntype A struct{}\n\nfunc (A) F() {}\n\ntype B struct{ A }\n\nfunc (b *B) F() { b.A.F() }\n", "package p\n\ntype A struct{}\n\nfunc (A) F() {}\n", true},
		{"a Go init", "a.go", "package p\n\nvar A = 1\n\nfunc init() { A = 2 }\n", "package p\n\nvar A = 1\n", false},
		{"a Go registration", "a.go", "package p\n\nvar A = 1\n\nvar _ = register(1)\n", "package p\n\nvar A = 1\n", false},
		{"a Go assertion of a type", "a.go", "package p\n\nvar A = 1\n\nvar _ I = A\n", "package p\n\nvar A = 1\n", true},
		{"a Go import for its effect", "a.go", "package p\n\nimport _ \"driver\"\n\nfunc F() {}\n\nfunc G() {}\n", "package p\n\nfunc G() {}\n", false},
		{"a Go method that the library looks for", "a.go", "package p\n\ntype T int\n\nfunc (t *T) MarshalJSON() ([]byte, error) { return nil, nil }\n", "package p\n\ntype T int\n", false},
		{"one thing added", "a.py", python, python + "y = 1\n", false},
		{"nothing", "a.py", python, python, false},
		{"a Go function and its import", "a.go", golang, "package p\n\nvar A, B = 1, 2\n\n// New is kept.\nfunc New() int { return 1 }\n", true},
		{"a Go body", "a.go", golang, "package p\n\nimport \"fmt\"\n\nvar A, B = 1, 2\n\nfunc Old() { fmt.Println() }\n\nfunc New() int { return 2 }\n", false},
		{"broken Go", "a.go", golang, "package p\nfunc {", false},
		{"another language", "a.js", "a\nb\n", "a\n", false},
	} {
		if got := RemovesOnly(c.path, []byte(c.old), []byte(c.new)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if !RemovesOnly("a.py", []byte("x = 1\n"), nil) || RemovesOnly("a.py", nil, []byte("x = 1\n")) {
		t.Error("a deleted file is removed, a new one is not")
	}
}
