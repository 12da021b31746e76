package jvm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestUnits finds builds, sources with tests and what a changed path touches.
func TestUnits(t *testing.T) {
	state := plainstate.New(t, `
-- pom.xml --
<project><modules><module>a</module></modules><profiles><profile><modules><module>b/pom.xml</module></modules></profile></profiles></project>
-- a/pom.xml --
<project><build><plugins><plugin><artifactId>maven-failsafe-plugin</artifactId></plugin></plugins></build></project>
-- a/src/test/java/p/OneTest.java --
package p;
class OneTest extends Shared { @Test void own() {} }
-- a/src/test/java/p/Shared.java --
package p;
abstract class Shared { @Test void shared() { Helper.go(); } }
-- a/src/test/java/p/Helper.java --
package p;
class Helper {}
-- a/src/test/java/p/TwoIT.java --
package p;
class TwoIT { @Test void far() {} }
-- a/src/test/java/p/Unnamed.java --
package p;
class Unnamed { @Test void never() {} }
-- a/src/test/resources/x.json --
{}
-- b/pom.xml --
<project/>
-- b/src/test/kotlin/KTest.kt --
class KTest {
  @Test fun `+"`a b`"+`() {}
}
-- other/pom.xml --
<project/>
-- other/src/test/java/ThreeTest.java --
public class ThreeTest extends junit.framework.TestCase { public void testOld() {} }
`)
	if got := fmt.Sprint(Detect(state.Tree())); got != "[{maven other other/pom.xml} {maven . pom.xml}]" {
		t.Errorf("found %s", got)
	}
	const one, two, three, k = "a/src/test/java/p/OneTest.java", "a/src/test/java/p/TwoIT.java", "other/src/test/java/ThreeTest.java", "b/src/test/kotlin/KTest.kt"
	for file, want := range map[string]string{
		"": one + " " + two + " " + k, one: one, "a/src/test/java/p/Helper.java": one, "a/src/test/resources/x.json": one + " " + two, "other/x": "",
	} {
		units, err := New(Config{}).Units(context.Background(), state.Tree(), []string{file}, file == "")
		if got := strings.Join(units, " "); err != nil || got != want {
			t.Errorf("%q touches %q, want %q (%v)", file, got, want, err)
		}
	}
	listed, err := New(Config{}).List(context.Background(), state, []string{one, k, three})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, listed, "p.OneTest#own:\np.OneTest#shared:\nKTest#a b:\nThreeTest#testOld:\n")
}

