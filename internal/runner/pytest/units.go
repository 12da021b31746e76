package pytest

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Units lists the test files whose rows the paths may touch, sorted: changed
// test files, those below a changed conftest.py, those that import a changed
// helper, and those that name a changed data file or the directory it is in.
// A path that the tree does not have is no unit, but what it supported is.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	s := r.suite(tree)
	if all {
		return s.files, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		for _, unit := range s.touchedBy(file) {
			chosen[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

func (s *suite) touchedBy(file string) []string {
	dir, base := path.Dir(file), path.Base(file)
	switch {
	case !treepath.Within(s.home, dir):
		return s.filter(func(test string) bool { return strings.Contains(s.source(test), base) })
	case s.collects(file):
		found := s.importers(file) // a test file may lend helpers to others
		if s.exists(file) {
			found = append(found, file)
		}
		return append(found, s.namesakes(file, s.files)...)
	case base == "conftest.py":
		return s.below(dir)
	case base == "__init__.py":
		return append(s.below(dir), s.importers(file)...)
	case strings.HasSuffix(base, ".py"):
		if found := s.importers(file); len(found) > 0 {
			return found
		}
		return s.below(dir)
	}
	return s.readers(file)
}

// importers are the test files that import a module, directly or through other
// test code. What a conftest.py or a package imports is for all files below it.
func (s *suite) importers(file string) []string {
	var units []string
	seen := map[string]bool{file: true}
	helpers := s.helpers(file)
	for next := []string{file}; len(next) > 0; next = next[1:] {
		for _, other := range slices.Concat(s.files, helpers) {
			if seen[other] || !s.imports(other, next[0]) {
				continue
			}
			seen[other] = true
			next = append(next, other)
			switch base := path.Base(other); {
			case base == "conftest.py" || base == "__init__.py":
				units = append(units, s.below(path.Dir(other))...)
			case s.isUnit(other):
				units = append(units, other)
			}
		}
	}
	return units
}

var testDir = lazyregexp.New(`(^|[_-])(tests?|testing|testsuite)($|[_-])`)

// helpers are the Python files of the same body of test code that hold no
// tests: below the outermost directory that is named as holding tests, else
// beside the file; and every conftest.py.
func (s *suite) helpers(file string) []string {
	root := path.Dir(file)
	for dir := root; dir != "."; dir = path.Dir(dir) {
		if testDir.MatchString(path.Base(dir)) {
			root = dir
		}
	}
	var found []string
	for _, other := range s.tree.Paths() {
		if !strings.HasSuffix(other, ".py") || s.isUnit(other) {
			continue
		}
		if treepath.Within(root, path.Dir(other)) && root != "." || path.Dir(other) == root || path.Base(other) == "conftest.py" {
			found = append(found, other)
		}
	}
	return found
}

// readers are the test files that name a data file, its directory or its kind,
// or whose own name it bears (as snapshots do). When none does, those beside
// the nearest tests may read it.
func (s *suite) readers(file string) []string {
	near := path.Dir(file)
	for near != "." && len(s.below(near)) == 0 {
		near = path.Dir(near)
	}
	for _, pool := range [][]string{append(s.below(near), s.support(near)...), s.files} {
		var found []string
		for _, test := range pool {
			if !s.mentions(test, file) {
				continue
			}
			switch {
			case s.isUnit(test):
				found = append(found, test)
			case path.Base(test) == "conftest.py":
				found = append(found, s.below(path.Dir(test))...)
			default:
				found = append(found, s.importers(test)...)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	if beside := s.filter(func(test string) bool { return path.Dir(test) == near }); len(beside) > 0 {
		return beside
	}
	return s.below(near)
}

// support is the Python test code below a directory that holds no tests itself.
func (s *suite) support(dir string) []string {
	if dir == "." {
		return nil
	}
	var found []string
	for _, other := range s.tree.Paths() {
		if strings.HasSuffix(other, ".py") && treepath.Within(dir, path.Dir(other)) && !s.isUnit(other) {
			found = append(found, other)
		}
	}
	return found
}

func (s *suite) mentions(test, file string) bool {
	text, base, parent := s.source(test), path.Base(file), path.Base(path.Dir(file))
	stem := strings.TrimSuffix(base, path.Ext(base))
	own := strings.TrimSuffix(path.Base(test), ".py")
	return strings.Contains(text, base) || own == stem || own == parent ||
		len(stem) > 3 && quoted(text, stem) ||
		path.Ext(base) != "" && strings.Contains(text, "*"+path.Ext(base)) ||
		!treepath.Within(path.Dir(file), path.Dir(test)) && (quoted(text, parent) || strings.Contains(text, "/"+parent) || strings.Contains(text, parent+"/"))
}

func quoted(text, name string) bool {
	return strings.Contains(text, `"`+name+`"`) || strings.Contains(text, `'`+name+`'`)
}
