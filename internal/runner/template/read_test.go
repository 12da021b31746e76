package template

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

var _ gate.Runner = (*Runner)(nil)

// readAll reads a report the way a run does and writes its rows as lines.
func readAll(t testing.TB, framework string, content []byte, exit gate.Exit, units ...string) []string {
	t.Helper()
	b := newBook(New(Config{Framework: framework, Command: []string{"x", "{files}"}}), units, gate.Batch{Units: units})
	broken := b.read(bytes.NewReader(content))
	var result gate.Result
	b.close(exit, broken, "", &result)
	return lines(result)
}

func lines(result gate.Result) []string {
	var out []string
	for _, o := range result.Rows {
		var words []string
		for _, x := range o.Observations {
			words = append(words, said(x))
		}
		line := o.Row.ID + " = " + strings.Join(words, ", ")
		if o.Row.Parent != "" {
			line = "  " + line
		}
		out = append(out, line)
	}
	for _, u := range result.Units {
		out = append(out, "! "+u.Unit+" = "+said(u.Observation)+": "+u.Observation.Message)
	}
	return out
}

func said(o gate.Observation) string {
	text := o.Outcome.String()
	if o.Reason != "" {
		text += " " + string(o.Reason)
	}
	for _, m := range o.Missing {
		text += " [" + m.Name + "]"
	}
	return text
}

func compare(t *testing.T, name string, got []string, want string) {
	t.Helper()
	wants := strings.Split(strings.Trim(want, "\n"), "\n")
	if !slices.Equal(got, wants) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(wants, "\n"))
	}
}

// TestRealTAP reads what node:test, tape and node-tap printed for the programs
// in testdata/tap/README.md.
func TestRealTAP(t *testing.T) {
	for name, want := range map[string]string{
		"node": `
a.js > adds = passed
a.js > outer > inner = failed assertion
a.js > outer > twice = passed
a.js > outer > twice#2 = passed
a.js > outer = failed assertion
a.js > boom = failed exception [fresh]
a.js > later # maybe = skipped
a.js > not here = skipped`,
		"tape": `
a.js > adds = passed
a.js > asserts = failed assertion
a.js > boom = crashed crash [fresh]
  a.js > adds > two = passed
  a.js > adds > should be strictly equal = passed
  a.js > asserts > one = failed assertion
  a.js > asserts > should be truthy = passed
  a.js > boom > should throw = passed
! a.js = errored no_report [fresh]: the plan is missing: the run broke off (TypeError: lib.fresh is not a function)`,
		"node-tap": `
  a.js > adds > two = passed
  a.js > adds > should be equal = passed
a.js > adds = passed
  a.js > asserts > one = failed assertion
  a.js > asserts > inner > should be equal = passed
a.js > asserts > inner = passed
a.js > asserts = failed assertion
  a.js > boom > lib.fresh is not a function = failed exception [fresh]
a.js > boom = failed exception [fresh]
a.js > later = skipped
a.js > top level = passed`,
	} {
		content, err := os.ReadFile("testdata/tap/" + name + ".tap")
		if err != nil {
			t.Fatal(err)
		}
		b := newBook(New(Config{Framework: TAP}), []string{"a.js"}, gate.Batch{Units: []string{"a.js"}})
		broken := b.read(bytes.NewReader(content))
		var result gate.Result
		b.close(gate.Exit{Code: 1}, broken, "TypeError: lib.fresh is not a function", &result)
		compare(t, name, lines(result), want)
	}
}

