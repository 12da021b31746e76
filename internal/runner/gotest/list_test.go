package gotest

import (
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func listed(t *testing.T, r *Runner, tree files, units ...string) gate.Result {
	t.Helper()
	result, err := r.List(t.Context(), unread{tree}, units)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestListDescribesRows(t *testing.T) {
	tree := files{"go.mod": mod, "sub/go.mod": "module (\n\tm.test/nested\n)\n", "a_test.go": "package p\n\nimport \"testing\"\n\n// TestA is documented.\nfunc TestA(t *testing.T) {\n}\n", "sub/in/b_test.go": "package in_test\nimport . \"testing\"\nfunc FuzzB(f *F) {}\n"}
	result := listed(t, New(Config{Name: "unit"}), tree, ".", "gone")
	if len(result.Rows) != 1 {
		t.Fatalf("%+v", result.Rows)
	}
	row := result.Rows[0].Row
	want := gate.Row{ID: "m.test/x.TestA", Runner: "unit", Name: "TestA", Unit: ".", File: "a_test.go", Line: 6, End: 7, Digest: row.Digest, Context: row.Context}
	if row != want || row.Digest == "" || row.Context == "" || len(result.Rows[0].Observations) > 0 {
		t.Errorf("%+v", result.Rows[0])
	}
	if result := listed(t, New(Config{Dir: "sub"}), tree, "sub/in"); len(result.Rows) != 1 || result.Rows[0].Row.ID != "m.test/nested/in.FuzzB" {
		t.Errorf("%+v", result)
	}
}

func TestDigests(t *testing.T) {
	base := "package p\nimport \"testing\"\nvar x = 1\nfunc TestA(t *testing.T) { if x != 1 { t.Error(\"a  b\") } }\nfunc ExampleA() {\n\tprintln()\n\t// Output: a\n}\n"
	of := func(source string, more ...string) map[string]gate.Row {
		tree := files{"go.mod": mod, "a_test.go": source}
		for _, text := range more {
			tree["b_test.go"] = text
		}
		rows := make(map[string]gate.Row)
		for _, observed := range listed(t, New(Config{}), tree, ".").Rows {
			rows[observed.Row.Name] = observed.Row
		}
		return rows
	}
	before := of(base)
	for _, c := range []struct {
		name, old, new         string
		test, example, context bool // changed
	}{
		{"a comment", "{ if", "{ /* why */ if", false, false, false},
		{"layout", "{ if x != 1 {", "{\n\n\tif   x!=1 {", false, false, false},
		{"position", "import", "\n\n\nimport", false, false, false},
		{"a literal's blanks", "a  b", "a b", true, false, false},
		{"an assertion", "x != 1", "x != 2", true, false, false},
		{"an example's output", "Output: a", "Output: b", false, true, false},
		{"a helper", "var x = 1", "var x = 2", false, false, true},
		{"an import", "\"testing\"", "\"testing\"; import _ \"os\"", false, false, true},
		{"a constraint", "package p", "//go:build !special\n\npackage p", false, false, true},
	} {
		after := of(strings.Replace(base, c.old, c.new, 1))
		got := [3]bool{before["TestA"].Digest != after["TestA"].Digest, before["ExampleA"].Digest != after["ExampleA"].Digest, before["TestA"].Context != after["TestA"].Context}
		if got != [3]bool{c.test, c.example, c.context} {
			t.Errorf("%s: test, example, context changed: %v", c.name, got)
		}
	}
	if renamed := of(strings.Replace(base, "TestA", "TestRenamed", 1)); renamed["TestRenamed"].Digest != before["TestA"].Digest {
		t.Error("a renamed test is another test")
	}
	if with := of(base, "package p\nfunc TestB(t *testing.T) {}\n"); with["TestA"].Digest != before["TestA"].Digest {
		t.Error("another file's test changes this one")
	}
}

func TestListOfAFileThatDoesNotParse(t *testing.T) {
	tree := files{
		"go.mod": mod, "a_test.go": "package p\nimport \"testing\"\nfunc TestGood(t *testing.T) {}\n",
		"b_test.go": "package p\nimport \"testing\"\nfunc TestBad(t *testing.T) { x := \n}\n", "only/c_test.go": "package only\nfunc {\n", "none/d_test.go": "not go\n",
	}
	result := listed(t, New(Config{}), tree, ".", "only", "none")
	expect(t, said(result), map[string]string{"m.test/x.TestGood": "listed", "m.test/x.TestBad": "errored compile"})
	if len(result.Units) != 2 || result.Units[0].Unit != "only" || result.Units[0].Observation.Reason != gate.Compile || result.Units[0].Observation.Place != (gate.Place{File: "only/c_test.go", Line: 2}) {
		t.Errorf("%+v", result.Units)
	}
}
