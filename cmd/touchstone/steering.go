package main

import (
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
		if part.Part != patchsplit.Neutral && patchsplit.Steers(part.Path, before, after) {
			part.Part = patchsplit.Test
			steering = append(steering, part)
		}
	}
	return steering
}

func pathsOf(parts []patchsplit.FilePart) []string {
	paths := make([]string, len(parts))
	for i, part := range parts {
		paths[i] = part.Path
	}
	return paths
}
