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

// TestUnits finds test sources and what a changed path touches.
func TestUnits(t *testing.T) {
	state := plainstate.New(t, `
-- CMakeLists.txt --
project(x)
enable_testing()
add_subdirectory(test)
-- test/CMakeLists.txt --
add_executable(unit unit.cc)
gtest_discover_tests(unit)
add_executable(tool_test tool.cc more.cc)
add_test(NAME tool COMMAND tool_test)
add_executable(links link_a.cc link_b.cc)
-- test/unit.cc --
#include "help.h"
TEST(A, B) {}
-- test/help.h --
#include "deep.h"
-- test/deep.h --
-- test/tool.cc --
int main() {}
-- test/more.cc --
-- test/link_a.cc --
int main() {}
-- third_party/x/CMakeLists.txt --
project(y)
`)
	r := New(Config{})
	for file, want := range map[string]string{
		"": "test/tool.cc test/unit.cc", "test/deep.h": "test/unit.cc", "test/tool.cc": "test/tool.cc", "test/gone.cc": "",
	} {
		units, err := r.Units(context.Background(), state.Tree(), []string{file}, file == "")
		if got := strings.Join(units, " "); err != nil || got != want {
			t.Errorf("%q touches %q, want %q (%v)", file, got, want, err)
		}
	}
	if found := Detect(state.Tree()); len(found) != 1 || found[0].Dir != "." {
		t.Errorf("found %+v", found)
	}
}

// TestErrors reads what compilers say of names.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"'f' was not declared in this scope; did you mean 'g'?":        "f",
		"'struct n::T' has no member named 'm'":                        "m of T",
		"'bar' is not a member of 'n::o'":                              "bar of o",
		"no member named 'bar' in namespace 'n'":                       "bar of n",
		"use of undeclared identifier 'late'":                          "late",
		"no matching function for call to 'n::f(int, const char [2])'": "f!",
		"too many arguments to function 'int twice(int)'":              "twice!",
		"new/thing.h: No such file or directory":                       "thing",
		"'x' does not name a type":                                     "x",
	} {
		found := compileError{text: text, line: 1}.missing(nil)
		got := ""
		if len(found) > 0 {
			if got = found[0].Name; found[0].Owner != "" {
				got += " of " + found[0].Owner
			}
			if found[0].Signature {
				got += "!"
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
