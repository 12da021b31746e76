package jvm

import (
	"context"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
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
	if why := absent(result); why != "" {
		t.Skip(why)
	}
	return result
}

// absent says what a build misses that was never fetched, "" for nothing.
func absent(result gate.Result) string {
	for _, u := range result.Units {
		if u.Observation.Reason == gate.Import {
			return "what the build needs was never fetched: run mvn -B -fn -f internal/runner/jvm/testdata/conformance/maven/pom.xml test once (" + u.Observation.Message + ")"
		}
	}
	return ""
}

// TestConformance runs the conformance repository of two modules, with JUnit 3, 4,
// 5 and TestNG.
func TestConformance(t *testing.T) {
	conformance.Run(t, "testdata/conformance/maven", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner {
			return New(Config{Dir: dir, Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}, Timeout: timeout})
		},
		Absent: absent,
	})
}

// TestGradle runs that of Gradle, with JUnit 4 and TestNG.
func TestGradle(t *testing.T) {
	conformance.Run(t, "testdata/conformance/gradle.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner {
			return New(Config{Framework: Gradle, Dir: dir, Timeout: timeout})
		},
		Absent: absent,
	})
}

// TestKotlin runs that of Kotlin, built by Maven.
func TestKotlin(t *testing.T) {
	conformance.Run(t, "testdata/conformance/kotlin.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner {
			return New(Config{Dir: dir, Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}, Timeout: timeout})
		},
		Absent: absent,
	})
}

// TestMaven runs classes that do not compile and one of TestNG in as few calls of
// Maven as that takes: one that does not compile, and one more for those that need
// what was taken out.
func TestMaven(t *testing.T) {
	plainstate.Need(t, "mvn", "--version")
	state := plainstate.FromDir(t, "testdata/conformance/maven")
	r := New(Config{Env: map[string]string{"MAVEN_OPTS": "-XX:TieredStopAtLevel=1"}})
	plainstate.Compare(t, run(t, r, state, []string{"core/src/test/java/m/NewNameTest.java", "core/src/test/java/m/NewSetUpTest.java", "ng/src/test/java/ng/GroupTest.java"}), `
m.NewNameTest#arity: errored compile twice
m.NewNameTest#helped: errored compile LIMIT
m.NewNameTest#imported: errored compile Lib later
m.NewNameTest#method: errored compile thrice
m.NewNameTest#sourced: errored compile all
m.NewNameTest#stands: passed
m.NewNameTest#type: errored compile Fresh Fresh
m.NewSetUpTest#taken: errored compile reset
ng.GroupTest#asserts: failed assertion
ng.GroupTest#depends: skipped
ng.GroupTest#each: failed assertion
ng.GroupTest#each[1](1): passed
ng.GroupTest#each[2](2): failed assertion
ng.GroupTest#passes: passed
ng.GroupTest#together: passed, passed
`)
}

// TestMavenSelects asks for single rows, and for what kills the process.
func TestMavenSelects(t *testing.T) {
	plainstate.Need(t, "mvn", "--version")
	plainstate.Heavy(t, "calls Maven four times")
	state := plainstate.FromDir(t, "testdata/conformance/maven")
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
