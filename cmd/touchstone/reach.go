package main

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/javascript"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// loadable are the kinds of source of which a runner can tell that its tests
// loaded them.
var loadable = []string{".py", ".go", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}

// changedCode counts the changed lines of each production source of head whose
// code changes, as far as a runner could tell that it was loaded.
func changedCode(c *change, parts []patchsplit.FilePart) map[string]int {
	code := make(map[string]int)
	for _, part := range parts {
		if part.Part != patchsplit.Production && part.Part != patchsplit.Mixed || part.Class != "" || part.Status == patchsplit.Deleted {
			continue
		}
		if !slices.Contains(loadable, path.Ext(part.Path)) || strings.HasSuffix(part.Path, ".d.ts") {
			continue
		}
		before, after := productionSides(c, part)
		if after == nil || before != nil && patchsplit.Inert(part.Path, before, after) {
			continue
		}
		if n := differing(before, after); n > 0 {
			code[part.Path] = n
		}
	}
	return code
}

// differing counts the lines that only one of two texts has.
func differing(before, after []byte) int {
	count := make(map[string]int)
	for _, line := range bytes.Split(before, []byte("\n")) {
		count[string(bytes.TrimSpace(line))]++
	}
	for _, line := range bytes.Split(after, []byte("\n")) {
		count[string(bytes.TrimSpace(line))]--
	}
	delete(count, "")
	n := 0
	for _, by := range count {
		n += max(by, -by)
	}
	return n
}

// abandons are doubts about changes that take a test framework out of the
// scripts that run it: nobody would run these tests any more.
func abandons(c *change, list []gate.Runner) []string {
	var doubts []string
	for _, r := range list {
		js, ok := r.(*javascript.Runner)
		if !ok {
			continue
		}
		if was, is := js.Script(c.base), js.Script(c.head); was != "" && is == "" {
			doubts = append(doubts, path.Join(js.Dir, "package.json")+" no longer runs "+js.Framework()+" in any of its scripts (base: "+was+"): nobody would run these tests after this change; keep it in scripts.test")
		}
	}
	return doubts
}
