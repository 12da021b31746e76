package patchsplit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// goTestFile knows what the go tool compiles only for tests.
func goTestFile(p string) Decision {
	if strings.HasSuffix(p, "_test.go") {
		return Decision{Part: Test, Why: "Go test file (_test.go)"}
	}
	return Decision{}
}

// goCollected is the rule for what the go tool itself says: test files, what
// packages embed, and testdata directories, which it keeps out of every build.
func (c *Classifier) goCollected(p string) Decision {
	if d := goTestFile(p); d.Part != Undecided {
		return d
	}
	if d := c.embedded(p); d.Part != Undecided {
		return d
	}
	if owner, ok := testdataOwner(p); ok {
		return Decision{Part: Test, Why: "under testdata/ of " + packageWords(owner)}
	}
	return Decision{}
}

func testdataOwner(p string) (string, bool) {
	if strings.HasPrefix(p, "testdata/") {
		return "", true
	}
	owner, _, ok := strings.Cut(p, "/testdata/")
	return owner, ok
}

func packageWords(dir string) string {
	if dir == "" {
		return "the root package"
	}
	return "package " + dir
}

// goSource is the rule for Go files that are not test files. They are
// production unless only tests can use their package and it is one of their
// helpers: it takes a testing.T, is named for it, or lies among the tests. A
// package that tests merely use as a tool stays production.
func (c *Classifier) goSource(p string) Decision {
	if extOf(p) != ".go" {
		return Decision{}
	}
	dir := dirOf(p)
	home, amongTests := testDirectory(p)
	named := slices.ContainsFunc(strings.Split(dir, "/"), namesHelper)
	if !amongTests && !named && !(isInternal(dir) && c.takesTesting(dir)) {
		return Decision{Part: Production, Why: "Go source"}
	}
	use := c.goUse(dir, 0)
	switch {
	case use.production != "":
		return Decision{Part: Production, Class: ClassSupport, Why: fmt.Sprintf("Go package %s, which %s imports", dir, use.production)}
	case amongTests:
		return Decision{Part: Test, Class: ClassSupport, Why: fmt.Sprintf("in test directory %s, and no production code imports it", home)}
	case use.test == "":
		return Decision{Part: Production, Why: "Go source" + use.doubt}
	}
	return Decision{Part: Test, Class: ClassSupport, Why: fmt.Sprintf("test helper: only tests import Go package %s: %s", dir, use.test)}
}

func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// namesHelper holds for directory names that promise help for tests and nothing
// else. "testing" and names like "httptest" may be products.
func namesHelper(name string) bool {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "testutil", "testutils", "testhelper", "testhelpers", "testsupport", "testfixtures", "testlib", "testenv":
		return true
	}
	return false
}

// takesTesting holds when a package's production files import "testing".
func (c *Classifier) takesTesting(dir string) bool {
	if c.blind() || !c.inGoModule(dir) {
		return false
	}
	for _, file := range c.goFiles(dir) {
		if !strings.HasSuffix(file, "_test.go") && imports(c.evidence(file).content(file), "testing") {
			return true
		}
	}
	return false
}

// imports is a text search: it also hits an import path in a string, which does
// no harm where the answer is only used to ask further.
func imports(source []byte, importPath string) bool {
	head := string(source[:min(len(source), 16<<10)])
	return strings.Contains(head, `"`+importPath+`"`) && strings.Contains(head, "import")
}

// embedded decides a file that a Go package carries in its binary.
func (c *Classifier) embedded(p string) Decision {
	if extOf(p) == ".go" || c.blind() || !c.inGoModule(dirOf(p)) {
		return Decision{}
	}
	var byTest string
	for dir := range ancestors(p) {
		rel, _ := relTo(dir, p)
		for _, e := range c.goPackage(dir).embeds {
			if !e.matches(rel) {
				continue
			}
			if e.test {
				byTest = "go:embed'ed by " + joinDir(dir, e.file)
				continue
			}
			if c.goTestOnly(dir, 0) {
				byTest = fmt.Sprintf("go:embed'ed by %s, a package that only tests import", dir)
				continue
			}
			return Decision{Part: Production, Why: "go:embed'ed by " + packageWords(dir)}
		}
	}
	if byTest != "" {
		return Decision{Part: Test, Why: byTest, Class: ClassSupport}
	}
	return Decision{}
}

// embed is one pattern of a go:embed directive.
type embed struct {
	file    string // base name of the file that holds the directive
	pattern string
	test    bool // in a _test.go file
}

var embedLine = lazyregexp.New(`(?m)^[ \t]*//go:embed[ \t]+(.+?)[ \t\r]*$`)

func readEmbeds(file string, source []byte) []embed {
	var embeds []embed
	for _, match := range embedLine.FindAllSubmatch(source, -1) {
		for _, pattern := range strings.Fields(string(match[1])) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			embeds = append(embeds, embed{file, pattern, strings.HasSuffix(file, "_test.go")})
		}
	}
	return embeds
}

// matches holds when the pattern names the file or a directory above it.
func (e embed) matches(rel string) bool {
	for ; rel != ""; rel = dirOf(rel) {
		if ok, _ := path.Match(e.pattern, rel); ok || e.pattern == "." {
			return true
		}
	}
	return false
}