// TestSelection is a class in Surefire's words.
func TestSelection(t *testing.T) {
	methods := []method{{class: "p.A", name: "x"}, {class: "p.A", name: "y", parts: true}, {class: "p.A$B", name: "z"}}
	for _, c := range []struct {
		a     ask
		exact bool
		want  string
	}{
		{ask{class: "p.A"}, true, "p/A,p/A$*"},
		{ask{class: "p.A", methods: methods}, true, "p/A#x+y*,p/A$B#z"},
		{ask{class: "p.A", methods: methods}, false, "p/A,p/A$*"},
	} {
		if got := selection(c.a, c.exact); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// TestConsole reads what Maven prints of javac's and kotlinc's errors.
func TestConsole(t *testing.T) {
	state := plainstate.New(t, "-- src/test/java/T.java --\nimport a.b.C;\nclass T {\n  @Test void x() { new Calc().go(1); }\n  @Override void late() {}\n}\n")
	s := &session{Runner: New(Config{}), state: state, project: newProject(state.Tree(), ".", maven{})}
	source := braces.Parse("src/test/java/T.java", []byte("import a.b.C;\nclass T {\n  @Test void x() { new Calc().go(1); }\n  @Override void late() {}\n}\n"), braces.Java)
	for text, want := range map[string]string{
		"[ERROR] /r/src/test/java/T.java:[3,20] cannot find symbol\n  symbol:   method go(int)\n  location: class m.Calc":                              "3 go of Calc",
		"[ERROR] /r/src/test/java/T.java:[3,20] cannot find symbol\n[ERROR]   symbol:   variable LIMIT\n[ERROR]   location: variable c of type m.Calc": "3 LIMIT of Calc",
		"[ERROR] /r/src/test/java/T.java:[1,9] package a.b does not exist":                                                                             "1 C, b",
		"[ERROR] /r/src/test/java/T.java:[3,20] constructor Calc in class m.Calc cannot be applied to given types;":                                    "3 Calc! of Calc",
		"[ERROR] /r/src/test/java/T.java:[3,20] no suitable method found for go(int)":                                                                  "3 go!",
		"[ERROR] /r/src/test/java/T.java:[3,20] go(int) is not public in m.Calc; cannot be accessed from outside package":                              "3 go!",
		"[ERROR] /r/src/test/java/T.java:[2,1] T is not abstract and does not override abstract method more() in I":                                    "2 more",
		"[ERROR] /r/src/test/java/T.java:[4,3] method does not override or implement a method from a supertype":                                        "4 late",
		"[ERROR] /r/src/test/java/T.java:[3,20] incompatible types: int cannot be converted to String":                                                 "3 x!, Calc!, go!",
		"[ERROR] /r/src/test/kotlin/T.kt: (3, 20) Unresolved reference: go":                                                                            "3 go",
		"[ERROR] /r/src/test/kotlin/T.kt:[3,20] Unresolved reference 'go'.":                                                                            "3 go",
	} {
		h := &heard{session: s, root: "/r"}
		for _, line := range strings.Split("[ERROR] COMPILATION ERROR : \n"+text+"\n"+text+"\n[INFO] BUILD FAILURE", "\n") {
			maven{}.take(h, line)
		}
		if len(h.errors) != 1 || h.verdict != "FAILURE" {
			t.Errorf("%s: %d errors, %s", text, len(h.errors), h.verdict)
			continue
		}
		var names []string
		for _, m := range h.errors[0].missing(source) {
			names = append(names, said(m))
		}
		if got := fmt.Sprint(h.errors[0].line, " ", strings.Join(names, ", ")); got != want || !strings.HasPrefix(h.errors[0].file, "src/test/") {
			t.Errorf("%s: got %q of %s, want %q", text, got, h.errors[0].file, want)
		}
	}
}

func said(m gate.Missing) string {
	text := m.Name
	if m.Signature {
		text += "!"
	}
	if m.Owner != "" {
		text += " of " + m.Owner
	}
	return text
}

// TestDeaths tells a class that never ended from those that did.
func TestUnbuilt(t *testing.T) {
	for words, want := range map[string]string{
		"[ERROR] Failed to execute goal on project a: Could not resolve dependencies for project g:a:jar:1.0-SNAPSHOT: Cannot access central (https://repo.example/maven2) in offline mode and the artifact org.junit:junit-bom:pom:5.13.1 has not been downloaded from it before. -> [Help 1]": "import the dependency org.junit:junit-bom:pom:5.13.1 is not at hand offline: ",
		"Could not resolve all files for configuration ':testCompileClasspath'. No cached version of junit:junit:4.12 available for offline mode.":                                                                                                                                              "import the dependency junit:junit:4.12 is not at hand offline: ",
		"Could not resolve all dependencies for configuration ':testCompileClasspath'.":                                                                                                                                                                                                         "import a dependency is not at hand offline: ",
		"Compilation failed; see the compiler error output for details.":                                                                                                                                                                                                                        "compile Compilation failed",
		"Failed to execute goal some:plugin:1:run": "setup Failed to execute goal",
	} {
		o := (&heard{words: []string{words}}).unbuilt()
		if got := string(o.Reason) + " " + o.Message; !strings.HasPrefix(got, want) {
			t.Errorf("%.60s: %q, want %q", words, got, want)
		}
	}
}

func TestDeaths(t *testing.T) {
	h := &heard{session: &session{Runner: New(Config{})}}
	for _, line := range []string{
		"[INFO] --- maven-surefire-plugin:2.22.2:test (default-test) @ m ---", "[INFO] Running p.A", "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in p.A",
		"[INFO] Running p.B", "[ERROR] The forked VM terminated without properly saying goodbye. VM crash or System.exit called?",
	} {
		maven{}.take(h, line)
	}
	if fmt.Sprint(h.running) != "[p.B]" || !h.died || !h.exact || !h.cutShort() {
		t.Errorf("heard %+v", h)
	}
}

// TestGradleErrors reads what Gradle 4.4 and 8 print of compilers' errors.
func TestGradleErrors(t *testing.T) {
	state := plainstate.New(t, "-- build.gradle --\n-- settings.gradle --\ninclude 'a:b', \":c\"\ninclude(\"d\")\n-- a/b/build.gradle --\n-- a/b/src/it/java/m/XTest.java --\nclass XTest {}\n")
	s := &session{Runner: New(Config{Framework: Gradle}), state: state, project: newProject(state.Tree(), ".", gradle{})}
	h := &heard{root: "/r", session: s}
	for line := range strings.Lines(`:a:b:compileTestJava/r/a/b/src/it/java/m/XTest.java:5: error: package m.later does not exist
import m.later.Lib;
              ^
/r/a/b/src/it/java/m/XTest.java:16: error: cannot find symbol
        assertEquals(3, Calc.thrice(1));
                            ^
  symbol:   method thrice(int)
  location: class Calc
e: file:///r/c/src/test/kotlin/YTest.kt:7:9 Unresolved reference: fresh
e: /r/c/src/test/kotlin/YTest.kt: (8, 3): Unresolved reference: later
BUILD FAILED in 2s
`) {
		gradle{}.take(h, strings.TrimSuffix(line, "\n"))
	}
	var got []string
	for _, e := range h.errors {
		line := fmt.Sprintf("%s:%d:%d", e.file, e.line, e.col)
		for _, m := range e.missing(nil) {
			line += " " + m.Name
		}
		got = append(got, line)
	}
	want := []string{
		"a/b/src/it/java/m/XTest.java:5:15 later", "a/b/src/it/java/m/XTest.java:16:29 thrice", "c/src/test/kotlin/YTest.kt:7:9 fresh", "c/src/test/kotlin/YTest.kt:8:3 later",
	}
	if !slices.Equal(got, want) || h.verdict != "FAILURE" {
		t.Errorf("verdict %q, errors\n%s\nwant\n%s", h.verdict, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(s.project.modules, []string{".", "a/b"}) || s.project.task("a/b/src/it/java/m/XTest.java") != ":a:b:it" {
		t.Errorf("modules %q, task %s", s.project.modules, s.project.task("a/b/src/it/java/m/XTest.java"))
	}
}

// TestGradleShown reads what Gradle 7 writes of JUnit 5: display names, which
// several methods share, whose methods only the events tell.
func TestGradleShown(t *testing.T) {
	state := plainstate.New(t, "-- build.gradle --\n-- src/test/java/m/ATest.java --\n"+`package m;
class ATest {
  @Test void plain() {}
  @ParameterizedTest @ValueSource(strings = {"value 1", "value 2"}) void first(String s) {}
  @ParameterizedTest @ValueSource(strings = {"value 1", "value 2"}) void second(String s) {}
  @Test @DisplayName("reads\twell (1/2)") void told() {}
  @TestFactory List<DynamicTest> made() {}
}
`)
	s := &session{
		Runner: New(Config{Framework: Gradle}), state: state, project: newProject(state.Tree(), ".", gradle{}), batch: gate.Batch{},
		answered: make(map[string]bool), failed: make(map[string]bool),
	}
	s.left = s.Runner.left.Of(state)
	h := &heard{session: s}
	for line := range strings.Lines(`touchstone-class m.ATest
touchstone-test m.ATest#plain()
touchstone-over m.ATest#plain()
touchstone-over m.ATest#first(String)[1]
touchstone-named SUCCESS	m.ATest	first(String)[1]	[1] value 1
touchstone-over m.ATest#first(String)[2]
touchstone-named FAILURE	m.ATest	first(String)[2]	[2] value 2
touchstone-named FAILURE	m.ATest	second(String)[1]	[1] value 1
touchstone-named SUCCESS	m.ATest	second(String)[2]	[2] value 2
touchstone-named SKIPPED	m.ATest	told()	reads well (1/2)
touchstone-named SUCCESS	m.ATest	made()[1]	[1] value 1
touchstone-ended m.ATest
BUILD SUCCESSFUL in 1s
`) {
		gradle{}.take(h, strings.TrimSuffix(line, "\n"))
	}
	const failed = `<failure message="expected: &lt;value 1&gt;" type="org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: expected</failure></testcase>`
	err := junit.Read(strings.NewReader(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="m.ATest" tests="7" skipped="1" failures="2" errors="0" timestamp="2021-04-12T20:09:43" hostname="h" time="0.011">
  <properties/>
  <testcase name="plain()" classname="m.ATest" time="0.002"/>
  <testcase name="[1] value 1" classname="m.ATest" time="0.002"/>
  <testcase name="[2] value 2" classname="m.ATest" time="0.002">`+failed+`
  <testcase name="[1] value 1" classname="m.ATest" time="0.002">`+failed+`
  <testcase name="[2] value 2" classname="m.ATest" time="0.002"/>
  <testcase name="reads&#9;well (1/2)" classname="m.ATest" time="0.0"><skipped/></testcase>
  <testcase name="[1] value 1" classname="m.ATest" time="0.002"/>
  <system-out><![CDATA[]]></system-out>
</testsuite>`), func(c junit.Case) { h.cases = append(h.cases, c) })
	if err != nil {
		t.Fatal(err)
	}
	h.rename()
	s.complete = true
	s.absorb([]ask{{unit: "src/test/java/m/ATest.java", class: "m.ATest"}}, h)
	plainstate.Compare(t, s.result, `
m.ATest#plain: passed
m.ATest#first: failed assertion
m.ATest#first(String)[1]: passed
m.ATest#first(String)[2]: failed assertion
m.ATest#second: failed assertion
m.ATest#second(String)[1]: failed assertion
m.ATest#second(String)[2]: passed
m.ATest#told: skipped
m.ATest#made: passed
m.ATest#made()[1]: passed
`)
}

// TestGradleProjects finds projects that the settings rename or move.
func TestGradleProjects(t *testing.T) {
	state := plainstate.New(t, `
-- settings.gradle --
include 'core', ":tools:cli"
include("moved")
project(':core').name = 'x-core'
project(':tools').name = "x-tools"
project(":moved").projectDir = new File(rootDir, 'lib/moved')
-- build.gradle --
-- core/build.gradle --
-- core/src/test/java/ATest.java --
-- tools/cli/build.gradle --
-- tools/cli/src/test/java/ATest.java --
-- lib/moved/build.gradle --
-- lib/moved/src/it/java/ATest.java --
`)
	p := newProject(state.Tree(), ".", gradle{})
	for file, want := range map[string]string{
		"core/src/test/java/ATest.java": ":x-core:test", "tools/cli/src/test/java/ATest.java": ":x-tools:cli:test", "lib/moved/src/it/java/ATest.java": ":moved:it",
	} {
		if got := p.task(file); got != want {
			t.Errorf("%s is run by %s, want %s", file, got, want)
		}
	}
}
