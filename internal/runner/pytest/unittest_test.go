package pytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const casesText = `
-- src/own.py --
def twice(x):
    return 2 * x
-- tests/test_a.py --
import unittest
from helper import three
from own import twice

class ATest(unittest.TestCase):
    def setUp(self):
        self.n = 1
        if self.id().endswith("broken"):
            raise OSError("no server")
    def test_passes(self):
        self.assertEqual(twice(self.n), 2)
    def test_fails(self):
        self.assertEqual(twice(self.n), three)
    def test_broken(self):
        pass
    def test_leaves(self):
        self.addCleanup(lambda: 1 / 0)
    def test_parts(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
    def test_skips(self):
        raise unittest.SkipTest("why")
-- tests/helper.py --
three = 3
-- other/test_a.py --
import unittest
class ATest(unittest.TestCase):
    def test_of_the_same_name(self):
        pass
`

const casesWant = `
tests/test_a.py::ATest::test_broken: errored setup
tests/test_a.py::ATest::test_expected: skipped
tests/test_a.py::ATest::test_fails: failed assertion
tests/test_a.py::ATest::test_leaves: errored setup
tests/test_a.py::ATest::test_parts: failed assertion
tests/test_a.py::ATest::test_passes: passed
tests/test_a.py::ATest::test_skips: skipped
other/test_a.py::ATest::test_of_the_same_name: passed
`

// TestInterpreters runs unittest by every interpreter that is at hand, one runner
// for each, as a configuration with several entries does. The tests lie beside a
// helper, import from src, and share a module's name.
func TestInterpreters(t *testing.T) {
	programs, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".pyenv/versions/3.*/bin/python"))
	programs = append(programs, interpreters()...)
	ran := 0
	for _, program := range programs {
		if exec.Command(program, "-c", "import sys; sys.exit(sys.version_info < (3, 7))").Run() != nil {
			continue
		}
		ran++
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(program)))+"-"+filepath.Base(program), func(t *testing.T) {
			state := plainstate.New(t, casesText)
			r := New(Config{Framework: Unittest, Name: program, Command: []string{program}, Timeout: time.Minute})
			units, err := r.Units(t.Context(), state.Tree(), nil, true)
			if err != nil {
				t.Fatal(err)
			}
			result, err := r.Run(t.Context(), state, gate.Batch{Units: units, Subjects: []string{"src/own.py"}})
			if err != nil {
				t.Fatal(err)
			}
			want := casesWant
			if exec.Command(program, "-c", "import sys; sys.exit(sys.version_info >= (3, 8))").Run() == nil {
				want = strings.Replace(want, "test_leaves: errored setup", "test_leaves: failed exception", 1) // 3.7 does not tell cleaning up from the test
			}
			plainstate.Compare(t, result, want)
			if len(result.Loaded) != 1 || !result.Loaded[0].InTree {
				t.Errorf("loaded %+v", result.Loaded)
			}
		})
	}
	if ran == 0 {
		t.Skip("no Python 3.7 or later is at hand")
	}
}

// TestBeforeInstalled loads what lies beside the tests before an installed package
// of the same name, also in src.
func TestBeforeInstalled(t *testing.T) {
	state := plainstate.New(t, "-- src/pip.py --\nOWN = True\n-- src/test_a.py --\nimport unittest, pip\nclass ATest(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(pip.OWN)\n")
	result, err := New(Config{Framework: Unittest, Command: []string{having(t, "pip")}}).Run(t.Context(), state, gate.Batch{Units: []string{"src/test_a.py"}, Subjects: []string{"src/pip.py"}})
	if err != nil {
		t.Fatal(err)
	}
	plainstate.Compare(t, result, "src/test_a.py::ATest::test_a: passed\n")
	if len(result.Loaded) != 1 || !result.Loaded[0].InTree {
		t.Errorf("loaded %+v", result.Loaded)
	}
}

