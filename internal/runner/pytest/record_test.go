package pytest

import (
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func told(lines ...string) *session {
	s := newSession("pytest", nil)
	if err := s.read(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		panic(err)
	}
	return s
}

const (
	aRow  = `{"kind":"row","id":"t.py::a","file":"t.py","name":"a","line":3,"end":4,"digest":"d"}`
	setup = `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"setup","outcome":"passed","facts":{}}`
	tear  = `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"teardown","outcome":"passed","facts":{}}`
)

func call(outcome, rest string) string {
	return `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"call","outcome":"` + outcome + `"` + rest + `}`
}

func TestOutcomesAreToldApart(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		outcome gate.Outcome
		reason  gate.Reason
	}{
		{"a pass", []string{setup, call("passed", `,"facts":{}`), tear}, gate.Passed, ""},
		{"an assertion", []string{setup, call("failed", `,"facts":{"raised":true,"type":"AssertionError","assertion":true}`), tear}, gate.Failed, gate.Assertion},
		{"an exception", []string{setup, call("failed", `,"facts":{"raised":true,"type":"ValueError"}`), tear}, gate.Failed, gate.Exception},
		{"an import in the test", []string{setup, call("failed", `,"facts":{"raised":true,"type":"ImportError","import":true}`), tear}, gate.Errored, gate.Import},
		{"an import in the code", []string{setup, call("failed", `,"facts":{"raised":true,"type":"ImportError","import":true,"from_production":true}`), tear}, gate.Failed, gate.Exception},
		{"a fixture", []string{`{"kind":"report","id":"t.py::a","node":"t.py::a","when":"setup","outcome":"failed","facts":{"raised":true,"type":"ValueError"}}`, tear}, gate.Errored, gate.Setup},
		{"a tear-down", []string{setup, call("passed", `,"facts":{}`), `{"kind":"report","id":"t.py::a","node":"t.py::a","when":"teardown","outcome":"failed","facts":{"raised":true,"type":"ValueError"}}`}, gate.Errored, gate.Setup},
		{"a skip", []string{`{"kind":"report","id":"t.py::a","node":"t.py::a","when":"setup","outcome":"skipped","skip":"Skipped: later","facts":{"raised":true}}`, tear}, gate.Skipped, ""},
		{"an expected failure", []string{setup, call("skipped", `,"xfail":"known","facts":{"raised":true}`), tear}, gate.Skipped, ""},
		{"an unexpected pass", []string{setup, call("passed", `,"xfail":"known","facts":{}`), tear}, gate.Passed, ""},
		{"a strict unexpected pass", []string{setup, call("failed", `,"longrepr":"[XPASS(strict)] known","facts":{}`), tear}, gate.Failed, gate.Assertion},
		{"a pass made of a failure", []string{setup, call("passed", `,"facts":{"raised":true}`), tear}, gate.Errored, gate.Inconsistent},
		{"a failure made of a pass", []string{setup, call("failed", `,"longrepr":"boo","facts":{}`), tear}, gate.Errored, gate.Inconsistent},
		{"no call", []string{setup, tear}, gate.Errored, gate.NoReport},
	} {
		attempts := told(append([]string{aRow}, c.lines...)...).observations("t.py::a")
		if len(attempts) != 1 || attempts[0].Outcome != c.outcome || attempts[0].Reason != c.reason {
			t.Errorf("%s: %+v, want %s %s", c.name, attempts, c.outcome, c.reason)
		}
	}
}

func TestEveryAttemptIsAnObservation(t *testing.T) {
	s := told(aRow, setup, call("rerun", `,"facts":{"raised":true,"type":"AssertionError","assertion":true}`), tear, setup, call("passed", `,"facts":{}`), tear)
	attempts := s.observations("t.py::a")
	if len(attempts) != 2 || attempts[0].Outcome != gate.Failed || attempts[1].Outcome != gate.Passed {
		t.Errorf("%+v", attempts)
	}
}

