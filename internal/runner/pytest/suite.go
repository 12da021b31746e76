package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// suite is the test files of one tree, with their sources on demand.
type suite struct {
	project
	framework string
	home      string // the runner's directory
	tree      gate.Tree
	files     []string // what pytest collects when it is given nothing, sorted
	sources   map[string]string
	named     map[string][]string // by file: what it imports
}

func (r *Runner) suite(tree gate.Tree) *suite {
	s := &suite{framework: r.Config.Framework, project: r.project(tree), home: r.Dir, tree: tree, sources: make(map[string]string), named: make(map[string][]string)}
	for _, file := range tree.Paths() {
		if s.collects(file) {
			s.files = append(s.files, file)
		}
	}
	if inside := s.filter(s.inTestpaths); len(inside) > 0 {
		s.files = inside // as pytest: test paths that hold nothing do not count
	}
	return s
}

// project is what the framework goes by. unittest knows no configuration: its
// pattern is what a command names, else its own.
func (r *Runner) project(tree gate.Tree) project {
	if r.Config.Framework == Pytest {
		return readProject(tree, r.Dir)
	}
	return project{dir: r.Dir, files: unittestFiles(tree, r.Command), norecurse: defaultNorecurse}
}

// collects tells whether pytest would take tests from a file when it comes
// across it: by hand, or on its way through the runner's directory.
func (s *suite) collects(file string) bool {
	dir := path.Dir(file)
	if !treepath.Within(s.home, dir) || s.skips(dir) {
		return false
	}
	return strings.HasSuffix(file, ".py") && matchesAny(s.project.files, file) || s.holdsDoctests(file)
}

// skips tells whether pytest does not enter a directory.
func (s *suite) skips(dir string) bool {
	for ; dir != s.home && dir != "."; dir = path.Dir(dir) {
		if matchesAny(s.norecurse, dir) || path.Base(dir) == "__pycache__" {
			return true
		}
	}
	return false
}

// holdsDoctests tells whether the suite's options make pytest look for doctests
// in a file, and it has some.
func (s *suite) holdsDoctests(file string) bool {
	if s.framework != Pytest {
		return false // only load_tests brings them in
	}
	globs := []string{"test*.txt"}
	for i, option := range s.options {
		switch name, value, joined := strings.Cut(option, "="); {
		case name == "--doctest-modules":
			globs = append(globs, "*.py")
		case name == "--doctest-glob" && joined:
			globs = append(globs, value)
		case name == "--doctest-glob" && i+1 < len(s.options):
			globs = append(globs, s.options[i+1])
		}
	}
	return matchesAny(globs, file) && strings.Contains(s.source(file), ">>> ")
}

func (s *suite) inTestpaths(file string) bool {
	if len(s.testpaths) == 0 || s.dir != s.home {
		return len(s.testpaths) == 0
	}
	return slices.ContainsFunc(s.testpaths, func(pattern string) bool {
		pattern = path.Join(s.dir, pattern)
		for name := file; name != "."; name = path.Dir(name) {
			if pattern == "." || fnmatch(pattern).MatchString(name) {
				return true
			}
		}
		return false
	})
}

func (s *suite) exists(file string) bool {
	_, found := slices.BinarySearch(s.tree.Paths(), file)
	return found
}

func (s *suite) isUnit(file string) bool {
	_, found := slices.BinarySearch(s.files, file)
	return found
}

func (s *suite) source(file string) string {
	if text, known := s.sources[file]; known {
		return text
	}
	content, _ := s.tree.ReadFile(file) // what cannot be read says nothing
	s.sources[file] = string(content)
	return s.sources[file]
}

func (s *suite) below(dir string) []string {
	return s.filter(func(file string) bool { return treepath.Within(dir, path.Dir(file)) })
}

func (s *suite) filter(keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.files), func(file string) bool { return !keep(file) })
}
