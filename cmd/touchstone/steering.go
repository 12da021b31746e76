package main

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// steeringParts are the changed files that decide which tests run or what is
// reported of them, as a test part of their own: taking that part back gives
// head under base's test set-up.
func steeringParts(c *change, parts []patchsplit.FilePart) []patchsplit.FilePart {
	var steering []patchsplit.FilePart
	for _, part := range parts {
		old := part.Path
		if part.OldPath != "" {
			old = part.OldPath
		}
		before, _ := c.base.ReadFile(old) // absent: steers by what it adds
		after, _ := c.head.ReadFile(part.Path)
		if part.Part == patchsplit.Production && shipsFramework(c.base, part.Path) {
			continue
		}
		if part.Part != patchsplit.Neutral && patchsplit.Steers(part.Path, before, after) {
			part.Part = patchsplit.Test
			steering = append(steering, part)
		}
	}
	return steering
}

// shipsFramework tells whether a file belongs to a test framework, or to a
// plugin of one, that is the repository's own product, by what base holds: then
// the change mends it, and does not steer its tests by it.
func shipsFramework(base *git.Tree, file string) bool {
	if before, _, inside := strings.Cut("/"+file, "/_pytest/"); inside {
		home := strings.TrimPrefix(before+"/_pytest/", "/")
		return slices.ContainsFunc(base.Paths(), func(path string) bool { return strings.HasPrefix(path, home) })
	}
	for _, manifest := range []string{"pyproject.toml", "setup.cfg", "setup.py"} {
		content, err := base.ReadFile(manifest)
		if err == nil && patchsplit.DeclaresPlugin(content, file) {
			return true
		}
	}
	return false
}

func pathsOf(parts []patchsplit.FilePart) []string {
	paths := make([]string, len(parts))
	for i, part := range parts {
		paths[i] = part.Path
	}
	return paths
}
