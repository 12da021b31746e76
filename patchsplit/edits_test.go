package patchsplit

import (
	"strings"
	"testing"
)

func TestSameEdits(t *testing.T) {
	diff := func(start, context, old, new string) string {
		return "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -" + start + ",2 +" + start + ",2 @@\n " + context + "\n-" + old + "\n+" + new + "\n"
	}
	docs := "diff --git a/NEWS b/NEWS\n--- a/NEWS\n+++ b/NEWS\n@@ -1 +1 @@\n-x\n+y\n"
	binary := "diff --git a/a.bin b/a.bin\nindex 1111111..2222222 100644\nBinary files a/a.bin and b/a.bin differ\n"
	code := func(path string) bool { return path != "NEWS" }
	for _, c := range []struct {
		name, a, b string
		keep       func(string) bool
		want       bool
	}{
		{"the same elsewhere in the file", diff("1", "x", "a", "b"), diff("9", "y", "a", "b"), nil, true},
		{"another line", diff("1", "x", "a", "b"), diff("1", "x", "a", "c"), nil, false},
		{"one more file", diff("1", "x", "a", "b"), diff("1", "x", "a", "b") + docs, nil, false},
		{"one more file, not looked at", diff("1", "x", "a", "b"), diff("1", "x", "a", "b") + docs, code, true},
		{"binary", binary, binary, nil, false},
		{"nothing", "", "", nil, false},
	} {
		a, err := Parse(strings.NewReader(c.a))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse(strings.NewReader(c.b))
		if err != nil {
			t.Fatal(err)
		}
		if got := SameEdits(a, b, c.keep); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
