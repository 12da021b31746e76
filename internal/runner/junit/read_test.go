package junit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const seed = `<?xml version="1.0"?><testsuites><testsuite name="s"><testcase name="a &lt;b&gt;" classname="c"><failure type="E" message="m"><![CDATA[x]]></failure></testcase></testsuite></testsuites>`

func FuzzJUnit(f *testing.F) {
	f.Add([]byte(seed))
	f.Fuzz(func(t *testing.T, content []byte) {
		rows := 0
		_ = Read(bytes.NewReader(content), func(c Case) { rows++; _ = c.Attempts() })
		if most := bytes.Count(content, []byte("testcase")); rows > most {
			t.Errorf("%d rows out of %d tags", rows, most)
		}
	})
}

// BenchmarkJUnit reads a report of 100,000 cases, one in ten red with a stack.
func BenchmarkJUnit(b *testing.B) {
	var report bytes.Buffer
	report.WriteString("<testsuite>\n")
	for i := range 100_000 {
		if i%10 > 0 {
			fmt.Fprintf(&report, "  <testcase name=\"case %d\" classname=\"com.example.project.SomeTest\" time=\"0.003\"/>\n", i)
			continue
		}
		fmt.Fprintf(&report, "  <testcase name=\"case %d\" classname=\"com.example.project.SomeTest\" time=\"0.003\"><failure message=\"expected &lt;1&gt;\" type=\"java.lang.AssertionError\"><![CDATA[%s]]></failure><system-out><![CDATA[%s]]></system-out></testcase>\n",
			i, strings.Repeat("\tat com.example.project.SomeTest.method(SomeTest.java:12)\n", 20), strings.Repeat("a line of output > of the test\n", 40))
	}
	report.WriteString("</testsuite>\n")
	b.SetBytes(int64(report.Len()))
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		if err := Read(bytes.NewReader(report.Bytes()), func(Case) { rows++ }); err != nil || rows != 100_000 {
			b.Fatal(rows, err)
		}
	}
}

// TestDepth reads suites that are nested deeper than anybody's, in bounded memory,
// and knows whether all of them were closed.
func TestDepth(t *testing.T) {
	const depth = 5000
	text := strings.Repeat("<testsuite name=\"s\">", depth) + "<testcase name=\"n\"><failure/>" + strings.Repeat("<error/>", 5000) + "</testcase>" + strings.Repeat("</testsuite>", depth)
	count := 0
	if err := Read(strings.NewReader(text), func(c Case) { count += len(c.Problems) }); err != nil || count != maxProblems {
		t.Errorf("%d problems, %v", count, err)
	}
	if err := Read(strings.NewReader(strings.TrimSuffix(text, "</testsuite>")), func(Case) {}); err == nil {
		t.Error("a report whose outermost suite stays open is whole")
	}
}

// TestWords tells reasons apart as tools without types word them: pytest, and
// node:test, which puts its own error around a test's.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		`<failure message="AssertionError: assert 1 == 2">x</failure>`:                                                           "failed assertion",
		`<failure message="assert 1 == 2">x</failure>`:                                                                           "failed assertion",
		`<failure message="IndexError: seven">x</failure>`:                                                                       "failed exception",
		`<failure message="ModuleNotFoundError: No module named 'a.b'">x</failure>`:                                              "errored import a.b",
		`<error message="failed on setup with &quot;OSError: no&quot;">x</error>`:                                                "errored setup",
		`<error message="collection failure">E   SyntaxError: invalid</error>`:                                                   "errored compile",
		`<error message="collection failure">E ImportError: cannot import name 'f' from 'a'</error>`:                             "errored import f",
		`<failure type="testCodeFailure" message="far">[Error] {` + "\n  cause: RangeError [Error]: far</failure>":               "failed exception",
		`<failure type="testCodeFailure" message="2">[Error] {` + "\n  cause: AssertionError [ERR_ASSERTION]: 2</failure>":       "failed assertion",
		`<failure type="testCodeFailure" message="x">Cannot find module './late.js' {` + "\n code: 'MODULE_NOT_FOUND'</failure>": "errored import late",
		`<failure type="hookFailed" message="no server">x</failure>`:                                                             "errored setup",
		`<skipped type="todo" message="true"/><failure type="testCodeFailure" message="later">x</failure>`:                       "skipped",
	} {
		var got string
		if err := Read(strings.NewReader("<testsuite><testcase name=\"n\">"+text+"</testcase></testsuite>"), func(c Case) {
			all := c.Attempts()
			o := all[len(all)-1]
			got = strings.TrimSpace(o.Outcome.String() + " " + string(o.Reason))
			for _, m := range o.Missing {
				got += " " + m.Name
			}
		}); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestMark gives a case the file that its report was in.
func TestMark(t *testing.T) {
	var got []string
	text := `<touchstone-report path="a/x.xml"/><testsuite name="s"><testcase name="n"/></testsuite><touchstone-report path="b.xml"/><testsuite><testcase name="m" classname="c"/></testsuite>`
	if err := Read(strings.NewReader(text), func(c Case) { got = append(got, c.Report+" "+c.Suite+" "+c.Class+" "+c.Name) }); err != nil {
		t.Fatal(err)
	}
	if want := "a/x.xml s  n, b.xml  c m"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
