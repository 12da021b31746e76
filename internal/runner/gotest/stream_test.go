package gotest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func events(t *testing.T, lines ...string) *stream {
	t.Helper()
	st := newStream()
	if err := st.read(strings.NewReader(strings.Join(lines, "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	return st
}

func ev(action, test, output string) string {
	return fmt.Sprintf(`{"Action":%q,"Package":"p","Test":%q,"Output":%s}`, action, test, quoteJSON(output))
}

func quoteJSON(text string) string {
	return strings.ReplaceAll(strconv.Quote(text), `\x`, `\u00`)
}

// endings are the actions of the tests that ended, and "open" for the rest.
func endings(p *packageRun) map[string]string {
	found := make(map[string]string)
	for _, t := range p.ended {
		found[t.name()] = map[action]string{pass: "pass", fail: "fail", skip: "skip"}[t.action]
	}
	for name := range p.open {
		found[name] = "open"
	}
	return found
}

func TestStreamKeepsWhatTheEventsSay(t *testing.T) {
	st := events(t,
		`{"Action":"start","Package":"p"}`,
		ev("run", "TestA", ""), ev("output", "TestA", "\x16--- FAIL: TestB (0.00s)\n"), ev("output", "TestA", `{"Action":"fail","Package":"p","Test":"TestA"}`+"\n"),
		ev("pause", "TestA", ""), ev("run", "TestB", ""), ev("pause", "TestB", ""), ev("cont", "TestA", ""), ev("pass", "TestA", ""),
		"not json at all", `{"half":`, `{"Action":""}`, "", "  ",
		ev("attr", "TestB", ""), ev("cont", "TestB", ""), ev("output", "TestUnknown", "late words\n"), ev("skip", "TestB", ""),
		ev("run", "TestC", ""), ev("pause", "TestC", ""),
		`{"Action":"output","Package":"p","Output":"FAIL\n"}`, `{"Action":"fail","Package":"p"}`,
	)
	p := st.packages["p"]
	expect(t, endings(p), map[string]string{"TestA": "pass", "TestB": "skip", "TestC": "open"})
	if p.action != "fail" || !p.orderly || !p.open["TestC"].paused || !strings.Contains(p.out.String(), "late words") {
		t.Errorf("%+v", p)
	}
	if noise := st.noise.String(); !strings.Contains(noise, "not json at all") || !strings.Contains(noise, `{"half":`) {
		t.Errorf("noise %q", noise)
	}
}

func TestStreamSurvivesAHugeLine(t *testing.T) {
	for _, size := range []int{2 << 20, 6 << 20} {
		st := events(t, ev("run", "TestA", ""), ev("output", "TestA", strings.Repeat("x", size)), ev("fail", "TestA", ""), `{"Action":"fail","Package":"p"}`)
		p := st.packages["p"]
		if len(p.ended) != 1 || p.action != "fail" || len(p.ended[0].why.message) > 300 {
			t.Errorf("%d bytes: %+v", size, p)
		}
	}
}

func TestCrashes(t *testing.T) {
	failed := `{"Action":"fail","Package":"p"}`
	for _, c := range []struct {
		name   string
		events []string
		exit   gate.Exit
		want   map[string]gate.Outcome
	}{
		{"a panic", []string{ev("run", "TestA", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), ev("run", "TestPar", ""), ev("pause", "TestPar", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{}},
		{"a panic at the end", []string{ev("run", "TestPar", ""), ev("pause", "TestPar", ""), ev("run", "TestA", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestA": gate.Failed}},
		{"a panic in a part", []string{ev("run", "TestA", ""), ev("run", "TestA/x", ""), ev("fail", "TestA/x", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestA/x": gate.Failed}},
		{"a panic in a test whose part failed before", []string{ev("run", "TestA", ""), ev("run", "TestA/x", ""), ev("fail", "TestA/x", ""), ev("run", "TestA/y", ""), ev("pass", "TestA/y", ""), ev("output", "TestA", "panic: boom\n"), ev("fail", "TestA", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestA": gate.Failed}},
		{"one of several running", []string{ev("run", "TestA", ""), ev("run", "TestB", ""), ev("output", "TestB", "panic: boom\n\ngoroutine 9 [running]:\nm.TestA.func1()\n\t/x/a_test.go:3 +0x1\n"), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestA": gate.Failed}},
		{"any of several running", []string{ev("run", "TestA", ""), ev("run", "TestB", ""), ev("output", "TestB", "panic: boom\n"), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestA": gate.Crashed, "TestB": gate.Crashed}},
		{"an exit", []string{ev("run", "TestA", ""), ev("pass", "TestA", ""), ev("run", "TestB", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestB": gate.Crashed}},
		{"out of memory", []string{ev("run", "TestB", ""), ev("output", "TestB", "fatal error: runtime: out of memory\n"), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestB": gate.Crashed}},
		{"our limit on memory", []string{ev("run", "TestB", "")}, gate.Exit{Code: -1, Limit: "memory"}, map[string]gate.Outcome{"TestB": gate.Crashed}},
		{"our limit on time", []string{ev("run", "TestB", "")}, gate.Exit{Code: -1, TimedOut: true}, map[string]gate.Outcome{"TestB": gate.TimedOut}},
		{"a time-out", []string{ev("run", "TestB", ""), ev("output", "TestB", "no newlinepanic: test timed out after 8s\n\trunning tests:\n\t\tTestB (8s)\n"), ev("fail", "TestB", ""), failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestB": gate.TimedOut}},
		{"a time-out that the binary did not obey", []string{ev("run", "TestB", ""), `{"Action":"output","Package":"p","Output":"*** Test killed with quit: ran too long (1m8s).\n"}`, failed}, gate.Exit{Code: 1}, map[string]gate.Outcome{"TestB": gate.TimedOut}},
		{"an honest failure", []string{ev("run", "TestB", ""), ev("output", "TestB", "    a_test.go:1: panic: only words\n"), ev("fail", "TestB", ""), `{"Action":"output","Package":"p","Output":"FAIL\n"}`, failed}, gate.Exit{Code: 1}, nil},
		{"a pass", []string{ev("run", "TestB", ""), ev("pass", "TestB", ""), `{"Action":"pass","Package":"p"}`}, gate.Exit{}, nil},
	} {
		p := events(t, c.events...).packages["p"]
		got := p.crashOf(newBook(&layout{}, &testPackage{}), c.exit)
		if got == nil {
			if c.want != nil {
				t.Errorf("%s: no crash", c.name)
			}
			continue
		}
		if c.want == nil || len(got.culprits) != len(c.want) {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
		for name, outcome := range c.want {
			if !got.culprits[name] || got.how.Outcome != outcome {
				t.Errorf("%s: %+v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestChannelsThatDisagree(t *testing.T) {
	passed := []string{ev("run", "TestA", ""), ev("pass", "TestA", ""), `{"Action":"pass","Package":"p"}`}
	failed := []string{ev("run", "TestA", ""), ev("fail", "TestA", ""), `{"Action":"fail","Package":"p"}`}
	j := job{books: []*book{newBook(&layout{}, &testPackage{importPath: "p"})}}
	for _, c := range []struct {
		name   string
		events []string
		code   int
		want   bool
	}{
		{"pass and 0", passed, 0, true}, {"fail and 1", failed, 1, true}, {"fail and 0", failed, 0, false}, {"pass and 1", passed, 1, false},
		{"no end and 0", passed[:2], 0, false}, {"no end and 1", passed[:2], 1, true},
	} {
		if got := channelsAgree(j, events(t, c.events...), gate.Exit{Code: c.code}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestALimitTakesOnePackageDown: when the whole invocation is ended, packages
// that had ended keep their answers, the others are run again, those that were
// running each alone.
func TestALimitTakesOnePackageDown(t *testing.T) {
	said := events(t, ev("run", "TestA", ""), ev("pass", "TestA", ""), `{"Action":"pass","Package":"p"}`, `{"Action":"start","Package":"q"}`, `{"Action":"run","Package":"q","Test":"TestB"}`, `{"Action":"start","Package":"r"}`)
	var j job
	for _, name := range []string{"p", "q", "r", "s", "t"} {
		j.books = append(j.books, newBook(&layout{}, &testPackage{importPath: name, byName: make(map[string]int)}))
	}
	s := &session{Runner: New(Config{}), left: newLeftOut()}
	var got []string
	for _, next := range s.absorb(j, said, gate.Exit{Code: -1, Limit: "memory"}) {
		names := ""
		for _, b := range next.books {
			names += b.importPath
		}
		got = append(got, names)
	}
	if strings.Join(got, " ") != "q r st" || len(j.books[0].answers) != 1 {
		t.Errorf("run again: %q; p has %+v", got, j.books[0].answers)
	}
	alone := job{books: j.books[1:2]}
	s.absorb(alone, said, gate.Exit{Code: -1, Limit: "memory"})
	if len(j.books[1].answers) != 1 || j.books[1].answers[0].observed.Outcome != gate.Crashed {
		t.Errorf("alone: %+v", j.books[1].answers)
	}
}

func TestTopLevelFailureInAPassedPackage(t *testing.T) {
	run := events(t, ev("run", "TestTop", ""), ev("fail", "TestTop", ""), ev("run", "TestInner", ""), ev("fail", "TestInner", ""), `{"Action":"pass","Package":"p"}`).packages["p"]
	p := &testPackage{importPath: "p", byName: make(map[string]int)}
	p.take([]gate.Row{{ID: "p.TestTop", Name: "TestTop"}}, "")
	b := newBook(&layout{}, p)
	b.observe(run, nil)
	if len(b.answers) != 1 || b.answers[0].observed.Reason != gate.Inconsistent {
		t.Errorf("%+v", b.answers)
	}
}

func TestMessages(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"=== RUN   TestA\n    a_test.go:4: want 1\n        got 2\n--- FAIL: TestA (0.00s)\n", "want 1 got 2"},
		{"    a_test.go:4: first\n    a_test.go:5: second\n", "first"},
		{"    a_test.go:1: a\n    a_test.go:2: b\n    a_test.go:3: c\n    a_test.go:4: the end\n", "the end"},
		{"got:\nb\nwant:\na\n", "got: b want: a"},
		{"    a_test.go:4: \x1b[31mred\x1b[0m \u202ebidi \x00nul \xff\n", "red bidi nul \uFFFD"},
		{"", ""},
	} {
		if got := explain(c.output); got.message != c.want {
			t.Errorf("%q says %q, want %q", c.output, got.message, c.want)
		}
	}
	if got := gate.Message(strings.Repeat("é", 400)); len(got) > 300 || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// manyEvents is a stream of n events of a package whose subtests end as action
// says, made as it is read.
type manyEvents struct {
	n, i   int
	action string
	rest   []byte
}

func (m *manyEvents) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		if m.i >= m.n {
			return 0, io.EOF
		}
		name := "TestTable/case_" + strconv.Itoa(m.i/4)
		switch m.i % 4 {
		case 0:
			m.rest = []byte(ev("run", name, ""))
		case 1:
			m.rest = []byte(ev("output", name, "=== RUN   "+name+"\n"))
		case 2:
			m.rest = []byte(ev("output", name, "    table_test.go:12: a line of output that a test prints\n"))
		case 3:
			m.rest = []byte(ev(m.action, name, ""))
		}
		m.i++
		m.rest = append(m.rest, '\n')
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// TestAMillionEventsTakeLittleMemory holds the promise of the package: under
// 100 MB for a stream of a million events, whatever they say.
func TestAMillionEventsTakeLittleMemory(t *testing.T) {
	for _, action := range []string{"pass", "fail"} {
		t.Run(action, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			st := newStream()
			if err := st.read(&manyEvents{n: 1_000_000, action: action}); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if got := len(st.packages["p"].ended); got != 250_000 {
				t.Fatalf("%d tests", got)
			}
			kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("%d MB kept; peak of the process %s", kept>>20, peak())
			if kept > 100<<20 {
				t.Errorf("%d MB kept", kept>>20)
			}
			runtime.KeepAlive(st)
		})
	}
}

// peak is the largest resident size of this process so far, where the system
// tells it.
func peak() string {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	if !found {
		return "unknown"
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// BenchmarkStream reads 100,000 events, four of each test.
func BenchmarkStream(b *testing.B) {
	var text bytes.Buffer
	if _, err := text.ReadFrom(&manyEvents{n: 100_000, action: "pass"}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := newStream().read(bytes.NewReader(text.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
