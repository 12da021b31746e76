package patchsplit

import (
	"fmt"
	"strings"
	"testing"
)

// sidesOf reads the runs of files off a diff that is made line by line: lines
// that both sides have in order stay.
func sidesOf(path, old, new string) Sides {
	was, is := strings.SplitAfter(old, "\n"), strings.SplitAfter(new, "\n")
	s := Sides{Path: path, Old: []byte(old), New: []byte(new)}
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		if i < len(was) && j < len(is) && was[i] == is[j] {
			i, j = i+1, j+1
			continue
		}
		run := Run{Path: path, OldStart: i + 1, NewStart: j + 1}
		ni, nj := nextCommon(was[i:], is[j:])
		run.Old, run.New = was[i:i+ni], is[j:j+nj]
		i, j = i+ni, j+nj
		s.Runs = append(s.Runs, run)
	}
	return s
}

// nextCommon is how many lines to pass over on each side to the next one that
// both have.
func nextCommon(was, is []string) (int, int) {
	for sum := 0; sum <= len(was)+len(is); sum++ {
		for i := 0; i <= sum && i <= len(was); i++ {
			if j := sum - i; j <= len(is) && (i == len(was) && j == len(is) || i < len(was) && j < len(is) && was[i] == is[j] && was[i] != "\n") {
				return i, j
			}
		}
	}
	return len(was), len(is)
}

