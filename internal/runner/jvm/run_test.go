package jvm

import (
	"context"
	"strings"
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

// TestGradleKotlin builds Kotlin by Gradle: what does not compile is taken out of
// its class, and the rest runs.
func TestGradleKotlin(t *testing.T) {
	plainstate.Need(t, "gradle", "--version")
	plainstate.Heavy(t, "calls Gradle and Kotlin's compiler five times")
	state := plainstate.New(t, strings.ReplaceAll(`
-- settings.gradle --
rootProject.name = 'kt'
-- build.gradle --
buildscript {
    repositories { mavenLocal(); mavenCentral() }
    dependencies { classpath 'org.jetbrains.kotlin:kotlin-gradle-plugin:1.3.41' }
}
apply plugin: 'kotlin'
repositories { mavenLocal(); mavenCentral() }
dependencies {
    compile 'org.jetbrains.kotlin:kotlin-stdlib:1.3.41'
    testCompile 'org.jetbrains.kotlin:kotlin-test-junit:1.3.41'
    testCompile 'junit:junit:4.13.2'
}
-- src/main/kotlin/m/Calc.kt --
package m

class Calc {
    fun twice(n: Int) = 2 * n
}
-- src/test/kotlin/m/OldTest.kt --
package m

import kotlin.test.Test
import kotlin.test.assertEquals

class OldTest {
    @Test
    fun 'two words fail'() { assertEquals(5, Calc().twice(2)) }

    @Test
    fun throwing() { error("thrown") }
}
-- src/test/kotlin/m/NewTest.kt --
package m

import kotlin.test.Test
import kotlin.test.assertEquals

class NewTest {
    @Test
    fun stands() { assertEquals(4, Calc().twice(2)) }

    @Test
    fun method() { assertEquals(6, Calc().thrice(2)) }

    @Test
    fun arity() { assertEquals(6, Calc().twice(2, 3)) }

    @Test
    fun named() { assertEquals(6, Calc().twice(times = 3)) }

    @Test
    fun helped() { assertEquals(1, helper()) }

    private fun helper() = Calc.LIMIT
}
`, "'two words fail'", "`two words fail`"))
	r := New(Config{Framework: Gradle, Timeout: 10 * time.Minute})
	plainstate.Compare(t, run(t, r, state, []string{"src/test/kotlin/m/NewTest.kt", "src/test/kotlin/m/OldTest.kt"}), `
m.NewTest#arity: errored compile twice
m.NewTest#helped: errored compile LIMIT
m.NewTest#method: errored compile thrice
m.NewTest#named: errored compile twice twice
m.NewTest#stands: passed
m.OldTest#two words fail: failed assertion
m.OldTest#throwing: failed exception
`)
}
