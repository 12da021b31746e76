package jvm

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

var _ gate.Runner = (*Runner)(nil)

// run runs units of the conformance repository, or rows of them. Maven's plugins
// and the frameworks must have been fetched.
func run(t *testing.T, r *Runner, state gate.State, units []string, rows ...string) gate.Result {
	t.Helper()
	result, err := r.Run(context.Background(), state, gate.Batch{Units: units, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range result.Units {
		if u.Observation.Reason == gate.Import {
			t.Skipf("what the build needs was never fetched: run mvn -B -fn -f internal/runner/jvm/testdata/maven/pom.xml test once (%s)", u.Observation.Message)
		}
	}
	return result
}

// TestMaven runs the conformance repository, all situations but those that kill
// the process, in as few calls of Maven as that takes: one that does not compile,
// and one more for those that need what was taken out.
func TestMaven(t *testing.T) {
	plainstate.Need(t, "mvn", "--version")
	state := plainstate.FromDir(t, "testdata/maven")
	r := New(Config{Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	units = slices.DeleteFunc(units, func(u string) bool { return strings.HasSuffix(u, "DyingTest.java") })
	result := run(t, r, state, units)
	plainstate.Compare(t, result, `
m.ChildTest#inherited: failed assertion, failed assertion
m.NewNameTest#arity: errored compile twice
m.NewNameTest#helped: errored compile LIMIT
m.NewNameTest#imported: errored compile Lib later
m.NewNameTest#method: errored compile thrice
m.NewNameTest#sourced: errored compile all
m.NewNameTest#stands: passed
m.NewNameTest#type: errored compile Fresh Fresh
m.NewSetUpTest#taken: errored compile reset
m.OldTest#never: errored setup, errored setup
m.PlainTest#again: passed
m.PlainTest#again#1: passed
m.PlainTest#again#2: passed
m.PlainTest#asserts: failed assertion, failed assertion
m.PlainTest#assumes: skipped
m.PlainTest#child: passed
m.PlainTest#expected: passed
m.PlainTest#injected: passed
m.PlainTest#made: failed assertion, failed assertion, passed # Surefire takes the second for a retry of the first
m.PlainTest#odd(String)[1]: passed
m.PlainTest#odd(String)[2]: failed assertion, failed assertion
m.PlainTest#odd(String)[3]: passed
m.PlainTest#odd: failed assertion
m.PlainTest#passes: passed
m.PlainTest#prints: passed
m.PlainTest#reflects: failed exception thrice, failed exception thrice
m.PlainTest#retried: failed assertion, passed
m.PlainTest#skipped: skipped
m.PlainTest#slow: timed_out timeout, timed_out timeout
m.PlainTest#sourced(int)[1]: passed
m.PlainTest#sourced(int)[2]: passed
m.PlainTest#sourced: passed
m.PlainTest#throwing: failed exception, failed exception
m.PlainTest#ünïcode: passed
m.PlainTest$Inner#passes: passed
m.PlainTest$Inner$Deep#asserts: failed assertion, failed assertion
m.SetUpTest#never: errored setup
m.ThreeTest#testPasses: passed
ng.GroupTest#asserts: failed assertion
ng.GroupTest#depends: skipped
ng.GroupTest#each: failed assertion
ng.GroupTest#each[1](1): passed
ng.GroupTest#each[2](2): failed assertion
ng.GroupTest#passes: passed
`)
	for _, row := range result.Rows {
		if row.Row.ID == "m.PlainTest#throwing" && (row.Row.Line != 25 || row.Row.End != 28 || row.Observations[0].Place.File != "core/src/main/java/m/Calc.java") {
			t.Errorf("throwing: %+v", row)
		}
	}
}

// TestMavenSelects asks for single rows, and for what kills the process.
func TestMavenSelects(t *testing.T) {
	plainstate.Need(t, "mvn", "--version")
	plainstate.Heavy(t, "calls Maven four times")
	state := plainstate.FromDir(t, "testdata/maven")
	r := New(Config{Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}, Timeout: 3 * time.Minute})
	const plain, group, dying = "core/src/test/java/m/PlainTest.java", "ng/src/test/java/ng/GroupTest.java", "core/src/test/java/m/DyingTest.java"
	result := run(t, r, state, []string{plain, group, dying}, "m.PlainTest#odd(String)[2]", "m.PlainTest$Inner$Deep#asserts", "ng.GroupTest#passes")
	plainstate.Compare(t, result, `
m.PlainTest#odd(String)[1]: passed
m.PlainTest#odd(String)[2]: failed assertion, failed assertion
m.PlainTest#odd(String)[3]: passed
m.PlainTest#odd: failed assertion
m.PlainTest$Inner$Deep#asserts: failed assertion, failed assertion
ng.GroupTest#passes: passed
`)
	plainstate.Compare(t, run(t, r, state, []string{dying, "core/src/test/java/m/ThreeTest.java"}), `
m.DyingTest#halts: crashed crash
m.DyingTest#stands: passed
m.ThreeTest#testPasses: passed
`)
}
