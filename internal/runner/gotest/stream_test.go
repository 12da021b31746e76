package gotest

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func events(lines ...string) *stream {
	st := newStream()
	if err := st.read(strings.NewReader(strings.Join(lines, "\n") + "\n")); err != nil {
		panic(err)
	}
	return st
}

func ev(action, test, output string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":"p","Test":%q,"Output":%q}`, action, test, output)
}

func TestStreamKeepsWhatTheEventsSay(t *testing.T) {
	st := events(
		`{"Action":"start","Package":"p"}`,
		ev("run", "TestA", ""), ev("output", "TestA", "--- FAIL: TestB (0.00s)\n"), ev("output", "TestA", `{"Action":"fail","Package":"p","Test":"TestA"}`+"\n"),
		ev("pause", "TestA", ""), ev("run", "TestB", ""), ev("pause", "TestB", ""), ev("cont", "TestA", ""), ev("pass", "TestA", ""),
		"not json at all", `{"half":`, `{"Action":""}`,
		ev("cont", "TestB", ""), ev("skip", "TestB", ""),
		`{"Action":"pass","Package":"p"}`,
	)
	p := st.packages["p"]
	if p.action != "pass" || p.tests["TestA"].action != "pass" || p.tests["TestB"].action != "skip" {
		t.Errorf("%+v, A %+v, B %+v", p, p.tests["TestA"], p.tests["TestB"])
	}
	if noise := st.noise.String(); !strings.Contains(noise, "not json at all") || !strings.Contains(noise, `{"half":`) {
		t.Errorf("noise %q", noise)
	}
}

func TestStreamSurvivesAHugeLine(t *testing.T) {
	long := strings.Repeat("x", 6<<20)
	st := events(ev("run", "TestA", ""), ev("output", "TestA", long), ev("pass", "TestA", ""), `{"Action":"pass","Package":"p"}`)
	if st.packages["p"].tests["TestA"].action != "pass" {
		t.Error("the event after the long line was lost")
	}
}

func TestInnerRunsThatAreMeantToFail(t *testing.T) {
	st := events(
		ev("run", "TestOuter", ""), ev("run", "TestOuter/inner", ""), ev("fail", "TestOuter/inner", ""), ev("pass", "TestOuter", ""),
		ev("run", "TestTop", ""), ev("fail", "TestTop", ""), `{"Action":"pass","Package":"p"}`)
	s := &session{seen: map[string]map[string]gate.Observation{"p": {}}}
	run := st.packages["p"]
	if o, ok := s.observe(&testPackage{}, run, "TestOuter/inner", nil); ok {
		t.Errorf("the inner failure counts: %+v", o)
	}
	if o, _ := s.observe(&testPackage{}, run, "TestTop", nil); o.Reason != gate.Inconsistent {
		t.Errorf("a failed test in a passed package is %+v", o)
	}
}

