package gotest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

func TestWorkspacesAndModules(t *testing.T) {
	test := "package p\nimport \"testing\"\nfunc TestA(t *testing.T) {}\n"
	tree := files{
		"go.work": "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module m.test/a\n\ngo 1.21\n", "a/p/a_test.go": test,
		"b/go.mod": "module m.test/b\n\ngo 1.21\n\nrequire m.test/a v1.0.0\n", "b/b.go": "package p\n", "b/b_test.go": "package p\nimport (\n\t_ \"m.test/a\"\n\t\"testing\"\n)\nfunc TestB(t *testing.T) {}\n", "a/a.go": "package a\n",
		"c/go.mod": "module m.test/c\n\ngo 1.21\n", "c/c_test.go": test,
	}
	state := newPlain(t, tree)
	for _, c := range []struct {
		dir  string
		want map[string]string
	}{
		{".", map[string]string{"m.test/a/p.TestA": "passed", "m.test/b.TestB": "passed"}},
		{"c", map[string]string{"m.test/c.TestA": "passed"}}, // not of the workspace above it
	} {
		r := New(Config{Dir: c.dir})
		units, err := r.Units(t.Context(), tree, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, said(run(t, r, state, gate.Batch{Units: units})), c.want)
	}
}

func TestIsolationInANestedModule(t *testing.T) {
	state := newPlain(t, files{
		"a_test.go": "package p\n", "go.mod": mod,
		"sub/go.mod": "module m.test/sub\n\ngo 1.21\n", "sub/a_test.go": "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { New() }\nvar _ = helper\nfunc helper() { TestB(nil) }\n",
		"sub/in/a_test.go": "package in\nimport \"testing\"\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) { New() }\n",
	})
	result := run(t, New(Config{Dir: "sub"}), state, gate.Batch{Units: []string{"sub", "sub/in"}})
	expect(t, said(result), map[string]string{"m.test/sub.TestA": "errored compile", "m.test/sub/in.TestA": "passed", "m.test/sub/in.TestB": "errored compile"})
	if o := observation(result, "m.test/sub/in.TestB"); o.Place != (gate.Place{File: "sub/in/a_test.go", Line: 4}) {
		t.Errorf("%+v", o)
	}
	if got := strings.Join(result.Commands[0], " "); !strings.HasPrefix(got, "env -C sub go test ") {
		t.Errorf("the command is shown as %q, which does not run from the root", got)
	}
}

func TestLoaded(t *testing.T) {
	outside := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m.test/y\n", "y.go": "package y\n"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	test := "package x\nimport (\n\t_ \"m.test/y\"\n\t\"testing\"\n)\nfunc TestA(t *testing.T) {}\n"
	subjects := []string{"x.go", "y/y.go", "unused/u.go", "x_test.go", "README.md"}
	for _, c := range []struct {
		replace string
		inTree  map[string]bool
	}{
		{"./y", map[string]bool{"x.go": true, "y/y.go": true}},
		{outside, map[string]bool{"x.go": true, "y/y.go": false}},
	} {
		tree := files{
			"go.mod": mod + "require m.test/y v1.0.0\nreplace m.test/y => " + c.replace + "\n", "x.go": "package x\n", "x_test.go": test,
			"y/go.mod": "module m.test/y\n", "y/y.go": "package y\n", "unused/u.go": "package unused\n",
		}
		state := newPlain(t, tree)
		link := filepath.Join(t.TempDir(), "link") // the work tree's path may hold a link
		if err := os.Symlink(state.Dir(), link); err != nil {
			t.Fatal(err)
		}
		state.State = plainstate.At(t, link)
		result := run(t, New(Config{}), state, gate.Batch{Units: []string{"."}, Subjects: subjects})
		got := make(map[string]bool)
		for _, l := range result.Loaded {
			got[l.Subject] = l.InTree
		}
		if len(got) != len(c.inTree) || got["x.go"] != c.inTree["x.go"] || got["y/y.go"] != c.inTree["y/y.go"] {
			t.Errorf("replaced by %s: %+v", c.replace, result.Loaded)
		}
		expect(t, said(result), map[string]string{"m.test/x.TestA": "passed"})
	}
}

func TestTheRunWritesNoModuleFile(t *testing.T) {
	tree := files{"go.mod": mod, "a_test.go": "package p\nimport (\n\t_ \"golang.org/x/nowhere\"\n\t\"testing\"\n)\nfunc TestA(t *testing.T) {}\n"}
	state := newPlain(t, tree)
	t.Setenv("GOFLAGS", "-mod=mod")
	result := run(t, New(Config{Env: map[string]string{"GOFLAGS": "-mod=mod"}}), state, gate.Batch{Units: []string{"."}})
	content, err := os.ReadFile(filepath.Join(state.Dir(), "go.mod"))
	if err != nil || string(content) != tree["go.mod"] {
		t.Errorf("go.mod became %q (%v)", content, err)
	}
	expect(t, said(result), map[string]string{"m.test/x.TestA": "passed"}) // an import for its effects alone takes nobody down
}
