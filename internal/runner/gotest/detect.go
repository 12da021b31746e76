package gotest

import (
	"path"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

// Detect finds the workspaces and modules of a tree. A module that a workspace
// uses belongs to the workspace; any other is its own candidate.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	covered := make(map[string]bool)
	for _, file := range tree.Paths() {
		if path.Base(file) != "go.work" || ignored(path.Dir(file)) {
			continue
		}
		found = append(found, Candidate{path.Dir(file), "go.work"})
		for _, dir := range workspace(tree, path.Dir(file)) {
			covered[dir] = true
		}
	}
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		taken := slices.ContainsFunc(found, func(c Candidate) bool { return c.Dir == dir })
		if path.Base(file) == "go.mod" && !ignored(dir) && !covered[dir] && !taken {
			found = append(found, Candidate{dir, "go.mod"})
		}
	}
	return found
}
