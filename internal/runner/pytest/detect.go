package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Framework string
	Dir       string
	Why       string
}

// Detect finds the directories in which Python's tests are at home: for pytest the
// outermost ones with a configuration of it, and the root when test files lie
// outside of those. The root's configuration is for the whole repository. Where
// nothing of base names pytest, Django's projects are run by their manage.py, and
// test cases of unittest by unittest.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		if dir := path.Dir(file); isConfigName(path.Base(file)) && !foreign(dir) && !slices.ContainsFunc(found, func(c Candidate) bool { return c.Dir == dir }) {
			if where, ok := configured(tree, dir); ok {
				found = append(found, Candidate{Pytest, dir, where})
			}
		}
	}
	found = outermost(found)
	n := readNeeds(tree)
	if !n.pytest {
		found = append(found, djangoProjects(tree, found)...)
	}
	if i := slices.IndexFunc(tree.Paths(), func(file string) bool { return n.lonely(tree, file, found) }); i >= 0 {
		alone := Candidate{Pytest, ".", "test file " + tree.Paths()[i]}
		if why := n.prefersUnittest(tree, found); why != "" {
			alone.Framework, alone.Why = Unittest, alone.Why+why
		}
		return append([]Candidate{alone}, found...)
	}
	return found
}

func outermost(all []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(inner Candidate) bool {
		return slices.ContainsFunc(all, func(outer Candidate) bool { return outer.Dir != inner.Dir && treepath.Within(outer.Dir, inner.Dir) })
	})
}

// foreignDirs hold other projects' code or a test's data when nothing else is
// said.
var foreignDirs = []string{"node_modules", "venv", "env", "build", "dist", "testdata", "vendor", "third_party", "site-packages", "__pycache__"}

func foreign(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part != "." && strings.HasPrefix(part, ".") || slices.Contains(foreignDirs, part)
	})
}
