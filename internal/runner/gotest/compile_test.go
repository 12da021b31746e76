package gotest

import (
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func TestCompileErrors(t *testing.T) {
	found := compileErrors("# p [p.test]\n./a_test.go:5:7: undefined: money.Split\n./a_test.go:9:2: cannot use x (variable of type int) as string value in argument to Join:\n\thave int\nvet: note\n./a_test.go:9:2: too many errors\n", "sub")
	want := []compileError{{"sub/a_test.go", 5, "undefined: money.Split"}, {"sub/a_test.go", 9, "cannot use x (variable of type int) as string value in argument to Join: have int"}}
	if len(found) != 2 || found[0] != want[0] || found[1] != want[1] {
		t.Errorf("%+v", found)
	}
}

func TestMissingNames(t *testing.T) {
	for _, c := range []struct {
		message string
		want    gate.Missing
	}{
		{"undefined: Sign", gate.Missing{Name: "Sign"}},
		{"undefined: money.Split", gate.Missing{Name: "Split", Owner: "money"}},
		{"c.Sign undefined (type *Number has no field or method Sign)", gate.Missing{Name: "Sign", Owner: "Number"}},
		{"c.sign undefined (type struct{a int; b string} has no field or method sign, but does have method Sign)", gate.Missing{Name: "sign", Owner: "struct{a int; b string}"}},
		{"money.split undefined (cannot refer to unexported name)", gate.Missing{Name: "split"}},
		{"unknown field Depth in struct literal of type Options", gate.Missing{Name: "Depth", Owner: "Options"}},
		{"too few values in struct literal of type m.Options", gate.Missing{Name: "Options", Signature: true}},
		{"too many arguments in call to pkg.Open have (number) want ()", gate.Missing{Name: "Open", Signature: true}},
		{"not enough arguments in call to a.b.Open have () want (int)", gate.Missing{Name: "Open", Signature: true}},
		{"cannot use ... in call to non-variadic Apply", gate.Missing{Name: "Apply", Signature: true}},
		{"assignment mismatch: 2 variables but m.Open returns 1 value", gate.Missing{Name: "Open", Signature: true}},
		{"assignment mismatch: 1 variable but New().Open(a) returns 2 values", gate.Missing{Name: "Open", Signature: true}},
		{"cannot use 1 (untyped int constant) as string value in argument to m.Open", gate.Missing{Name: "Open", Signature: true}},
		{"cannot use T{} (value of type T) as I value in argument to f: T does not implement I (missing method Close)", gate.Missing{Name: "Close"}},
		{"T does not implement I (wrong type for method Close) have Close() want Close() error", gate.Missing{Name: "Close", Signature: true}},
		{"m.Run() (no value) used as value", gate.Missing{Name: "Run", Signature: true}},
		{"invalid operation: cannot call non-function m.Version (variable of type string)", gate.Missing{Name: "Version", Signature: true}},
		{"no required module provides package github.com/a/b; to add it:", gate.Missing{Name: "github.com/a/b"}},
		{"package example.com/m/new is not in std (/usr/lib/go/src/example.com/m/new)", gate.Missing{Name: "example.com/m/new"}},
		{"could not import m/new (open : no such file)", gate.Missing{Name: "m/new"}},
	} {
		if got, ok := (compileError{"a_test.go", 1, c.message}).missing(); !ok || got != c.want {
			t.Errorf("%q: %+v, want %+v", c.message, got, c.want)
		}
	}
}

func TestOtherNamesOfTheLineComeLast(t *testing.T) {
	source := []byte("x := Make(old, \"text New\", true) // Comment\n")
	got := missing([]compileError{{"p.go", 1, "invalid operation: mismatched types"}, {"p.go", 1, "undefined: Make"}}, source)
	want := []gate.Missing{{Name: "Make", FromProduction: true}, {Name: "x", FromProduction: true}, {Name: "x", Signature: true, FromProduction: true}, {Name: "old", FromProduction: true}, {Name: "old", Signature: true, FromProduction: true}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
}
