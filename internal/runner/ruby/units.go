package ruby

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Framework string
	Dir       string
	Why       string
}

var (
	specFile  = lazyregexp.New(`(?:^|/)spec/(?:.*/)?[^/]+_spec\.rb$`)
	testFile  = lazyregexp.New(`(?:^|/)tests?/(?:.*/)?(?:[^/]+_(?:test|spec)|(?:test|spec)_[^/]+)\.rb$`)
	helper    = lazyregexp.New(`(?:^|/)(?:test_helper|helper|test_case)\.rb$`)
	described = lazyregexp.New(`(?m)^\s*(?:RSpec\.)?describe\b`)
	mini      = lazyregexp.New(`(?i)minitest`)
	testUnit  = lazyregexp.New(`test[/-]unit`)
	testCase  = lazyregexp.New(`(?m)^\s*class\s+\S+\s*<\s*\S*Test|^\s*describe\b`)
)

// Detect finds the directories that hold spec or test files: of RSpec those with
// groups of examples; of minitest those that name it, in the files or beside them,
// unless what stands beside them names test-unit alone.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	add := func(framework, dir, file string) {
		if !slices.ContainsFunc(found, func(c Candidate) bool { return c.Framework == framework && c.Dir == dir }) {
			found = append(found, Candidate{framework, dir, file})
		}
	}
	for _, file := range tree.Paths() {
		switch {
		case path.Ext(file) != ".rb" || foreign(path.Dir(file)):
		case specFile.MatchString(file) && contains(tree, file, described):
			add(RSpec, above(file, "spec"), file)
		case testFile.MatchString(file) && !helper.MatchString(file) && contains(tree, file, testCase):
			dir := aboveTests(file)
			if named := names(tree, dir, mini); named || contains(tree, file, mini) && !names(tree, dir, testUnit) {
				add(Minitest, dir, file)
			}
		}
	}
	return found
}

// names holds where a directory's helpers or its dependencies name a framework.
func names(tree gate.Tree, dir string, framework *lazyregexp.Regexp) bool {
	for _, name := range []string{"test/test_helper.rb", "test/helper.rb", "test/minitest_helper.rb", "Gemfile", "Gemfile.lock"} {
		if contains(tree, path.Join(dir, name), framework) {
			return true
		}
	}
	return slices.ContainsFunc(tree.Paths(), func(file string) bool {
		return path.Dir(file) == dir && path.Ext(file) == ".gemspec" && contains(tree, file, framework)
	})
}

func contains(tree gate.Tree, file string, pattern *lazyregexp.Regexp) bool {
	text, err := tree.ReadFile(file)
	return err == nil && pattern.Match(text)
}

func aboveTests(file string) string {
	if strings.HasPrefix(file, "tests/") || strings.Contains(file, "/tests/") {
		return above(file, "tests")
	}
	return above(file, "test")
}

// above is the directory that holds the outermost one of a name.
func above(file, name string) string {
	parts := strings.Split(file, "/")
	return path.Join(append([]string{"."}, parts[:slices.Index(parts, name)]...)...)
}

// units lists the test files of a tree, sorted.
func (r *Runner) units(tree gate.Tree) []string {
	var units []string
	for _, file := range tree.Paths() {
		named := specFile.MatchString(file)
		if r.Config.Framework == Minitest {
			named = testFile.MatchString(file) && !helper.MatchString(file)
		}
		if named && treepath.Within(r.Dir, path.Dir(file)) && !foreign(treepath.Relative(r.Dir, path.Dir(file))) {
			units = append(units, file)
		}
	}
	return units
}

// Units lists the test files that the paths may touch: the paths themselves; of
// other files the tests that name them; else all.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	units := r.units(tree)
	if all {
		return units, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if !treepath.Within(r.Dir, path.Dir(file)) {
			continue
		}
		named := []string{file}
		if !slices.Contains(units, file) {
			named = naming(tree, units, file)
		}
		for _, unit := range named {
			if _, exists := slices.BinarySearch(tree.Paths(), unit); exists {
				chosen[unit] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

func naming(tree gate.Tree, units []string, file string) []string {
	if specFile.MatchString(file) || testFile.MatchString(file) && !helper.MatchString(file) {
		return nil // a test file that this tree does not have
	}
	stem := []byte(strings.TrimSuffix(path.Base(file), ".rb"))
	everywhere := strings.Contains(path.Base(file), "helper") || strings.HasPrefix(path.Base(file), ".")
	found := slices.DeleteFunc(slices.Clone(units), func(unit string) bool {
		text, err := tree.ReadFile(unit)
		return err != nil || !bytes.Contains(text, stem)
	})
	if everywhere || len(found) == 0 {
		return units
	}
	return found
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "fixtures", "fixture", "testdata", "resources", "vendor", "third_party", "node_modules", "examples", "templates", "dummy")
}
