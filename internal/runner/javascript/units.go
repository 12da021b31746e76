package javascript

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Units lists the test files whose rows the paths may touch, sorted: changed
// test files, those that import a changed helper, those that name a changed
// data file or its directory, all of them where the configuration names it. A
// path that the tree does not have is no unit, but what it supported is.
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
	base := path.Base(file)
	switch {
	case s.isConfig(file):
		return s.files
	case !treepath.Within(s.home, path.Dir(file)):
		return s.filter(func(test string) bool { return strings.Contains(s.source(test), base) })
	case s.collects(file):
		found := s.importers(file) // a test file may lend helpers to others
		if s.exists(file) {
			found = append(found, file)
		}
		return found
	case isScript(file):
		if found := s.importers(file); len(found) > 0 {
			return found
		}
	}
	return s.readers(file)
}

// isConfig holds for the framework's configuration and for what it loads before
// every test.
func (s *suite) isConfig(file string) bool {
	if treepath.Within(s.home, path.Dir(file)) {
		for _, names := range configNames {
			if slices.Contains(names, treepath.Relative(s.home, file)) {
				return true
			}
		}
	}
	return !s.collects(file) && s.loadsFirst(file)
}

// loadsFirst tells whether configuration or options name a script that is loaded
// before every test.
func (s *suite) loadsFirst(file string) bool {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return isScript(file) && (strings.Contains(s.config, "/"+base) || strings.Contains(s.config, "/"+stem+`"`) || strings.Contains(s.config, "/"+stem+"'") ||
		slices.ContainsFunc(slices.Concat(s.options, s.node), func(word string) bool { return moduleStem(path.Join(s.home, word)) == moduleStem(file) }))
}

// importers are the test files that import a module, directly or through other
// test code.
func (s *suite) importers(file string) []string {
	var units []string
	seen := map[string]bool{file: true}
	helpers := s.helpers()
	for next := []string{file}; len(next) > 0; next = next[1:] {
		for _, other := range slices.Concat(s.files, helpers) {
			if seen[other] || !s.imports(other, next[0]) {
				continue
			}
			seen[other] = true
			next = append(next, other)
			switch {
			case s.isConfig(other):
				return s.files
			case s.isUnit(other):
				units = append(units, other)
			}
		}
	}
	return units
}

// helpers is the test code that holds no tests itself.
func (s *suite) helpers() []string {
	var found []string
	for _, other := range s.tree.Paths() {
		if isScript(other) && treepath.Within(s.home, path.Dir(other)) && !skips(other) && !s.isUnit(other) && (s.isTest(other) || s.isConfig(other)) {
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
	for _, pool := range [][]string{s.below(near), s.files, s.helpers()} {
		var found []string
		for _, test := range pool {
			switch {
			case !s.mentions(test, file):
			case s.isUnit(test):
				found = append(found, test)
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

func (s *suite) mentions(test, file string) bool {
	text, base, parent := s.source(test), path.Base(file), path.Base(path.Dir(file))
	stem := strings.TrimSuffix(base, path.Ext(base))
	own := path.Base(test)
	return stem == own || strings.HasPrefix(base, own+".") || strings.Contains(text, base) ||
		len(stem) > 3 && named(text, stem) ||
		path.Ext(base) != "" && strings.Contains(text, "*"+path.Ext(base)) ||
		!treepath.Within(path.Dir(file), path.Dir(test)) && (named(text, parent) || strings.Contains(text, parent+"/"))
}

// named holds for a text in which a name ends a string or a path in one.
func named(text, name string) bool {
	for _, before := range []string{`"`, `'`, "`", "/"} {
		for _, after := range []string{`"`, `'`, "`", "/"} {
			if strings.Contains(text, before+name+after) {
				return true
			}
		}
	}
	return false
}