func TestTAPThatIsNotWhole(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		exit   gate.Exit
		want   string
	}{
		"empty":         {"", gate.Exit{}, "! a.js = errored no_report: there is no TAP in the output ()"},
		"no plan":       {"TAP version 13\nok 1 - a\n", gate.Exit{}, "a.js > a = passed\n! a.js = errored no_report: the plan is missing: the run broke off ()"},
		"broken off":    {"1..3\nok 1 - a\n", gate.Exit{Code: 1}, "a.js > a = passed\n! a.js = errored no_report: the plan promises 3 points and there are 1 ()"},
		"bails out":     {"1..2\nok 1 - a\nBail out! no disk\n", gate.Exit{Code: 1}, "! a.js"},
		"red exit":      {"1..1\nok 1 - a\n", gate.Exit{Code: 1}, "a.js > a = errored inconsistent"},
		"killed":        {"1..1\nok 1 - a\n", gate.Exit{Code: -1, Signal: "SIGKILL"}, "! a.js = errored no_report: the command ended by SIGKILL ()"},
		"output inside": {"1..1\nhello ok 5\n  not ok in text\nok 1 - a\n", gate.Exit{}, "a.js > a = passed"},
		"no title":      {"1..1\nok\n", gate.Exit{}, "a.js >  = passed"},
		"time":          {"1..1\nok 1 - a # time=12.5ms\n", gate.Exit{}, "a.js > a = passed"},
	} {
		got := strings.Join(readAll(t, TAP, []byte(c.stream), c.exit, "a.js"), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

const surefire = `<?xml version="1.0" encoding="UTF-8"?>
<!-- made by > hand -->
<testsuites><testsuite name="com.x.ATest" tests="9">
<properties><property name="a>b" value='"&lt;'/></properties>
<testcase name="passes" classname="com.x.ATest" time="0.01"/>
<testcase name="asserts &quot;x&quot; &#x41;" classname="com.x.ATest" time="1,000.5"><failure message="expected:&lt;1&gt; but was:&lt;2&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[at com.x > y]]></failure><system-out><![CDATA[<testcase name="fake"/>]]></system-out></testcase>
<testcase name="throws" classname="com.x.ATest"><error type="java.lang.IllegalStateException">java.lang.IllegalStateException: no
	at com.x.A.f(A.java:3)</error></testcase>
<testcase name="missing" classname="com.x.ATest"><error type="java.lang.NoSuchMethodError" message="x">java.lang.NoSuchMethodError: com.x.A.fresh(</error></testcase>
<testcase name="skipped" classname="com.x.ATest"><skipped message="why"/></testcase>
<testcase name="flaky" classname="com.x.ATest"><flakyFailure type="AssertionError" message="once">..</flakyFailure></testcase>
<testcase name="twice" classname="com.x.ATest"/>
<testcase name="twice" classname="com.x.ATest"/>
<testcase name="slow" classname="com.x.ATest"><error type="org.junit.runners.model.TestTimedOutException" message="test timed out after 5 ms"/></testcase>
<testsuite name="nested"><testcase name="without class"/></testsuite>
</testsuite></testsuites>
<testsuite name="second document"><testcase name="b` + "\x01\xff" + `" classname="B"/></testsuite>`

func TestJUnit(t *testing.T) {
	got := readAll(t, JUnit, []byte(surefire), gate.Exit{Code: 1}, "src/ATest.java", "src/B.java")
	compare(t, "surefire", got, `
com.x.ATest#passes = passed
com.x.ATest#asserts "x" A = failed assertion
com.x.ATest#throws = failed exception
com.x.ATest#missing = failed exception [fresh]
com.x.ATest#skipped = skipped
com.x.ATest#flaky = failed assertion, passed
com.x.ATest#twice = passed
com.x.ATest#twice#2 = passed
com.x.ATest#slow = timed_out timeout
nested#without class = passed
B#b`+"\x01\xff"+` = passed`)
}

func TestJUnitThatIsNotWhole(t *testing.T) {
	for name, c := range map[string]struct {
		report string
		exit   gate.Exit
		want   string
	}{
		"empty":       {"", gate.Exit{}, "! A.java = errored no_report: the report holds no test ()"},
		"no tests":    {`<testsuite tests="0"/>`, gate.Exit{}, "! A.java = errored no_report: the report holds no test ()"},
		"broken off":  {`<testsuite><testcase name="a" classname="A"/>`, gate.Exit{}, "A#a = passed\n! A.java = errored no_report: the report breaks off inside <testsuite>: unexpected EOF ()"},
		"red exit":    {`<testsuite><testcase name="a" classname="A"/></testsuite>`, gate.Exit{Code: 1}, "A#a = errored inconsistent"},
		"entity bomb": {`<!DOCTYPE x [<!ENTITY a "&b;&b;">]><testsuite><testcase name="&a;" classname="A"/></testsuite>`, gate.Exit{}, "A#&a; = passed"},
	} {
		got := strings.Join(readAll(t, JUnit, []byte(c.report), c.exit, "A.java"), "\n")
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	tree := fakeTree{"test/a.js": "require('./fixtures/x.json')", "test/b.js": "", "test/fixtures/x.json": "", "src/a.js": "", "package.json": ""}
	runner := New(Config{Framework: TAP})
	for paths, want := range map[string]string{"test/a.js": "test/a.js", "test/gone.js": "", "test/fixtures/x.json": "test/a.js", "test/a.js test/b.js": "test/a.js test/b.js"} {
		got, err := runner.Units(context.Background(), tree, strings.Fields(paths), false)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %v, want %q", paths, got, err, want)
		}
	}
	whole := New(Config{Framework: JUnit, Command: []string{"make", "test"}})
	if got, _ := whole.Units(context.Background(), tree, []string{"test/a.js"}, false); !slices.Equal(got, []string{"."}) {
		t.Errorf("a command without {files}: got %q", got)
	}
}

func TestArgv(t *testing.T) {
	r := New(Config{Framework: JUnit, Dir: "app", Command: []string{"mvn", "-Dtest={rows}", "{files}"}})
	got := r.argv([]string{"app/A.java", "app/B.java"}, []string{"x.A#f", "x.B#g"})
	if want := []string{"mvn", "-Dtest=x.A#f,x.B#g", "A.java", "B.java"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzTAP(f *testing.F) {
	for _, name := range []string{"node", "tape", "node-tap"} {
		content, err := os.ReadFile("testdata/tap/" + name + ".tap")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		rows := 0
		_, _ = readTAP(bytes.NewReader(content), func(p point) { rows++; _ = p.observation() })
		if most := bytes.Count(content, []byte("ok")); rows > most {
			t.Errorf("%d points out of %d", rows, most)
		}
	})
}
