package template

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

// Units lists the test files that the paths touch: the paths themselves where
// they are sources, and the test files that name them where they are not. A
// command that cannot be asked for single files has one unit, its directory.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	if !r.byFile() {
		return []string{r.Dir}, nil
	}
	tests := r.tests(tree)
	if all {
		return tests, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		_, exists := slices.BinarySearch(tree.Paths(), file)
		switch {
		case !treepath.Within(r.Dir, path.Dir(file)):
		case exists && slices.Contains(tests, file):
			chosen[file] = true
		default:
			for _, test := range mentioning(tree, tests, file) {
				chosen[test] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

var (
	testName = lazyregexp.New(`(?i)(^|[-_./])(tests?|specs?|t)([-_./]|$)|Tests?\.|Spec\.|^t/`)
	support  = lazyregexp.New(`(?i)(^|/)(fixtures?|__fixtures__|helpers?|support|data|mocks?|__mocks__|node_modules|vendor|lib|utils?)/`)
	code     = []string{".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".java", ".kt", ".groovy", ".scala", ".php", ".rb", ".pl", ".t", ".sh", ".bats", ".py", ".c", ".cc", ".cpp", ".cs", ".fs", ".swift", ".lua", ".ex", ".exs", ".erl", ".hs", ".ml", ".dart", ".r", ".R", ".jl", ".nim", ".zig", ".rs", ".go"}
)

// tests are the sources of a tree that are named as tests.
func (r *Runner) tests(tree gate.Tree) []string {
	var found []string
	for _, file := range tree.Paths() {
		name := treepath.Relative(r.Dir, file)
		if treepath.Within(r.Dir, path.Dir(file)) && slices.Contains(code, path.Ext(file)) && testName.MatchString(name) && !support.MatchString(name) {
			found = append(found, file)
		}
	}
	return found
}

// mentioning are the tests that name a file, its stem or its directory.
func mentioning(tree gate.Tree, tests []string, file string) []string {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	var found []string
	for _, test := range tests {
		content, err := tree.ReadFile(test)
		text := string(content)
		if err == nil && (strings.Contains(text, base) || len(stem) > 3 && strings.Contains(text, "/"+stem) || strings.Contains(text, path.Base(path.Dir(file))+"/")) {
			found = append(found, test)
		}
	}
	return found
}
