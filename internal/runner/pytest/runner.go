package pytest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Config is one way to run pytest.
type Config struct {
	Name    string            // in reports; "" is "pytest"
	Dir     string            // repository-relative directory that pytest runs in; "" is the root
	Command []string          // as [python -m pytest]; empty: found in the state
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one run; default 10 minutes
}

// Runner implements gate.Runner.
type Runner struct{ Config }

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = "pytest"
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	return &Runner{c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is pytest.
func (r *Runner) Framework() string { return "pytest" }

// MissingToolError says that python or pytest is not there.
type MissingToolError struct {
	Tool  string // python or pytest
	Words string // what was said about it
}

func (e *MissingToolError) Error() string {
	if e.Tool == "pytest" {
		return fmt.Sprintf("the interpreter has no pytest (%s): install it there (pip install pytest), or name the right one in runners: command: of .github/touchstone.yml", e.Words)
	}
	return fmt.Sprintf("no python was found (%s): install it, activate the virtual environment, or name it in runners: command: of .github/touchstone.yml", e.Words)
}

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

// Detect finds the directories in which pytest is at home: those with a
// configuration of it, else the root when there are files that it collects.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if slices.ContainsFunc(found, func(c Candidate) bool { return within(c.Dir, dir) }) || ignored(dir) {
			continue
		}
		if where := configured(tree, file); where != "" {
			found = append(found, Candidate{dir, where})
		}
	}
	root := slices.IndexFunc(found, func(c Candidate) bool { return c.Dir == "." })
	if root >= 0 {
		return found[root : root+1]
	}
	for _, file := range tree.Paths() {
		outside := !slices.ContainsFunc(found, func(c Candidate) bool { return within(c.Dir, path.Dir(file)) })
		if outside && !ignored(path.Dir(file)) && matches(defaultFiles, path.Base(file)) {
			return append([]Candidate{{".", "test file " + file}}, found...)
		}
	}
	return found
}

var ignoredDirs = []string{"node_modules", "venv", "build", "dist", "testdata", "vendor", "site-packages", "__pycache__"}

func ignored(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part != "." && strings.HasPrefix(part, ".") || slices.Contains(ignoredDirs, part)
	})
}

func within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

var defaultFiles = []string{"test_*.py", "*_test.py"}

func matches(patterns []string, base string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, base)
		return ok && err == nil
	})
}

// configured tells whether a file configures pytest, in words, "" when not.
func configured(tree gate.Tree, file string) string {
	section := map[string]string{
		"pytest.ini": "", ".pytest.ini": "", "pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]",
	}
	wanted, ok := section[path.Base(file)]
	if !ok {
		return ""
	}
	content, err := tree.ReadFile(file)
	if err != nil || !strings.Contains(string(content), wanted) {
		return ""
	}
	return strings.TrimSpace(file + " " + wanted)
}

// patterns are the file names that pytest collects in this runner's directory:
// the configured python_files, else the default.
func (r *Runner) patterns(tree gate.Tree) []string {
	for _, name := range []string{"pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"} {
		file := path.Join(r.Dir, name)
		if configured(tree, file) == "" {
			continue
		}
		content, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		if found := setting(string(content), "python_files"); len(found) > 0 {
			return found
		}
		return defaultFiles
	}
	return defaultFiles
}

// setting reads a list setting out of an ini or TOML file: on one line, in
// brackets over several, or on indented lines below.
func setting(content, key string) []string {
	lines := strings.Split(content, "\n")
	for i, line := range lines {
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(name) != key {
			continue
		}
		open := strings.Count(value, "[") - strings.Count(value, "]")
		for _, next := range lines[i+1:] {
			if open <= 0 && (strings.Contains(value, "[") || !strings.HasPrefix(next, " ") && !strings.HasPrefix(next, "\t")) {
				break
			}
			value += " " + next
			open += strings.Count(next, "[") - strings.Count(next, "]")
		}
		return strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t\r,[]\"'", c) })
	}
	return nil
}
