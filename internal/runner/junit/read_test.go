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
