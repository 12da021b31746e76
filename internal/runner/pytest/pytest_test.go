package pytest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

var _ gate.Runner = (*Runner)(nil)

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		tree fakeTree
		want []string
	}{
		"nothing":                            {fakeTree{"a.py": ""}, nil},
		"by name":                            {fakeTree{"x/test_a.py": "def test_a(): pass"}, []string{". test file x/test_a.py"}},
		"only a name":                        {fakeTree{"scripts/test_speed.py": "print(1)"}, nil},
		"vendored":                           {fakeTree{"vendor/test_a.py": "def test_a(): pass", "node_modules/x/pytest.ini": ""}, nil},
		"empty ini":                          {fakeTree{"pytest.ini": ""}, []string{". pytest.ini [pytest]"}},
		"toml":                               {fakeTree{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{". pyproject.toml [tool.pytest]"}},
		"other toml":                         {fakeTree{"pyproject.toml": "[tool.black]\n# [tool.pytest"}, nil},
		"broken toml":                        {fakeTree{"pyproject.toml": "[tool.pytest"}, nil},
		"tox":                                {fakeTree{"tox.ini": "[tox]\n[pytest]\n"}, []string{". tox.ini [pytest]"}},
		"setup.cfg":                          {fakeTree{"setup.cfg": "[tool:pytest]\n", "sub/pytest.ini": ""}, []string{". setup.cfg [tool:pytest]"}},
		"several":                            {fakeTree{"a/b/pytest.ini": "", "a/pytest.ini": "", "c/tox.ini": "[pytest]"}, []string{"a a/pytest.ini [pytest]", "c c/tox.ini [pytest]"}},
		"unittest, and nothing names pytest": {fakeTree{"tests/test_a.py": "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass"}, []string{"unittest . test file tests/test_a.py: a test case of unittest, and nothing names pytest"}},
		"unittest by a command":              {fakeTree{"Makefile": "test:\n\tpython -m unittest discover\n", "tests/test_a.py": "class A(MyTestCase):\n    def test_a(self): pass"}, []string{"unittest . test file tests/test_a.py, which Makefile runs by unittest"}},
		"unittest by another pattern":        {fakeTree{"tox.ini": "[testenv]\ncommands = python -m unittest discover -p 'check_*.py'\n", "tests/check_a.py": "class A(TestCase):\n    def test_a(self): pass"}, []string{"unittest . test file tests/check_a.py, which tox.ini runs by unittest"}},
		"test cases, and pytest is named":    {fakeTree{"requirements-dev.txt": "pytest>=7\n", "tests/test_a.py": "class A(TestCase):\n    def test_a(self): pass"}, []string{". test file tests/test_a.py"}},
		"pytest runs another project's":      {fakeTree{"tox.ini": "commands = python -m unittest discover\n", ".github/workflows/ci.yml": "run: python -m unittest\n", ".github/workflows/others.yml": "run: pytest others\n", "tests/test_a.py": "class A(TestCase):\n    def test_a(self): pass"}, []string{"unittest . test file tests/test_a.py, which tox.ini runs by unittest"}},
		"test cases beside plain tests":      {fakeTree{"test_a.py": "class A(TestCase):\n    def test_a(self): pass", "test_b.py": "def test_b(): pass"}, []string{". test file test_a.py"}},
		"django":                             {fakeTree{"site/manage.py": "DJANGO_SETTINGS_MODULE", "site/app/tests.py": "class A(TestCase):\n    def test_a(self): pass"}, []string{"django site site/manage.py"}},
		"django by pytest":                   {fakeTree{"manage.py": "DJANGO_SETTINGS_MODULE", "setup.cfg": "[tool:pytest]\nDJANGO_SETTINGS_MODULE = x\n", "app/tests.py": "class A(TestCase):\n    def test_a(self): pass"}, []string{". setup.cfg [tool:pytest]"}},
		"a manage.py without tests":          {fakeTree{"manage.py": "DJANGO_SETTINGS_MODULE", "app/models.py": ""}, nil},
		"one and lonely":                     {fakeTree{"a/pytest.ini": "", "z/test_z.py": "def test_z(): 1"}, []string{". test file z/test_z.py", "a a/pytest.ini [pytest]"}},
	} {
		var got []string
		for _, candidate := range Detect(c.tree) {
			got = append(got, strings.TrimPrefix(candidate.Framework+" ", "pytest ")+candidate.Dir+" "+candidate.Why)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestReadProject(t *testing.T) {
	for name, c := range map[string]struct{ file, content, files, testpaths, norecurse string }{
		"toml":           {"pyproject.toml", "[tool.pytest.ini_options]\npython_files = [\"check_*.py\", 'x_*.py'] # why\ntestpaths = [\n \"a\", # first\n \"b\",\n]\n", "check_*.py x_*.py", "a b", ""},
		"toml words":     {"pyproject.toml", "[tool.pytest.ini_options]\npython_files = \"a_*.py b_*.py\"\n", "a_*.py b_*.py", "", ""},
		"native toml":    {"pyproject.toml", "[tool.pytest]\npython_files = [\"n_*.py\"]\n", "n_*.py", "", ""},
		"pytest.toml":    {"pytest.toml", "[pytest]\ntestpaths = [\"q\"]\n", "test_*.py *_test.py", "q", ""},
		"ini lines":      {"pytest.ini", "[pytest]\npython_files =\n    one_*.py\n    # no\n\n    two_*.py\ntestpaths: t u\n[other]\ntestpaths = no\n", "one_*.py two_*.py", "t u", ""},
		"setup.cfg":      {"setup.cfg", "[metadata]\nname = x\n[tool:pytest]\nnorecursedirs = data\n", "test_*.py *_test.py", "", "data"},
		"another's":      {"tox.ini", "[testenv]\npython_files = no\n", "test_*.py *_test.py", "", ""},
		"continued name": {"pytest.ini", "[pytest]\naddopts = -x\n  -k a=b\npython_files = z_*.py\n", "z_*.py", "", ""},
	} {
		p := readProject(fakeTree{c.file: c.content}, "deep/inside")
		if c.norecurse == "" {
			c.norecurse = strings.Join(defaultNorecurse, " ")
		}
		got := []string{strings.Join(p.files, " "), strings.Join(p.testpaths, " "), strings.Join(p.norecurse, " ")}
		if want := []string{c.files, c.testpaths, c.norecurse}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestFnmatch(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"test_*.py", "a/test_x.py", true}, {"test_*.py", "a/my_test_x.py", false}, {"test_?.py", "test_ab.py", false},
		{"t[!a].py", "tb.py", true}, {"t[!a].py", "ta.py", false}, {"t[.py", "t[.py", true}, {"a/*.py", "x/a/b/c.py", true}, {"a/*.py", "xa/c.py", false},
		{"{arch}", "{arch}", true}, {".*", ".git", true},
	} {
		if got := matchesAny([]string{c.pattern}, c.file); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.file, got)
		}
	}
}

func TestUnits(t *testing.T) {
	tree := fakeTree{
		"pytest.ini":                          "[pytest]\ntestpaths = tests\nnorecursedirs = scripts\n",
		"pkg/core.py":                         "",
		"tests/__init__.py":                   "",
		"tests/conftest.py":                   "",
		"tests/helpers.py":                    "from tests import deep",
		"tests/deep.py":                       "",
		"tests/lonely.py":                     "",
		"tests/plugin.py":                     "",
		"tests/scripts/test_sample.py":        "",
		"tests/test_a.py":                     "from .helpers import x\nopen('data/one.json')",
		"tests/test_b.py":                     "import os\ndef test(): glob('*.toml')",
		"tests/sub/conftest.py":               "pytest_plugins = [\n 'tests.plugin']",
		"tests/sub/test_c.py":                 "from tests.test_b import (\n    lent,  # a\n    other)",
		"tests/sub/test_d.py":                 "",
		"tests/sub/data/one.json":             "",
		"tests/sub/__snapshots__/test_d.ambr": "",
		"tests/sub/cases/x.toml":              "",
		"tests/typing/typing_a.py":            "",
		"tests/unread/blob.bin":               "",
		"other/test_by_hand.py":               "def test(): pass",
		"build/test_no.py":                    "",
	}
	for name, c := range map[string]struct{ paths, want string }{
		"itself":                        {"tests/sub/test_d.py", "tests/sub/test_d.py"},
		"lent to another":               {"tests/test_b.py", "tests/sub/test_c.py tests/test_b.py"},
		"outside of testpaths":          {"other/test_by_hand.py", "other/test_by_hand.py"},
		"left out by norecursedirs":     {"tests/scripts/test_sample.py", ""},
		"deleted test":                  {"tests/test_gone.py", ""},
		"conftest":                      {"tests/sub/conftest.py", "tests/sub/test_c.py tests/sub/test_d.py"},
		"helper":                        {"tests/helpers.py", "tests/test_a.py"},
		"helper of a helper":            {"tests/deep.py", "tests/test_a.py"},
		"helper that nobody names":      {"tests/lonely.py", "tests/sub/test_c.py tests/sub/test_d.py tests/test_a.py tests/test_b.py"},
		"plugin of a conftest":          {"tests/plugin.py", "tests/sub/test_c.py tests/sub/test_d.py"},
		"typing":                        {"tests/typing/typing_a.py", ""},
		"data by name":                  {"tests/data/one.json", "tests/test_a.py"},
		"data by name from elsewhere":   {"tests/sub/data/one.json", "tests/test_a.py"},
		"data by kind":                  {"tests/cases/x.toml", "tests/test_b.py"},
		"snapshot":                      {"tests/sub/__snapshots__/test_d.ambr", "tests/sub/test_d.py"},
		"data that nobody names":        {"tests/unread/blob.bin", "tests/test_a.py tests/test_b.py"},
		"deleted data that one named":   {"tests/data/one.json tests/gone.json", "tests/test_a.py tests/test_b.py"},
		"production is nobody's helper": {"pkg/core.py", ""},
	} {
		got, err := New(Config{}).Units(t.Context(), tree, strings.Fields(c.paths), false)
		if want := strings.Fields(c.want); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
		}
	}
	all, _ := New(Config{}).Units(t.Context(), tree, nil, true)
	if want := strings.Fields("tests/sub/test_c.py tests/sub/test_d.py tests/test_a.py tests/test_b.py"); !slices.Equal(all, want) {
		t.Errorf("all: got %q, want %q", all, want)
	}
}