func TestCulprits(t *testing.T) {
	fail := `{"Action":"fail","Package":"p"}`
	for _, c := range []struct {
		name   string
		stream *stream
		want   map[string]gate.Outcome
	}{
		{"a panic", events(ev("run", "TestA", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), ev("run", "TestPar", ""), ev("pause", "TestPar", ""), fail), map[string]gate.Outcome{"TestA": gate.Failed}},
		{"a panic in a part", events(ev("run", "TestA", ""), ev("run", "TestA/x", ""), ev("output", "TestA/x", "panic: boom\n"), ev("fail", "TestA/x", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), fail), map[string]gate.Outcome{"TestA/x": gate.Failed}},
		{"an exit", events(ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("run", "TestB", ""), fail), map[string]gate.Outcome{"TestB": gate.Crashed}},
		{"out of memory", events(ev("run", "TestB", ""), ev("output", "TestB", "fatal error: runtime: out of memory\n"), fail), map[string]gate.Outcome{"TestB": gate.Crashed}},
		{"a time-out", events(ev("run", "TestB", ""), ev("output", "TestB", "panic: test timed out after 8s\n\trunning tests:\n\t\tTestB (8s)\n"), ev("fail", "TestB", ""), fail), map[string]gate.Outcome{"TestB": gate.TimedOut}},
		{"an honest failure", events(ev("run", "TestB", ""), ev("fail", "TestB", ""), fail), nil},
		{"a pass", events(ev("run", "TestB", ""), ev("pass", "TestB", ""), `{"Action":"pass","Package":"p"}`), nil},
	} {
		got := culprits(c.stream.packages["p"], gate.Exit{Code: 1})
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
		for name, outcome := range c.want {
			if got[name].Outcome != outcome {
				t.Errorf("%s: %s is %+v, want %s", c.name, name, got[name], outcome)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	found := compileErrors("# p [p.test]\n./a_test.go:5:7: undefined: money.Split\n./a_test.go:9:2: cannot use x (variable of type int) as string value in argument to Join:\n\thave int\nvet: note\n./a_test.go:9:2: too many errors\n", "sub")
	if len(found) != 2 || found[0].file != "sub/a_test.go" || found[0].line != 5 || !strings.HasSuffix(found[1].message, "have int") {
		t.Errorf("%+v", found)
	}
	for _, c := range []struct{ message, name, owner string }{
		{"undefined: Sign", "Sign", ""},
		{"undefined: money.Split", "Split", "money"},
		{"c.Sign undefined (type *Number has no field or method Sign)", "Sign", "Number"},
		{"unknown field Depth in struct literal of type Options", "Depth", "Options"},
		{"too many arguments in call to pkg.Open", "Open", ""},
		{"assignment mismatch: 2 variables but Open returns 1 value", "Open", ""},
		{"cannot use 1 (untyped int constant) as string value in argument to Open", "Open", ""},
		{"no required module provides package github.com/a/b; to add it:", "github.com/a/b", ""},
		{"package example.com/m/new is not in std (/usr/lib/go/src/example.com/m/new)", "example.com/m/new", ""},
		{"T does not implement I (missing method Close)", "Close", ""},
	} {
		m := missing(compileError{"a_test.go", 1, c.message}, "")
		if len(m) == 0 || m[0].Name != c.name || m[0].Owner != c.owner {
			t.Errorf("%q: %+v", c.message, m)
		}
	}
}

func TestBlankingKeepsPositionsAndInheritsTheCause(t *testing.T) {
	source := "package p\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc helper() int { return New() }\n\nfunc TestA(t *testing.T) { fmt.Sprint(helper()) }\n\nfunc TestB(t *testing.T) {}\n"
	tree := files{"a_test.go": source}
	left := newLeftOut()
	if !left.blank(tree, []compileError{{"a_test.go", 8, "undefined: New"}}) {
		t.Fatal("nothing was taken out")
	}
	if !left.blank(tree, []compileError{{"a_test.go", 10, "undefined: helper"}}) {
		t.Fatal("the user of what was taken out stays")
	}
	if !left.blank(tree, []compileError{{"a_test.go", 4, `"fmt" imported and not used`}}) {
		t.Fatal("the unused import stays")
	}
	got := string(left.sources["a_test.go"])
	if strings.Count(got, "\n") != strings.Count(source, "\n") || strings.Contains(got, "TestA") || !strings.Contains(got, "_ \"fmt\"") || !strings.Contains(got, "func TestB") {
		t.Errorf("%s", got)
	}
	if o := left.rows["TestA"]; o.Message != "undefined: New" || len(o.Missing) == 0 || o.Missing[0].Name != "New" {
		t.Errorf("TestA did not inherit the cause: %+v", o)
	}
	if left.blank(tree, []compileError{{"a.go", 1, "undefined: X"}}) {
		t.Error("an error in production code was isolated")
	}
}

// files is a tree of a few files.
type files map[string]string

func (f files) Paths() []string {
	var list []string
	for name := range f {
		list = append(list, name)
	}
	return list
}

func (f files) ReadFile(name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		return []byte(text), nil
	}
	return nil, io.EOF
}

// manyEvents is a stream of n events of a package whose subtests all pass, made
// as it is read.
type manyEvents struct {
	n, i int
	rest []byte
}

func (m *manyEvents) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if m.i >= m.n {
			return 0, io.EOF
		}
		k := m.i / 4
		line := []string{
			ev("run", fmt.Sprintf("TestTable/case_%d", k), ""),
			ev("output", fmt.Sprintf("TestTable/case_%d", k), fmt.Sprintf("=== RUN   TestTable/case_%d\n", k)),
			ev("output", fmt.Sprintf("TestTable/case_%d", k), "    table_test.go:12: a line of output that a test prints\n"),
			ev("pass", fmt.Sprintf("TestTable/case_%d", k), ""),
		}[m.i%4]
		m.i++
		m.rest = []byte(line + "\n")
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// TestAMillionEventsTakeLittleMemory holds the promise of the package: under
// 100 MB for a stream of a million events.
func TestAMillionEventsTakeLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	st := newStream()
	if err := st.read(&manyEvents{n: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := len(st.packages["p"].tests); got != 250_000 {
		t.Fatalf("%d tests", got)
	}
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d MB kept, %d MB from the system", kept>>20, (after.Sys-before.Sys)>>20)
	if kept > 100<<20 {
		t.Errorf("%d MB kept", kept>>20)
	}
	runtime.KeepAlive(st)
}

func BenchmarkStream(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := newStream().read(&manyEvents{n: 100_000}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
