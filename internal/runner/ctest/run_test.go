package ctest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestConformance builds and runs one small project with GoogleTest, doctest and
// plain programs, in which every situation has one right answer, and one with
// Catch2, whose header takes long to compile.
func TestConformance(t *testing.T) {
	for name, packages := range map[string]string{"gtest": "libgtest-dev and doctest-dev", "catch2": "catch2"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			conformance.Run(t, "testdata/conformance/"+name+".txtar", conformance.Subject{
				New: func(dir string, timeout time.Duration) gate.Runner { return New(Config{Dir: dir, Timeout: timeout}) },
				Absent: func(result gate.Result) string {
					for _, u := range result.Units {
						if u.Observation.Reason == gate.Setup {
							return "the frameworks (Debian's " + packages + ") are not installed: " + u.Observation.Message
						}
					}
					return ""
				},
			})
		})
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

// TestOutcome reads what programs that are one row print of their failures.
func TestOutcome(t *testing.T) {
	state := plainstate.New(t, "-- tests/misc.c --\nint main() {}\n-- tests/other.c --\n")
	s := &session{state: state}
	for name, c := range map[string]struct {
		words, way, message, at string
		reason                  gate.Reason
	}{
		"Unity": {
			words: "/r/tests/misc.c:80:first:PASS\n/r/tests/misc.c:22:second:FAIL: Expected 1 Was 2\n\n---\n2 Tests 1 Failures 0 Ignored\nFAIL\n", way: "Failed",
			message: "tests/misc.c:22:second:FAIL: Expected 1 Was 2", at: "tests/misc.c:22", reason: gate.Assertion,
		},
		"Unity, a crash after tests that passed": {
			words: "tests/misc.c:80:first:PASS\ntests/misc.c:81:second:IGNORE: later\n", way: "SEGFAULT",
			message: "SEGFAULT tests/misc.c:80:first:PASS tests/misc.c:81:second:IGNORE: later", at: ":0", reason: gate.Crash,
		},
		"Catch2": {
			words: "tests/misc.c:7: FAILED:\n  REQUIRE( a == b )\nwith expansion:\n  1 == 2\n", way: "Failed",
			message: "tests/misc.c:7: FAILED: REQUIRE( a == b ) with expansion: 1 == 2", at: "tests/misc.c:7", reason: gate.Assertion,
		},
		"a library's place comes first": {
			words: "/usr/include/lib.h:3: Failure\ntests/other.c:4: Failure\n", way: "Failed",
			message: "/usr/include/lib.h:3: Failure tests/other.c:4: Failure", at: "tests/other.c:4", reason: gate.Assertion,
		},
	} {
		o := s.outcome(junit.Case{Problems: []junit.Problem{{Tag: "failure", Text: c.words}}}, c.way)
		if at := fmt.Sprintf("%s:%d", o.Place.File, o.Place.Line); o.Reason != c.reason || strings.Join(strings.Fields(o.Message), " ") != c.message || at != c.at {
			t.Errorf("%s: %s at %s: %q", name, o.Reason, at, o.Message)
		}
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
