package patchsplit

import (
	"slices"
	"strings"
	"testing"
)

// TestSupportStems holds that a word which promises help is never passed over
// by the quick look for stems.
func TestSupportStems(t *testing.T) {
	for _, word := range supportWords {
		if !slices.ContainsFunc(supportStems, func(stem string) bool { return strings.Contains(word, stem) }) {
			t.Errorf("%q holds none of %q", word, supportStems)
		}
	}
	for _, word := range append(slices.Clone(testWords), testDirs...) {
		if !namesTests("", word) {
			t.Errorf("%q names no tests", word)
		}
	}
}
