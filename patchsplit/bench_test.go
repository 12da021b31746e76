package patchsplit

import (
	"bytes"
	"fmt"
	"testing"
)

// bigDiff is a diff of so many files with 20 lines each.
func bigDiff(files int) []byte {
	var text bytes.Buffer
	for i := range files {
		path := fmt.Sprintf("pkg%d/mod_%d.py", i%50, i)
		if i%3 == 0 {
			path = fmt.Sprintf("tests/pkg%d/test_%d.py", i%50, i)
		}
		fmt.Fprintf(&text, "diff --git a/%s b/%s\nindex 7898192..6178079 100644\n--- a/%s\n+++ b/%s\n@@ -10,12 +10,13 @@ def f():\n", path, path, path, path)
		for range 6 {
			text.WriteString("     context = line\n")
		}
		text.WriteString("-    old = 1\n-    old = 2\n+    new = 1\n+    new = 2\n+    new = 3\n")
		for range 4 {
			text.WriteString("     context = line\n")
		}
	}
	return text.Bytes()
}

// BenchmarkSplitDiff shows that the time for a diff grows with its size alone.
func BenchmarkSplitDiff(b *testing.B) {
	for _, files := range []int{1250, 5000, 20000} {
		text := bigDiff(files)
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				patch, err := Parse(bytes.NewReader(text))
				if err != nil {
					b.Fatal(err)
				}
				c, err := NewClassifier(Rules{}, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				production, test, _ := patch.Split(c)
				if len(production.Bytes())+len(test.Bytes()) != len(text) {
					b.Fatal("bytes were lost")
				}
			}
		})
	}
}

// BenchmarkLargeTree classifies a change in a repository of 50,000 files, with
// every rule asked that looks around in it.
func BenchmarkLargeTree(b *testing.B) {
	tree := mapTree{"go.mod": "module example.com/m\n", "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"}
	for i := range 25_000 {
		tree[fmt.Sprintf("pkg%d/f%d.go", i%500, i)] = "package p\n"
		tree[fmt.Sprintf("src/pkg%d/m%d.py", i%500, i)] = "import os\n"
	}
	frozen := frozenTree{tree, tree.Paths()}
	changed := []string{"pkg1/f1.go", "pkg1/new_test.go", "pkg2/data.xml", "src/pkg3/test_x.py", "tests/test_y.py", "README.md", "samples/x.json", "internal/testutil/x.go"}
	b.ResetTimer()
	for b.Loop() {
		c, err := NewClassifier(Rules{}, frozen, frozen)
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range changed {
			c.File(path)
		}
	}
}

type frozenTree struct {
	mapTree
	paths []string
}

func (f frozenTree) Paths() []string { return f.paths }
