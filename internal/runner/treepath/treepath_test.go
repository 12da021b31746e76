package treepath

import (
	"io/fs"
	"slices"
	"testing"
)

func TestTreepath(t *testing.T) {
	for _, c := range []struct {
		dir, name, relative string
		within              bool
	}{
		{".", "a/b", "a/b", true}, {"a", "a/b", "b", true}, {"a", "a", "a", true}, {"a", "ab/c", "ab/c", false}, {"a/b", "a", "a", false},
	} {
		if got := Within(c.dir, c.name); got != c.within {
			t.Errorf("%s within %s: %v", c.name, c.dir, got)
		}
		if got := Relative(c.dir, c.name); got != c.relative {
			t.Errorf("%s from %s: %s", c.name, c.dir, got)
		}
	}
	if !HasPart("a/vendor/b", "testdata", "vendor") || HasPart("a/vendored", "vendor") || HasPart(".", "vendor") {
		t.Error("parts of directories are not told apart")
	}
}

func TestNaming(t *testing.T) {
	texts := map[string]string{"a": "uses Helper", "b": "uses nothing"}
	read := func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
	for name, want := range map[string][]string{"Helper": {"a"}, "Other": {"a", "b", "gone"}} {
		if got := Naming(read, []string{"a", "b", "gone"}, name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
