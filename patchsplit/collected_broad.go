package patchsplit

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// registersTests finds a call that registers a test, or an import of what does.
var registersTests = lazyregexp.New(`(?m)^\s*(?:await\s+)?(?:describe|it|test|suite|specify|context)(?:\.\w+)*\s*\(\s*["'` + "`" + `]|` +
	`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](?:node:test|tape|tap|ava|uvu|vitest|mocha|brittle|zora|bun:test|@jest/globals|@playwright/test)["']`)

// namedBroadly holds for a script that a framework is given by a pattern that says
// nothing of tests (src/, lib/**/*.js), where the framework picks its tests by their
// names or does not mind files without any: the product lies in such places too.
// jest, vitest and ava refuse a file without tests.
func (k *collection) namedBroadly(pattern, file string) bool {
	switch k.framework {
	case "jest", "vitest", "ava", "cypress", "playwright":
		return false
	}
	if !slices.Contains(scripts, extOf(file)) || namedAsTest(file).Part == Test || packageTestName(file).Part == Test {
		return false
	}
	lower := strings.ToLower(pattern)
	return !slices.ContainsFunc([]string{"test", "spec", "check"}, func(word string) bool { return strings.Contains(lower, word) }) &&
		(extOf(pattern) == "" || strings.Contains(path.Base(pattern), "*"))
}

// isTestByText tells whether a script says itself that it holds tests.
func (c *Classifier) isTestByText(file string) bool {
	return registersTests.Match(stripComments(c.evidence(file).content(file)))
}
