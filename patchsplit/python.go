package patchsplit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// pytestCollected is the rule for what pytest loads: conftest files, files that
// python_files names, doctest texts, and what lies beside them in testpaths.
func (c *Classifier) pytestCollected(path string) Decision {
	d := c.pythonByName(path)
	if d.Part != Test || baseOf(path) == "conftest.py" {
		return d
	}
	if !c.inPythonPackage(path) {
		if _, ok := c.pytestFor(path).collects(path); ok || !isTestsModule(path) {
			return d
		}
	}
	if _, among := testDirectory(path); among {
		return d
	}
	// A module of the product may be named like a test (test_runner.py).
	if user := c.importedByProduction(path); user != "" {
		return Decision{Part: Production, Why: fmt.Sprintf("named like a test, but %s imports it", user)}
	}
	return d
}

// pythonByName is pytestCollected without a look at who imports the file.
func (c *Classifier) pythonByName(path string) Decision {
	switch extOf(path) {
	case ".py":
		return c.pythonModule(path)
	case ".rst", ".txt", ".md":
		p := c.pytestFor(path)
		if pattern, ok := p.runsAsDoctest(path); ok && !isDependencyList(path) && c.speaksPython(path) {
			return Decision{Part: Test, Why: fmt.Sprintf("pytest runs it as a doctest (%s)", pattern)}
		}
	}
	if home := c.testpathHome(path); home != "" {
		return Decision{Part: Test, Why: fmt.Sprintf("under %s, where pytest looks for tests", home)}
	}
	return Decision{}
}

// speaksPython holds when a tree has any Python, or is not known.
func (c *Classifier) speaksPython(path string) bool {
	tree := c.evidence(path)
	known, ok := c.python[tree]
	if !ok {
		known = c.blind() || slices.ContainsFunc(tree.paths, func(p string) bool { return extOf(p) == ".py" })
		c.python[tree] = known
	}
	return known
}

// isDependencyList knows pip's lists by their names, and those of a directory
// of lists by its name (requirements/testing.txt).
func isDependencyList(path string) bool {
	dir := baseOf(dirOf(path))
	return isManifest(baseOf(path)) || isTestConfig(baseOf(path)) || (dir == "requirements" && extOf(path) == ".txt")
}

func (c *Classifier) pythonModule(path string) Decision {
	if baseOf(path) == "conftest.py" {
		return Decision{Part: Test, Why: "pytest loads it (conftest.py)"}
	}
	p := c.pytestFor(path)
	if p == pytestDefaults && !strings.Contains(baseOf(path), "test") {
		return Decision{} // the most names by far
	}
	if pattern, ok := p.collects(path); ok {
		if p.reaches(path) {
			return Decision{Part: Test, Why: "pytest collects it (python_files " + pattern + ")"}
		}
		return Decision{Part: Test, Why: "named as a test (" + pattern + ")"}
	}
	if home := c.testpathHome(path); home != "" {
		return Decision{Part: Test, Why: fmt.Sprintf("under %s, where pytest looks for tests", home)}
	}
	if base := baseOf(path); isTestsModule(path) && testImport.Match(c.evidence(path).content(path)) {
		return Decision{Part: Test, Why: "test cases of unittest or Django (" + base + ", which imports what they are made of)"}
	}
	return Decision{}
}

func isTestsModule(path string) bool {
	return baseOf(path) == "tests.py" || baseOf(path) == "test.py"
}

// testImport tells the tests.py that Django makes for each application from a
// module of the product that merely has the name.
var testImport = lazyregexp.New(`(?m)^(from|import)[ \t]+(unittest|django\.test|rest_framework\.test|pytest|testtools|twisted\.trial|nose)\b`)

// testpathHome returns the directory of tests that a path lies in by pytest's
// configuration: an entry of testpaths, or a directory named "testing" outside
// every package, that is mostly tests itself.
func (c *Classifier) testpathHome(path string) string {
	if c.pytestFor(path).file == "" {
		return "" // nor is any configuration further up
	}
	for dir := range ancestors(path) {
		p := c.pytestFor(dir) // the one above it: tests may hold projects of their own
		if dir == "" || p.file == "" {
			continue
		}
		named := p.testpath(dir) != "" && p.testpath(joinDir(dirOf(dir), "x")) == ""
		if !named && (baseOf(dir) != "testing" || c.inPythonPackage(dir)) {
			continue
		}
		if c.mostlyTests(dir) {
			return dir
		}
	}
	return ""
}

// mostlyTests holds when at least half of the modules that lie directly in a
// directory are collected: then the others are there for them.
func (c *Classifier) mostlyTests(dir string) bool {
	tests, modules := 0, 0
	for _, path := range c.evidence(joinDir(dir, "conftest.py")).in(dir) {
		if extOf(path) != ".py" || baseOf(path) == "__init__.py" || baseOf(path) == "conftest.py" {
			continue
		}
		modules++
		if _, ok := c.pytestFor(path).collects(path); ok {
			tests++
		}
	}
	return tests > 0 && 2*tests >= modules
}

// inPythonPackage holds when a path's directory is part of a package.
func (c *Classifier) inPythonPackage(path string) bool {
	if c.blind() {
		return false
	}
	file := joinDir(dirOf(path), "__init__.py")
	return c.base.has(file) || c.head.has(file)
}

// belowPythonPackage holds for a path with a Python package somewhere above it:
// what lies there is shipped with the package.
func (c *Classifier) belowPythonPackage(path string) bool {
	for dir := dirOf(path); dir != ""; dir = dirOf(dir) {
		if c.inPythonPackage(dir + "/x") {
			return true
		}
	}
	return false
}

// productPackage holds for a Python package named test that is part of the
// product, as in django/test: it lies inside another package and holds nothing
// that pytest would collect. Without a tree, a module there that is not named
// as a test is taken for one of the product's.
func (c *Classifier) productPackage(path, home string) bool {
	if baseOf(home) != "test" || dirOf(home) == "" {
		return false
	}
	if c.blind() {
		_, collected := c.pytestFor(path).collects(path)
		return extOf(path) == ".py" && !collected
	}
	if !c.inPythonPackage(home+"/x") || !c.inPythonPackage(home) {
		return false
	}
	for _, file := range c.evidence(home + "/__init__.py").under(home) {
		if _, ok := c.pytestFor(file).collects(file); ok || baseOf(file) == "tests.py" {
			return false
		}
	}
	return true
}

// importedByProduction returns a production module that imports this one.
func (c *Classifier) importedByProduction(path string) string {
	tree := c.evidence(path)
	sources := c.corpus(tree)
	if !sources.complete {
		return ""
	}
	module := stemOf(path)
	for _, file := range sources.others {
		if extOf(file) == ".py" && file != path && importsModule(tree.content(file), module) && (c.inPythonPackage(path) || !testImport.Match(tree.content(file))) {
			return file // outside of packages, what imports it and a framework runs the tests
		}
	}
	return ""
}

// importsModule looks for an import statement that names a module by its last
// component, on lines that can only be imports.
func importsModule(source []byte, module string) bool {
	for line := range strings.Lines(string(source)) {
		statement := strings.TrimSpace(line)
		if !strings.HasPrefix(statement, "import ") && !strings.HasPrefix(statement, "from ") {
			continue
		}
		for _, name := range strings.FieldsFunc(statement, func(r rune) bool { return strings.ContainsRune(" .,()\t", r) }) {
			if name == module {
				return true
			}
		}
	}
	return false
}