func TestARowThatNeverEndsIsTheCulprit(t *testing.T) {
	s := told(`{"kind":"start"}`, aRow, strings.ReplaceAll(aRow, "::a", "::b"), `{"kind":"begin","node":"t.py::a"}`, setup, `{"kind":"report","id":`)
	if got := s.running(); len(got) != 1 || got[0] != "t.py::a" || s.ended || s.bad != 1 {
		t.Errorf("running %v, %v", got, s)
	}
	r := &run{Runner: New(Config{}), answered: map[string]bool{}, failed: map[string]bool{}}
	rest := r.absorb(s, gate.Exit{Code: 3})
	if len(rest) != 1 || rest[0] != "t.py::b" || len(r.result.Rows) != 1 || r.result.Rows[0].Observations[0].Outcome != gate.Crashed {
		t.Errorf("rest %v, %+v", rest, r.result)
	}
}

func TestTheExitStatusMustAgree(t *testing.T) {
	s := told(`{"kind":"start"}`, aRow, setup, call("failed", `,"facts":{"raised":true,"type":"AssertionError","assertion":true}`), tear, `{"kind":"finish","status":1}`)
	r := &run{Runner: New(Config{}), units: []string{"t.py"}, answered: map[string]bool{}, failed: map[string]bool{}}
	if rest := r.absorb(s, gate.Exit{Code: 0}); rest != nil || len(r.result.Rows) != 0 || len(r.result.Units) != 1 || r.result.Units[0].Observation.Reason != gate.Inconsistent {
		t.Errorf("%+v", r.result)
	}
}

// tree is a few files.
type tree map[string]string

func (t tree) Paths() []string {
	var list []string
	for name := range t {
		list = append(list, name)
	}
	return list
}

func (t tree) ReadFile(name string) ([]byte, error) { return []byte(t[name]), nil }

func TestUnits(t *testing.T) {
	suite := tree{
		"pytest.ini": "[pytest]\n", "tests/test_a.py": "from tests.maker import make\n", "tests/test_b.py": "open('data/b.json')\n", "tests/deep/test_c.py": "x = 1\n",
		"tests/maker.py": "from .inner import part\n", "tests/inner.py": "part = 1\n", "tests/conftest.py": "", "tests/deep/conftest.py": "", "tests/data/b.json": "{}", "tests/data/z.bin": "", "tests/typing/t.py": "",
	}
	for _, c := range []struct {
		path string
		want string
	}{
		{"tests/test_a.py", "tests/test_a.py"},
		{"tests/gone_test.py", ""},
		{"tests/conftest.py", "tests/deep/test_c.py tests/test_a.py tests/test_b.py"},
		{"tests/deep/conftest.py", "tests/deep/test_c.py"},
		{"tests/maker.py", "tests/test_a.py"},
		{"tests/inner.py", "tests/test_a.py"},
		{"tests/data/b.json", "tests/test_b.py"},
		{"tests/data/z.bin", "tests/test_b.py"},
		{"tests/typing/t.py", ""},
	} {
		units, err := New(Config{}).Units(t.Context(), suite, []string{c.path}, false)
		got := map[string]bool{}
		for _, unit := range units {
			got[unit] = true
		}
		want := strings.Fields(c.want)
		for _, unit := range want {
			if !got[unit] {
				t.Errorf("%s: %v, want %q (%v)", c.path, units, c.want, err)
			}
		}
		if len(units) != len(want) {
			t.Errorf("%s: %v, want %q", c.path, units, c.want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		tree tree
		want string
	}{
		{tree{"pyproject.toml": "[tool.pytest.ini_options]\n", "tests/test_a.py": ""}, "."},
		{tree{"tests/test_a.py": ""}, "."},
		{tree{"sub/pytest.ini": "[pytest]\n", "sub/test_a.py": ""}, "sub"},
		{tree{"pyproject.toml": "[tool.black]\n", "a.py": ""}, ""},
		{tree{"node_modules/x/test_a.py": ""}, ""},
	} {
		found := Detect(c.tree)
		got := ""
		if len(found) > 0 {
			got = found[0].Dir
		}
		if got != c.want {
			t.Errorf("%v: %+v, want %q", c.tree, found, c.want)
		}
	}
}

func TestSetting(t *testing.T) {
	for content, want := range map[string]string{
		"[pytest]\npython_files = check_*.py test_*.py\nx = 1\n":                     "check_*.py test_*.py",
		"[tool.pytest.ini_options]\npython_files = [\n  \"a_*.py\",\n  'b.py',\n]\n": "a_*.py b.py",
		"[pytest]\npython_files =\n    one.py\n    two.py\naddopts = -x\n":           "one.py two.py",
		"[pytest]\n": "",
	} {
		if got := strings.Join(setting(content, "python_files"), " "); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}
