package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pythonLanguage changes Python sources by ast, which testdata/mutants/mutate.py
// does, and compares with pytest-testmon where DIR/testmon/NAME is a virtual
// environment that has it beside what the project's tests need.
var pythonLanguage = language{
	suffixes: []string{".py"}, mutants: pythonMutants,
	compiles: func(dir string, files []string) bool {
		cmd := exec.Command("python3", append([]string{"-c", "import sys; [compile(open(f, 'rb').read(), f, 'exec') for f in sys.argv[1:]]"}, files...)...)
		cmd.Dir = dir
		return cmd.Run() == nil
	},
	rivals: func(t *testing.T, dir string) map[string]rival {
		python := filepath.Join(filepath.Dir(dir), "testmon", filepath.Base(dir), "bin", "python")
		if _, err := os.Stat(python); err != nil {
			t.Logf("no %s: pytest-testmon is not compared", python)
			return nil
		}
		if observed := testmon(t, dir, python); observed != nil {
			return map[string]rival{"pytest-testmon": observed}
		}
		return nil
	},
}

func pythonMutants(t *testing.T, path string, _ []byte) []edit {
	return printedMutants(t, path, exec.Command("python3", "testdata/mutants/mutate.py", path))
}

// testmon lets pytest-testmon observe the suite, and asks it for each change
// which tests it would run; nil where it cannot observe this one.
func testmon(t *testing.T, dir, python string) rival {
	data := filepath.Join(t.TempDir(), "testmon")
	call := func(args ...string) ([]byte, error) {
		cmd := exec.Command(python, append([]string{"-m", "pytest", "-q", "-o", "addopts=", "-o", "cache_dir=" + data + "-cache", "--testmon"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TESTMON_DATAFILE="+data, "PYTHONDONTWRITEBYTECODE=1")
		return cmd.Output()
	}
	out, err := call()
	if err != nil {
		t.Logf("pytest --testmon: %v\n%s", err, lastLines(out)) // a test that fails is selected from now on
	}
	if strings.Contains(string(out), "INTERNALERROR") {
		t.Log("pytest-testmon broke off: it is not compared")
		return nil
	}
	return func(t *testing.T, _ []string) func(rowKey) bool {
		out, err := call("--testmon-nocollect", "--collect-only")
		ids := make(map[string]bool)
		for line := range strings.Lines(string(out)) {
			ids[strings.TrimSpace(line)] = true
		}
		broken := err != nil && strings.Contains(string(out), "error") // a file that cannot be collected: pytest stops there and says so
		return func(key rowKey) bool { return broken || ids[key.id] }
	}
}

func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