func TestUnitsOfADirectory(t *testing.T) {
	tree := fakeTree{"a/test_a.py": "x = 'shared.json'", "b/test_b.py": "", "shared.json": ""}
	got, _ := New(Config{Dir: "a"}).Units(t.Context(), tree, []string{"shared.json", "b/test_b.py"}, false)
	if !slices.Equal(got, []string{"a/test_a.py"}) {
		t.Errorf("got %q", got)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\n  b\tc":                  "a b c",
		"\x1b[31mred\x1b[0m\x07":     "red",
		"bad \xff byte":              "bad \uFFFD byte",
		"at 0x7f296eca63e0 and 0x12": "at 0x_ and 0x12",
		"bidi \u202Eevil":            "bidi evil",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := clean(strings.Repeat("é", 400)); len(got) > 300 || !strings.HasSuffix(got, "é…") {
		t.Errorf("cut to %d bytes: %q", len(got), got[len(got)-10:])
	}
}

// TestDamagedRecords: what the stream lost is missing, and nothing else.
func TestDamagedRecords(t *testing.T) {
	long := `{"kind": "row", "row": {"id": "` + strings.Repeat("x", maxRecord) + `"}}`
	stream := strings.Join([]string{
		`{"kind": "start"}`, `garbage`, long, `{"kind": "row", "row": {"id": "t.py::a", "node": "t.py::a", "unit": "t.py"}}`,
		`{"kind": "report", "id": "t.py::a", "when": "setup", "outcome": "passed"}`,
		`{"kind": "report", "id": "t.py::a", "when": "call", "outco`,
	}, "\n")
	s := newSession("pytest", nil)
	if err := readRecords(strings.NewReader(stream), s.take); err != nil {
		t.Fatal(err)
	}
	if !s.began || !slices.Equal(s.order, []string{"t.py::a"}) || s.ended {
		t.Errorf("read %v %v %v", s.began, s.order, s.ended)
	}
	if o := s.last("t.py::a"); o.Outcome != gate.Errored || o.Reason != gate.NoReport {
		t.Errorf("a call without a report reads %v", o)
	}
}

func TestMissingTools(t *testing.T) {
	empty := t.TempDir()
	tools := func(names ...string) string {
		dir := t.TempDir()
		for _, name := range names {
			real, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is needed: %v", name, err)
			}
			if err := os.Symlink(real, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	noPytest := tools("sh", "env")
	if err := os.WriteFile(filepath.Join(noPytest, "python3"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path    string
		command []string
		want    string
	}{
		"no python":          {tools("sh"), nil, "python"},
		"no pytest":          {noPytest, nil, "pytest"},
		"configured command": {empty, []string{"no-such-python-here", "-m", "pytest"}, "no-such-python-here"},
	} {
		state := plainstate.New(t, "-- test_a.py --\ndef test_a(): pass\n")
		state.Env = []string{"PATH=" + c.path, "VIRTUAL_ENV="}
		_, err := New(Config{Command: c.command}).Run(t.Context(), state, gate.Batch{Units: []string{"test_a.py"}})
		var missing *MissingToolError
		if !errors.As(err, &missing) || missing.Tool != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFindsInterpreter: a virtual environment of the tree goes before PATH, and
// the shown command names what ran.
func TestFindsInterpreter(t *testing.T) {
	interpreter, err := exec.LookPath(python(t))
	if err != nil {
		t.Fatal(err)
	}
	state := plainstate.New(t, "-- sub/tests/test_a.py --\ndef test_a(): pass\n")
	bin := filepath.Join(state.Dir(), ".venv", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec '" + interpreter + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "python"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	runner := New(Config{Dir: "sub"})
	for range 2 { // looked for, then known
		result, err := runner.Run(t.Context(), state, gate.Batch{Units: []string{"sub/tests/test_a.py"}})
		if err != nil || len(result.Rows) != 1 {
			t.Fatalf("%v %v", result, err)
		}
		if got := strings.Join(result.Commands[0], " "); got != "env -C sub ../.venv/bin/python -m pytest tests/test_a.py" {
			t.Errorf("shown as %q", got)
		}
	}
}

func TestNoUnitRunsNothing(t *testing.T) {
	state := plainstate.New(t, "-- test_a.py --\ndef test_a(): pass\n")
	result, err := New(Config{}).Run(t.Context(), state, gate.Batch{Units: []string{"test_gone.py"}})
	if err != nil || len(result.Rows)+len(result.Units)+len(result.Commands) != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
}
