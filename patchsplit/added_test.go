package patchsplit

import (
	"fmt"
	"strings"
	"testing"
)

func TestAddedLinesAndFunctions(t *testing.T) {
	patch, err := Parse(strings.NewReader("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -10,3 +10,4 @@ def outer(x):\n     y = 1\n-    z = 2\n+    z = 3\n+    w = 4\n     return y\n@@ -30,2 +31,3 @@ class C:\n     a = 1\n+    def inner(self): pass\n     b = 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(patch.Files[0].AddedLines(), patch.Files[0].Functions())
	if want := "[{11     z = 3} {12     w = 4} {32     def inner(self): pass}] [outer inner]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
