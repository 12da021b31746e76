package pytest

import (
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func told(t *testing.T, lines ...string) *session {
	t.Helper()
	s := newSession("pytest", nil)
	if err := readRecords(strings.NewReader(strings.Join(lines, "\n")), s.take); err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	aRow  = `{"kind":"row","row":{"id":"t.py::a","node":"t.py::a","unit":"t.py","file":"t.py","name":"a","line":3,"end":4,"digest":"d"}}`
	setup = `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"setup","outcome":"passed","facts":{}}`
	tear  = `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"teardown","outcome":"passed","facts":{}}`
)

func reported(when, outcome, rest string) string {
	return `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"` + when + `","outcome":"` + outcome + `"` + rest + `}`
}

// TestOutcomesAreToldApart holds the cases that no small suite makes by itself
// beside those that it does (see testdata/observe).
func TestOutcomesAreToldApart(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		outcome gate.Outcome
		reason  gate.Reason
	}{
		{"a pass", []string{setup, reported("call", "passed", ""), tear}, gate.Passed, ""},
		{"an assertion", []string{setup, reported("call", "failed", `,"facts":{"type":"AssertionError","assertion":true}`), tear}, gate.Failed, gate.Assertion},
		{"an exception", []string{setup, reported("call", "failed", `,"facts":{"type":"ValueError"}`), tear}, gate.Failed, gate.Exception},
		{"an import in the test", []string{setup, reported("call", "failed", `,"facts":{"type":"ImportError","import":true}`), tear}, gate.Errored, gate.Import},
		{"an import in the code", []string{setup, reported("call", "failed", `,"facts":{"type":"ImportError","import":true,"from_production":true}`), tear}, gate.Failed, gate.Exception},
		{"a time limit", []string{setup, reported("call", "failed", `,"facts":{"type":"Failed","assertion":true,"message":"Failed: Timeout (>1.0s) from pytest-timeout."}`), tear}, gate.TimedOut, gate.Timeout},
		{"a fixture", []string{reported("setup", "failed", `,"facts":{"type":"ValueError"}`), tear}, gate.Errored, gate.Setup},
		{"an import in a fixture", []string{reported("setup", "failed", `,"facts":{"type":"ImportError","import":true}`), tear}, gate.Errored, gate.Import},
		{"a teardown", []string{setup, reported("call", "passed", ""), reported("teardown", "failed", `,"facts":{"type":"ValueError"}`)}, gate.Errored, gate.Setup},
		{"a failure before a bad teardown", []string{setup, reported("call", "failed", `,"facts":{"type":"AssertionError","assertion":true}`), reported("teardown", "failed", `,"facts":{"type":"ValueError"}`)}, gate.Failed, gate.Assertion},
		{"a skip", []string{reported("setup", "skipped", `,"skip":"later"`), tear}, gate.Skipped, ""},
		{"an expected failure", []string{setup, reported("call", "skipped", `,"xfail":"known"`), tear}, gate.Skipped, ""},
		{"an unexpected pass", []string{setup, reported("call", "passed", `,"xfail":"known"`), tear}, gate.Passed, ""},
		{"a strict unexpected pass", []string{setup, reported("call", "failed", `,"words":"[XPASS(strict)] known"`), tear}, gate.Failed, gate.Assertion},
		{"a pass made of a failure", []string{setup, reported("call", "passed", `,"facts":{"type":"ValueError"}`), tear}, gate.Errored, gate.Inconsistent},
		{"a failure made of a pass", []string{setup, reported("call", "failed", `,"words":"boo"`), tear}, gate.Errored, gate.Inconsistent},
		{"a skipped part", []string{setup, reported("call", "skipped", `,"part":true`), reported("call", "passed", ""), tear}, gate.Passed, ""},
		{"a failed part", []string{setup, reported("call", "failed", `,"part":true,"facts":{"type":"AssertionError","assertion":true}`), reported("call", "passed", ""), tear}, gate.Failed, gate.Assertion},
		{"no call", []string{setup, tear}, gate.Errored, gate.NoReport},
	} {
		attempts := told(t, append([]string{aRow}, c.lines...)...).observations("t.py::a")
		if len(attempts) != 1 || attempts[0].Outcome != c.outcome || attempts[0].Reason != c.reason {
			t.Errorf("%s: %+v, want %s %s", c.name, attempts, c.outcome, c.reason)
		}
	}
}

func TestEveryAttemptIsAnObservation(t *testing.T) {
	s := told(t, aRow, setup, reported("call", "rerun", `,"facts":{"type":"AssertionError","assertion":true}`), tear, setup, reported("call", "passed", ""), tear)
	attempts := s.observations("t.py::a")
	if len(attempts) != 2 || attempts[0].Outcome != gate.Failed || attempts[1].Outcome != gate.Passed {
		t.Errorf("%+v", attempts)
	}
}

// TestContradiction: a claim that all went well is held against the records.
func TestContradiction(t *testing.T) {
	const red = `,"facts":{"type":"AssertionError","assertion":true}`
	for _, c := range []struct {
		name  string
		lines []string
		code  int
		want  bool
	}{
		{"green", []string{setup, reported("call", "passed", ""), tear, `{"kind":"finish","status":0}`}, 0, false},
		{"red", []string{setup, reported("call", "failed", red), tear, `{"kind":"finish","status":1}`}, 1, false},
		{"red that exits with 0", []string{setup, reported("call", "failed", red), tear, `{"kind":"finish","status":1}`}, 0, true},
		{"red that ends with 0", []string{setup, reported("call", "failed", red), tear, `{"kind":"finish","status":0}`}, 0, true},
		{"red, then green", []string{setup, reported("call", "rerun", red), tear, setup, reported("call", "passed", ""), tear, `{"kind":"finish","status":0}`}, 0, false},
		{"green under a threshold", []string{setup, reported("call", "passed", ""), tear, `{"kind":"finish","status":0}`}, 1, false},
		{"cut short", []string{setup, reported("call", "failed", red)}, 0, false},
	} {
		h := heard{session: told(t, append([]string{aRow}, c.lines...)...), exit: gate.Exit{Code: c.code}}
		if why := h.contradiction(); (why != "") != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// TestTimeIsPutDownToWhoTookIt: when the time is up, a row that had just begun
// is asked again rather than blamed.
func TestTimeIsPutDownToWhoTookIt(t *testing.T) {
	b := strings.NewReplacer("::a", "::b")
	for begin, killers := range map[string]int{"109": 0, "101": 1} {
		h := heard{
			session: told(t, `{"kind":"start","at":100}`, aRow, b.Replace(aRow), `{"kind":"begin","id":"t.py::a","at":100}`, setup, reported("call", "passed", ""), tear, `{"kind":"begin","id":"t.py::b","at":`+begin+`}`),
			exit:    gate.Exit{TimedOut: true, Wall: 10e9, Code: -1},
		}
		if got := h.killers(5e9); len(got) != killers {
			t.Errorf("begun at %s: %v", begin, got)
		}
	}
}