func groupsOf(groups []HunkGroup) string {
	var list []string
	for _, g := range groups {
		var places []string
		for _, run := range g.Runs {
			places = append(places, fmt.Sprintf("%s:%d", run.Path, run.NewStart))
		}
		text := strings.Join(places, "+")
		if g.Why != "" {
			text += " (" + g.Why + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

const goOld = `package p

import "fmt"

type T struct {
	A int
}

// F is f.
func F(n int) int {
	fmt.Print(n)
	n++
	return n
}

func G() int {
	return 1
}
`

func TestGroups(t *testing.T) {
	edit := func(pairs ...string) string {
		text := goOld
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Fatalf("%q does not occur", pairs[i])
			}
			text = strings.Replace(text, pairs[i], pairs[i+1], 1)
		}
		return text
	}
	for _, c := range []struct {
		name  string
		files []Sides
		want  string
	}{
		{"two functions", []Sides{sidesOf("a.go", goOld, edit("	n++\n", "	n += 2\n", "return 1", "return 2"))}, "a.go:12, a.go:17"},
		{"one function", []Sides{sidesOf("a.go", goOld, edit("	fmt.Print(n)\n", "	fmt.Println(n)\n", "return n", "return n + 1"))}, "a.go:11+a.go:13"},
		{"an import and its use", []Sides{sidesOf("a.go", goOld, edit(`import "fmt"`, "import \"fmt\"\nimport \"os\"", "return 1", "return os.Getpid()"))}, "a.go:4+a.go:18"},
		{"an import of another file is none", []Sides{
			sidesOf("a.go", goOld, edit(`import "fmt"`, "import \"fmt\"\nimport \"os\"", "	n++\n", "	n += os.Getpid()\n")),
			sidesOf("b.go", goOld, edit("return 1", "return os")),
		}, "a.go:4+a.go:13, b.go:17"},
		{"a field and its use elsewhere", []Sides{
			sidesOf("a.go", goOld, edit("	A int\n", "	A int\n	Deep bool\n")), sidesOf("b.go", goOld, edit("return 1", "return T{Deep: true}.A")),
		}, "a.go:7+b.go:17"},
		{"a signature and its calls", []Sides{
			sidesOf("a.go", goOld, edit("func F(n int) int", "func F(n, m int) int")), sidesOf("b.go", goOld, edit("return 1", "return F(1, 2)")),
		}, "a.go:10+b.go:17"},
		{"what is taken away", []Sides{sidesOf("a.go", goOld, edit("import \"fmt\"\n", "", "	fmt.Print(n)\n", ""))}, "a.go:3+a.go:10"},
		{"a comment", []Sides{sidesOf("a.go", goOld, edit("// F is f.", "// F is more.", "return 1", "return 2"))}, "a.go:9 (comments or layout), a.go:17"},
		{"logging", []Sides{sidesOf("a.go", goOld, edit("	n++\n", "	log.Printf(\"%d\", n)\n	n++\n"))}, "a.go:12 (logging)"},
		{"python methods", []Sides{sidesOf("a.py", "class A:\n    def f(self):\n        x = 1\n        return x\n\n    def g(self):\n        return 2\n", "class A:\n    def f(self):\n        x = 3\n        return x + 1\n\n    def g(self):\n        return 4\n")}, "a.py:3, a.py:7"},
		{"python import", []Sides{sidesOf("a.py", "import os\n\n\ndef f():\n    return os\n", "import os\nimport re\n\n\ndef f():\n    return os, re\n")}, "a.py:2+a.py:6"},
		{"python data", []Sides{sidesOf("a.py", "X = 1\nY = 2\n\n\ndef f():\n    return 3\n", "X = 5\nY = 2\n\n\ndef f():\n    return X\n")}, "a.py:1+a.py:6"},
		{"other languages stand alone", []Sides{sidesOf("a.yml", "a: 1\nb: 2\nc: 3\n", "a: 7\nb: 2\nc: 7\n")}, "a.yml:1, a.yml:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := groupsOf(Groups(c.files)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWithoutAllRunsIsBase, and without none is head: the law of taking back.
func TestWithoutAllRunsIsBase(t *testing.T) {
	const patch = `diff --git a/a.txt b/a.txt
index 1111111..2222222 100644
--- a/a.txt
+++ b/a.txt
@@ -1,4 +1,5 @@
-one
+ONE
+one and a half
 two
 three
-four
+FOUR
@@ -6,2 +6,0 @@ six
-six
-seven
@@ -9 +8,2 @@ eight
 nine
+ten
`
	const old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
	const new = "ONE\none and a half\ntwo\nthree\nFOUR\nfive\neight\nnine\nten\n"
	p, err := Parse(strings.NewReader(patch))
	if err != nil {
		t.Fatal(err)
	}
	runs := p.Files[0].Runs()
	if len(runs) != 4 {
		t.Fatalf("%d runs: %+v", len(runs), runs)
	}
	if got := string(Without([]byte(new), runs)); got != old {
		t.Errorf("without all: %q", got)
	}
	if got := string(Without([]byte(new), nil)); got != new {
		t.Errorf("without none: %q", got)
	}
	if got, want := string(Without([]byte(new), runs[2:3])), "ONE\none and a half\ntwo\nthree\nFOUR\nfive\nsix\nseven\neight\nnine\nten\n"; got != want {
		t.Errorf("without the third: %q", got)
	}
}

func TestEmptied(t *testing.T) {
	for _, c := range []struct{ name, path, old, new, want, names string }{
		{"go", "a.go", "package p\n\nfunc F() int { return 1 }\n\nfunc G() {}\n",
			"package p\n\nfunc F() int { return 2 }\n\nfunc G() {}\n\nfunc (t *T) H(a int) (b int, err error) { return a, nil }\n\nfunc I() (int, error) { return 1, nil }\n\nfunc init() { F() }\n",
			"package p\n\nfunc F() (_ int) { return; return 2 }\n\nfunc G() {}\n\nfunc (t *T) H(a int) (b int, err error) { return; return a, nil }\n\nfunc I() (_ int, _ error) { return; return 1, nil }\n\nfunc init() { F() }\n", "F T.H I"},
		{"go comments only", "a.go", "package p\n\nfunc F() { g() }\n", "package p\n\nfunc F() { g() /* more */ }\n", "", ""},
		{"python", "a.py", "def f(a):\n    return a\n\n\ndef g():\n    return 1\n",
			"def f(a,\n      b=(1, 2)):\n    \"\"\"Says.\n\n    More.\n    \"\"\"\n    # why\n    if a:\n        return b\n    return a\n\n\ndef g():\n    return 1\n\n\nclass A:\n    def h(self):\n        def inner():\n            return 2\n        return inner\n\n    def i(self): return 3\n",
			"def f(a,\n      b=(1, 2)):\n    \"\"\"Says.\n\n    More.\n    \"\"\"\n    # why\n    return\n    if a:\n        return b\n    return a\n\n\ndef g():\n    return 1\n\n\nclass A:\n    def h(self):\n        return\n        def inner():\n            return 2\n        return inner\n\n    def i(self): return 3\n", "f A.h"},
		{"another language", "a.rb", "", "def f\n  1\nend\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, names := Emptied(c.path, []byte(c.old), []byte(c.new))
			if string(got) != c.want || strings.Join(names, " ") != c.names {
				t.Errorf("names %q\n%s\nwant %q\n%s", names, got, c.names, c.want)
			}
		})
	}
}

// TestLogicalLinesKnowWhereTheyBegin: emptying and grouping count on it.
func TestLogicalLinesKnowWhereTheyBegin(t *testing.T) {
	source := "a = 1\n\n# note\nb = (2,\n  3)\nc = \"\"\"x\ny\"\"\"\nd = 1 + \\\n  2\ne = 5; f = 6\n"
	var got []string
	for _, line := range pyLines([]byte(source)) {
		got = append(got, fmt.Sprint(line.first+1))
	}
	if want := "1 4 6 8 10 10"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
