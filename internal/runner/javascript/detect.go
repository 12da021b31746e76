package javascript

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

// Detect finds the packages that have tests, and the framework that their own
// script, their dependencies or their configuration name.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		if path.Base(file) != "package.json" || skips(file) || foreign(path.Dir(file)) {
			continue
		}
		dir := path.Dir(file)
		m, ok := readManifest(tree, dir)
		if !ok {
			continue
		}
		framework, why := frameworkOf(tree, dir, m)
		if framework == "" {
			continue
		}
		c := Candidate{framework, dir, file + " " + why}
		if len(New(Config{Framework: framework, Dir: dir}).suite(tree).files) > 0 && !covered(found, c) {
			found = append(found, c)
		}
	}
	return found
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "fixtures", "__fixtures__", "fixture", "testdata", "vendor", "third_party", "dist", "build", "examples", "templates")
}

// covered holds for a package inside one that the same framework already runs
// in: the outer one's configuration is for all of it.
func covered(found []Candidate, inner Candidate) bool {
	return slices.ContainsFunc(found, func(outer Candidate) bool {
		return outer.Framework == inner.Framework && outer.Dir != inner.Dir && treepath.Within(outer.Dir, inner.Dir)
	})
}

func frameworkOf(tree gate.Tree, dir string, m manifest) (framework, why string) {
	for _, framework := range []string{Vitest, Jest, Mocha, Ava, Node} {
		if _, ok := runScript(m, framework); ok {
			return framework, "scripts run " + framework
		}
	}
	for _, framework := range []string{Vitest, Jest, Mocha, Ava} {
		if m.depends(framework) {
			return framework, "depends on " + framework
		}
	}
	for _, framework := range []string{Vitest, Jest, Mocha, Ava} {
		if m.config(framework) != "" {
			return framework, "configures " + framework
		}
		for _, name := range configNames[framework] {
			if _, err := tree.ReadFile(path.Join(dir, name)); err == nil && !strings.HasPrefix(name, "vite.") {
				return framework, "beside " + name
			}
		}
	}
	return "", ""
}
