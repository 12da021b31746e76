package patchsplit

import "testing"

func TestSteers(t *testing.T) {
	const hook = "import pytest\n\n\ndef pytest_runtest_makereport(item, call):\n    return None\n"
	const fixtures = "import pytest\n\n\n@pytest.fixture\ndef client(request):\n    return 1\n"
	for _, c := range []struct {
		name, path, old, new string
		want                 bool
	}{
		{"a hook is added", "tests/conftest.py", fixtures, fixtures + hook, true},
		{"a hook's body changes", "conftest.py", hook, "import pytest\n\n\ndef pytest_runtest_makereport(item, call):\n    return 1\n", true},
		{"a hook's string changes", "conftest.py", "pytest_plugins = ['a']\n", "pytest_plugins = ['b']\n", true},
		{"a fixture is added beside a hook", "conftest.py", hook, hook + fixtures, false},
		{"a fixture changes", "conftest.py", fixtures, fixtures + "\n\n@pytest.fixture(autouse=True)\ndef clean():\n    yield\n", false},
		{"a comment beside a hook", "conftest.py", hook, "# why\n" + hook, false},
		{"a new conftest with fixtures", "tests/conftest.py", "", fixtures, false},
		{"pytest's options", "pytest.ini", "[pytest]\n", "[pytest]\naddopts = --co\n", true},
		{"pytest's options in pyproject", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[tool.pytest.ini_options]\naddopts = \"-q -k nothing\"\n", true},
		{"a dependency in pyproject", "pyproject.toml", "[project]\nversion = \"1\"\n[tool.pytest.ini_options]\nx = 1\n", "[project]\nversion = \"2\"\n[tool.pytest.ini_options]\nx = 1\n", false},
		{"setup.cfg", "setup.cfg", "[tool:pytest]\na = 1\n[flake8]\nb = 1\n", "[tool:pytest]\na = 1\n[flake8]\nb = 2\n", false},
		{"an interpreter's start-up", "sitecustomize.py", "", "import sys\n", true},
		{"a module in pytest's place", "pytest.py", "", "\n", true},
		{"jest's options", "jest.config.js", "module.exports = {}\n", "module.exports = {testMatch: []}\n", true},
		{"a package", "package.json", "{}", "{\"main\": \"x\"}", false},
		{"a test", "tests/test_a.py", "", "def pytest_x(): pass\n", false},
	} {
		if got := Steers(c.path, []byte(c.old), []byte(c.new)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestDeclaresPlugin(t *testing.T) {
	for _, c := range []struct {
		name, manifest, file string
		want                 bool
	}{
		{"pyproject", "[project.entry-points.pytest11]\nanyio = \"anyio.pytest_plugin\"\n[tool.x]\n", "src/anyio/pytest_plugin.py", true},
		{"poetry", "[tool.poetry.plugins.\"pytest11\"]\nx = \"pkg.x_plugin\"\n", "pkg/x_plugin.py", true},
		{"setup.cfg", "[options.entry_points]\npytest11 =\n    x = x_plugin\n", "src/x_plugin.py", true},
		{"setup.py", "setup(entry_points={\"pytest11\": [\"x = pkg.x_plugin\"]}, name=\"x\")\n", "pkg/x_plugin.py", true},
		{"another module", "[project.entry-points.pytest11]\nanyio = \"anyio.pytest_plugin\"\n", "tools/ci_plugin.py", false},
		{"another section", "[project.entry-points.pytest11]\nx = \"x.y\"\n[project.scripts]\nz = \"tools.ci_plugin\"\n", "tools/ci_plugin.py", false},
		{"no plugin", "[project]\nname = \"ci_plugin\"\n", "ci_plugin.py", false},
	} {
		if got := DeclaresPlugin([]byte(c.manifest), c.file); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
