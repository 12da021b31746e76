package ctest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestConformance builds and runs one small project with GoogleTest, doctest and
// plain programs, in which every situation has one right answer.
func TestConformance(t *testing.T) { conformance(t, "gtest", "libgtest-dev and doctest-dev") }

// TestCatch2 does so with Catch2, whose header takes long to compile.
func TestCatch2(t *testing.T) {
	plainstate.Heavy(t, "compiles Catch2")
	conformance(t, "catch2", "catch2")
}

func conformance(t *testing.T, name, packages string) {
	plainstate.Need(t, "ctest", "--version")
	plainstate.Need(t, "c++", "--version")
	t.Setenv("HOME", t.TempDir())
	text, err := os.ReadFile("testdata/conformance/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	state := plainstate.New(t, string(text))
	r := New(Config{Timeout: 8 * time.Second})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Run(context.Background(), state, gate.Batch{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range result.Units {
		if u.Observation.Reason == gate.Setup {
			t.Skipf("the frameworks (Debian's %s) are not installed: %s", packages, u.Observation.Message)
		}
	}
	comment, _, _ := strings.Cut(string(text), "\n-- ")
	plainstate.Compare(t, result, comment)
	if t.Failed() || name != "gtest" {
		return
	}
	one, err := r.Run(context.Background(), state, gate.Batch{Units: []string{"tests/calc_test.cc"}, Rows: []string{"Calc.Asserts", "Odd/Each.Holds/2"}})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, one, "Calc.Asserts: failed assertion\nOdd/Each.Holds/2: failed assertion\n")
	for _, o := range one.Rows {
		if o.Row.ID == "Calc.Asserts" && (o.Row.Line != 12 || o.Row.End != 14 || o.Observations[0].Place != (gate.Place{File: "tests/calc_test.cc", Line: 13})) {
			t.Errorf("Calc.Asserts: %+v", o)
		}
	}
	listed, err := r.List(context.Background(), state, []string{"tests/new_test.cc"})
	if err != nil || len(listed.Rows) != 6 {
		t.Errorf("listed %v, %v", plainstate.Lines(listed), err)
	}
}