// TestForgery notices test code that makes unittest pass what fails.
func TestForgery(t *testing.T) {
	state := plainstate.New(t, `
-- tests/__init__.py --
import unittest
unittest.TestCase._callTestMethod = lambda self, method: None
-- tests/test_a.py --
import unittest
class ATest(unittest.TestCase):
    def test_a(self):
        self.fail()
`)
	program := having(t, Unittest)
	if exec.Command(program, "-c", "import sys; sys.exit(sys.version_info < (3, 8))").Run() != nil {
		t.Skip("Python 3.7 has no such method")
	}
	r := New(Config{Framework: Unittest, Command: []string{program}})
	result, err := r.Run(t.Context(), state, gate.Batch{Units: []string{"tests/test_a.py"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(result.Forged, "tests/test_a.py") || !slices.Contains(result.Replaced, "unittest.case.TestCase._callTestMethod by tests/__init__.py") {
		t.Errorf("forged %q, replaced %q", result.Forged, result.Replaced)
	}
	asked, err := r.Canary(t.Context(), state, gate.Batch{Units: []string{"tests/test_a.py"}}, []string{"tests/__init__.py"})
	if err != nil || !slices.Equal(asked.Forged, []string{"tests/test_a.py"}) {
		t.Errorf("canary: %+v, %v", asked, err)
	}
}

// TestFind takes the interpreter of the environment that a tool keeps.
func TestFind(t *testing.T) {
	real, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not in PATH")
	}
	wrap := "#!/bin/sh\nexec " + real + " \"$@\"\n"
	const test = "import os, unittest\nclass ATest(unittest.TestCase):\n    def test_a(self):\n        pass\n"
	for name, c := range map[string]struct {
		files map[string]string // "bin/" is in PATH
		want  string
	}{
		"a virtual environment": {map[string]string{".venv/bin/python": wrap}, ".venv/bin/python"},
		"tox":                   {map[string]string{".tox/py3/bin/python": wrap}, ".tox/py3/bin/python"},
		"nox":                   {map[string]string{".nox/tests/bin/python": wrap}, ".nox/tests/bin/python"},
		"poetry":                {map[string]string{"poetry.lock": "", "kept/bin/python": wrap, "bin/poetry": "#!/bin/sh\n[ \"$*\" = 'env info --path' ] && echo \"$PWD/kept\"\n"}, "kept/bin/python"},
		"pipenv":                {map[string]string{"Pipfile": "", "kept/bin/python": wrap, "bin/pipenv": "#!/bin/sh\n[ \"$*\" = '--venv' ] && echo \"$PWD/kept\"\n"}, "kept/bin/python"},
		"hatch":                 {map[string]string{"pyproject.toml": "[tool.hatch.envs.test]\n", "kept/bin/python": wrap, "bin/hatch": "#!/bin/sh\n[ \"$3\" = test ] && echo \"$PWD/kept\"\n"}, "kept/bin/python"},
		"pdm":                   {map[string]string{"pdm.lock": "", "kept/bin/python": wrap, "bin/pdm": "#!/bin/sh\necho \"$PWD/kept/bin/python\"\n"}, "kept/bin/python"},
		"none but PATH's":       {nil, "python3"},
	} {
		t.Run(name, func(t *testing.T) {
			state := plainstate.New(t, "-- test_a.py --\n"+test)
			for file, text := range c.files {
				full := filepath.Join(state.Dir(), file)
				if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			state.Env = []string{"VIRTUAL_ENV=", "PATH=" + filepath.Join(state.Dir(), "bin") + ":" + os.Getenv("PATH")}
			result, err := New(Config{Framework: Unittest}).Run(t.Context(), state, gate.Batch{Units: []string{"test_a.py"}})
			if err != nil {
				t.Fatal(err)
			}
			plainstate.Compare(t, result, "test_a.py::ATest::test_a: passed\n")
			if program := result.Commands[0][0]; !strings.HasSuffix(program, c.want) {
				t.Errorf("ran by %s, want %s", program, c.want)
			}
			if shown := strings.Join(result.Commands[0][1:], " "); shown != "-m unittest test_a" {
				t.Errorf("shown as %q", shown)
			}
		})
	}
}

// TestInterpreterOf reads a command's interpreter off its words.
func TestInterpreterOf(t *testing.T) {
	for command, want := range map[string]string{
		"python -m pytest":                   "python",
		"/opt/py/bin/python3.12 -X dev -m x": "/opt/py/bin/python3.12",
		"uv run pytest -q":                   "uv run python",
		"uv run python -m unittest":          "uv run python",
		"poetry run python manage.py test":   "poetry run python",
		"hatch run pytest":                   "hatch run python",
		"env A=1 python3 -m pytest":          "env A=1 python3",
	} {
		if got := strings.Join(interpreterOf(strings.Fields(command)), " "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	script := filepath.Join(t.TempDir(), "pytest")
	real, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not in PATH")
	}
	if err := os.WriteFile(script, []byte("#!"+real+" -s\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	argv := append(interpreterOf([]string{script}), "-c", "import sys; print(sys.flags.no_user_site)")
	if out, err := exec.Command(argv[0], argv[1:]...).Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Errorf("a script's first line: %q, %v", out, err)
	}
}
