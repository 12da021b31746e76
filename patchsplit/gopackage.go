package patchsplit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

const (
	maxImporters = 4000 // Go files of a module that are searched for who imports a package
	maxChain     = 3    // helpers that import helpers
)

// goModule is the module that a directory belongs to.
type goModule struct {
	dir, path string
	found     bool
}

// goUse is who imports a package: one example each, "" for nobody.
type goUse struct {
	production, test string
	doubt            string // why nobody may merely mean not found
}

// goPackageFacts is what the files of one directory say.
type goPackageFacts struct {
	files  []string
	embeds []embed
}

var moduleLine = lazyregexp.New(`(?m)^module[ \t]+"?([^\s"]+)`)

// module finds the nearest go.mod at or above a directory.
func (c *Classifier) module(dir string) goModule {
	if m, known := c.modules[dir]; known {
		return m
	}
	var m goModule
	file := joinDir(dir, "go.mod")
	if tree := c.evidence(file); tree.has(file) {
		m = goModule{dir: dir, found: true}
		if match := moduleLine.FindSubmatch(tree.content(file)); match != nil {
			m.path = string(match[1])
		}
	} else if dir != "" {
		m = c.module(dirOf(dir))
	}
	c.modules[dir] = m
	return m
}

func (c *Classifier) inGoModule(dir string) bool { return c.module(dir).found }

// goPackage reads the Go files that lie in a directory.
func (c *Classifier) goPackage(dir string) goPackageFacts {
	if facts, known := c.goFacts[dir]; known {
		return facts
	}
	var facts goPackageFacts
	for _, tree := range []*view{c.base, c.head} {
		for _, file := range tree.in(dir) {
			if extOf(file) == ".go" && c.evidence(file) == tree {
				facts.files = append(facts.files, file)
				facts.embeds = append(facts.embeds, readEmbeds(baseOf(file), tree.content(file))...)
			}
		}
	}
	c.goFacts[dir] = facts
	return facts
}

func (c *Classifier) goFiles(dir string) []string { return c.goPackage(dir).files }

// goTestOnly holds when tests import a package and production code does not.
func (c *Classifier) goTestOnly(dir string, depth int) bool {
	use := c.goUse(dir, depth)
	return use.production == "" && use.test != ""
}

// goUse searches a package's module for who imports it. On base, where base has
// the package; head is asked too, so that a new use by production code counts.
func (c *Classifier) goUse(dir string, depth int) goUse {
	if use, known := c.packages[dir]; known {
		return use
	}
	m := c.module(dir)
	if !m.found || m.path == "" {
		return goUse{doubt: " (no go.mod says what its import path is)"}
	}
	c.packages[dir] = goUse{} // an import cycle through tests ends here
	rel, _ := relTo(m.dir, dir)
	target := m.path
	if dir != m.dir {
		target += "/" + rel
	}
	var use goUse
	for _, tree := range []*view{c.base, c.head} {
		c.importers(&use, tree, m.dir, target, depth)
	}
	c.packages[dir] = use
	return use
}

func (c *Classifier) importers(use *goUse, tree *view, root, target string, depth int) {
	quoted := []byte(`"` + target + `"`)
	seen := 0
	for _, file := range tree.under(root) {
		if use.production != "" {
			return
		}
		if extOf(file) != ".go" || isVendored(file) {
			continue
		}
		if seen++; seen > maxImporters {
			use.doubt = fmt.Sprintf(" (more than %d Go files: not searched for its importers)", maxImporters)
			return
		}
		if !bytes.Contains(tree.content(file), quoted) {
			continue
		}
		if c.isGoTestCode(file, depth) {
			use.test = file
		} else {
			use.production = file
		}
	}
}

// isGoTestCode holds for test files, what lies under testdata, and helper
// packages that in their turn only tests import.
func (c *Classifier) isGoTestCode(file string, depth int) bool {
	if _, testdata := testdataOwner(file); testdata || strings.HasSuffix(file, "_test.go") {
		return true
	}
	return depth < maxChain && c.goTestOnly(dirOf(file), depth+1)
}
