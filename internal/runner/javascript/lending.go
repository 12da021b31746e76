package javascript

import (
	"slices"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	registers = lazyregexp.New(`\b(?:x|f)?(?:describe|it|test|suite|specify|context|feature|scenario|given)\b\s*(?:\.\s*\w+\s*)*[(\[` + "`" + `]`)
	rootHook  = lazyregexp.New(`\b(?:before|after|beforeEach|afterEach)\s*\(|\bmochaHooks\b`)
)

// lends tells whether a file that mocha comes across among the tests is there for
// others: its text registers no test, and other test code imports it, the
// configuration loads it, or it sets hooks for all tests. mocha loads such a file
// and goes on; any other without a test did not do what it is there for.
func (s *suite) lends(file string) bool {
	text := s.source(file)
	if s.framework != Mocha || text == "" && !s.exists(file) || registers.MatchString(text) {
		return false
	}
	return rootHook.MatchString(text) || s.loadsFirst(file) ||
		slices.ContainsFunc(s.files, func(other string) bool { return other != file && s.imports(other, file) })
}
