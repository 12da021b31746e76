package patchsplit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func seeds(f *testing.F) {
	for _, text := range []string{
		simple, created, simple + created,
		"--- a/d/x.py\t2024-01-01\n+++ b/d/x.py\n" + hunk,
		"diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n",
		"diff --git \"a/t\\tb\" \"b/t\\tb\"\nold mode 100644\nnew mode 100755\n",
		"diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\ndiff --git a/x b/x\nnew file mode 120000\nindex 0000000..7898192\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
		"From 1 Mon\nSubject: x\n\n---\n" + simple + "-- \n2.39\n\n",
		"diff --git a/x.rs b/x.rs\nindex 7898192..6178079 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,5 +1,7 @@ mod tests {\n fn a() {\n+    b();\n }\n \n #[test]\n-fn t() {}\n+fn t() { }\n+fn u() {}\n",
		"diff --git a/tests/test_x.py b/tests/test_x.py\nold mode 100644\nnew mode 100755\n" + created,
	} {
		f.Add([]byte(text))
	}
}

// FuzzParse holds the laws of the parser: what is accepted prints as it was,
// names no path outside the tree, and go-gitdiff reads it too.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		piecesAgree(t, string(text))
		patch, err := Parse(bytes.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "reading diff: ") {
				t.Fatalf("error without its place: %v", err)
			}
			return
		}
		if !bytes.Equal(patch.Bytes(), text) {
			t.Fatalf("prints %q", patch.Bytes())
		}
		for _, file := range patch.Files {
			if err := checkPath(file.Path); err != nil {
				t.Fatal(err)
			}
			if len(file.raw) == 0 || bytes.Count(text[:bytes.Index(text, []byte(file.raw))], []byte("\n"))+1 > file.Line {
				t.Fatalf("file %q stands on line %d", file.Path, file.Line)
			}
			if file.content.body != "" {
				if _, err := file.content.parse(); err != nil {
					t.Fatalf("go-gitdiff refuses file %q: %v", file.Path, err)
				}
			}
		}
	})
}

// FuzzSplit holds the laws of splitting: each file is in one part and in the
// patch's order, and each part is a patch again with the same files.
func FuzzSplit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		patch, err := Parse(bytes.NewReader(text))
		if err != nil {
			return
		}
		c, err := NewClassifier(Rules{Neutral: []string{"n"}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		production, test, neutral := patch.Split(c)
		seen := make(map[string]int)
		for _, part := range []*Patch{production, test, neutral} {
			again, err := Parse(bytes.NewReader(part.Bytes()))
			if err != nil {
				t.Fatalf("a part is no patch: %v\n%s", err, part.Bytes())
			}
			if fmt.Sprint(again.Changes()) != fmt.Sprint(part.Changes()) {
				t.Fatalf("a part reads as %v, was %v", again.Changes(), part.Changes())
			}
			for i, file := range part.Files {
				if own, read := file.Fragments(), again.Files[i].Fragments(); fmt.Sprint(own) != fmt.Sprint(read) {
					t.Fatalf("a part has the hunks %v, reads as %v", own, read)
				}
				seen[file.raw]++
			}
		}
		for i, part := range patch.Parts(c) {
			if part.Part == Mixed && seen[patch.Files[i].raw] == 0 {
				halves := patch.place(c).cuts[i]
				if halves[Production] == "" || halves[Undecided] != "" || halves[Neutral] != "" {
					t.Fatalf("%q is cut into %q", part.Path, halves)
				}
				for _, half := range halves {
					if half != "" {
						seen[half]--
					}
				}
				continue
			}
			seen[patch.Files[i].raw]--
		}
		for raw, n := range seen {
			if n != 0 {
				t.Fatalf("section lost or doubled: %q", raw)
			}
		}
		for _, change := range Split(patch.Changes(), c) {
			if change.Part == Undecided || change.Why == "" {
				t.Fatalf("%q is in no part", change.Path)
			}
		}
	})
}

// FuzzDeclaredNames holds that any source is read to its end, that a file
// declares nothing new against itself, and that merging has no order.
func FuzzDeclaredNames(f *testing.F) {
	f.Add("a.py", "class A:\n    x: int = 1\n    def f(self, a, *, b=2): self.y = a\n", "def g(): pass\n")
	f.Add("a.go", "package a\n\ntype T struct{ X int }\nfunc (t *T) F(a int) {}\n", "package a\n")
	f.Add("a.rs", "fn main() {}", "")
	f.Add("a.py", "x = '''open\n\\", "(((")
	f.Fuzz(func(t *testing.T, path, one, two string) {
		if same := DeclaredNames(path, []byte(one), []byte(one)); len(same.Added)+len(same.Changed) > 0 {
			t.Fatalf("new against itself: %v", same)
		}
		a, b := DeclaredNames(path, []byte(one), []byte(two)), DeclaredNames(path+"x.py", nil, []byte(two))
		var ab, ba Names
		ab.Merge(a)
		ab.Merge(b)
		ba.Merge(b)
		ba.Merge(a)
		if fmt.Sprint(ab.Added, ab.Changed) != fmt.Sprint(ba.Added, ba.Changed) {
			t.Fatalf("order of merging: %v against %v", ab.Added, ba.Added)
		}
	})
}

var mixedNames = []string{"a.rs", "a.py", "a.ts", "a.d", "a.zig", "a.cpp"}

// FuzzMixed holds the laws of mixed files: all hunks together give head, none
// gives base, each is of one part, in order; and hunks that can be cut apart
// give the whole in either order.
func FuzzMixed(f *testing.F) {
	f.Add(uint8(0), "fn a() {}\n", "fn a() { }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n")
	f.Add(uint8(0), "/// ```\n/// a();\n/// ```\nfn a() {}\n", "/// ```\n/// b();\n/// ```\nfn a() {}")
	f.Add(uint8(1), "def f():\n    \"\"\"\n    >>> f()\n    \"\"\"\nimport doctest; doctest.testmod()\n", "if __name__ == '__main__':\n    assert f()\n")
	f.Add(uint8(2), "const a = /[/]{/\nif (import.meta.vitest) {\n}\n", "if (import.meta.vitest) { `${1}` }\n")
	f.Add(uint8(3), "unittest { }\n", "int a;\nversion(unittest) int b;\n")
	f.Add(uint8(4), "test \"a\" {}\n", "\\\\ test {\ntest {\n")
	f.Add(uint8(5), "#include \"doctest.h\"\nTEST_CASE(\"a\") { }\n", "#ifdef UNIT_TEST\n#endif\n")
	f.Fuzz(func(t *testing.T, language uint8, old, new string) {
		path := mixedNames[int(language)%len(mixedNames)]
		c := classifier(t, Rules{}, mapTree{path: old}, mapTree{path: new})
		parts := Split([]FileChange{{Path: path, Status: Modified}}, c)
		if len(parts) != 1 || parts[0].Part == Undecided {
			t.Fatalf("%v", parts)
		}
		if parts[0].Part == Mixed {
			bothSides(t, old, new, parts[0].Hunks)
		}
		edits, kind := editsOf([]byte(old), []byte(new), c.inlineTests(path, []byte(old)), c.inlineTests(path, []byte(new)))
		if kind == "" {
			return
		}
		d := document{[]block{{old: linesOf([]byte(old), nil), new: linesOf([]byte(new), nil), edits: edits}}, true}
		if production, test, ok := d.apart(); ok && !agree(d.text(oldSide), d.text(newSide), production, test) {
			t.Fatal("the halves do not give the whole")
		}
	})
}
