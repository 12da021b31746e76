package pytest

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

// Detect finds the directories in which pytest is at home: the outermost ones
// with a configuration of it, and the root when test files lie outside of
// those. The root's configuration is for the whole repository.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		if dir := path.Dir(file); isConfigName(path.Base(file)) && !foreign(dir) && !slices.ContainsFunc(found, func(c Candidate) bool { return c.Dir == dir }) {
			if where, ok := configured(tree, dir); ok {
				found = append(found, Candidate{dir, where})
			}
		}
	}
	found = outermost(found)
	if i := slices.IndexFunc(tree.Paths(), func(file string) bool { return lonely(tree, file, found) }); i >= 0 {
		return append([]Candidate{{".", "test file " + tree.Paths()[i]}}, found...)
	}
	return found
}

func outermost(all []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(inner Candidate) bool {
		return slices.ContainsFunc(all, func(outer Candidate) bool { return outer.Dir != inner.Dir && within(outer.Dir, inner.Dir) })
	})
}

// lonely holds for a test file that no candidate's directory covers. A name
// alone is not enough: repositories in other languages have scripts of such
// names.
func lonely(tree gate.Tree, file string, found []Candidate) bool {
	if !matchesAny(defaultFiles, file) || foreign(path.Dir(file)) {
		return false
	}
	if slices.ContainsFunc(found, func(c Candidate) bool { return within(c.Dir, path.Dir(file)) }) {
		return false
	}
	content, err := tree.ReadFile(file)
	return err == nil && bytes.Contains(content, []byte("def test"))
}

// foreignDirs hold other projects' code or a test's data when nothing else is
// said.
var foreignDirs = []string{"node_modules", "venv", "env", "build", "dist", "testdata", "vendor", "third_party", "site-packages", "__pycache__"}

func foreign(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return part != "." && strings.HasPrefix(part, ".") || slices.Contains(foreignDirs, part)
	})
}

func within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}
