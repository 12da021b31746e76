package patchsplit

import (
	"slices"
	"strings"
)

// testDirectory finds the outermost directory of a path whose name says that
// it holds tests. "testing", "contest" and "attestation" do not say so.
func testDirectory(path string) (home string, ok bool) {
	above := ""
	for end := range slashes(path) {
		name := baseOf(path[:end])
		if namesTests(above, name) || (name == "spec" || name == "specs") && speaksRSpec(path) {
			return path[:end], true
		}
		above = name
	}
	return "", false
}

// slashes yields where each directory of a path ends, the outermost first.
func slashes(path string) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(i) {
				return
			}
		}
	}
}

var testDirs = []string{
	"test", "tests", "__tests__", "__test__", "__mocks__", "__snapshots__", "__fixtures__", "testdata",
	"test-data", "test_data", "testfixtures", "e2e", "cypress", "androidtest",
}

var testWords = []string{"tests", "unittests", "integrationtests", "functionaltests", "uitests", "fulltests", "e2e"}

// namesTests knows the names of test directories in the ecosystems' layouts:
// "integration-tests", "MyApp.Tests", "AppUITests", "src/commonTest".
func namesTests(above, name string) bool {
	lower := strings.ToLower(name)
	if slices.Contains(testDirs, lower) {
		return true
	}
	if !strings.Contains(lower, "test") && !strings.Contains(lower, "e2e") {
		return false // the most names by far
	}
	if in := words(name); len(in) > 0 && (isTestWord(in[0]) || isTestWord(in[len(in)-1])) {
		return true
	}
	if above == "src" && (strings.HasSuffix(name, "Test") || name == "testFixtures") {
		return true
	}
	return strings.HasSuffix(name, ".Test")
}

func isTestWord(word string) bool { return slices.Contains(testWords, word) }

// speaksRSpec holds for the languages whose frameworks keep their tests in spec/.
// Elsewhere such a directory holds specifications.
func speaksRSpec(path string) bool {
	return slices.Contains([]string{".rb", ".js", ".cjs", ".mjs", ".ts", ".jsx", ".tsx", ".coffee", ".cr", ".lua"}, extOf(path))
}

// specified finds the outermost directory named spec of a path that holds specs
// of a test framework, for what lies there in no language that says so itself.
func (c *Classifier) specified(path string) (home string, ok bool) {
	if !strings.Contains(path, "spec") {
		return "", false
	}
	for end := range slashes(path) {
		home = path[:end]
		name := baseOf(home)
		if (name == "spec" || name == "specs") && slices.ContainsFunc(c.evidence(path).under(home), isSpec) {
			return home, true
		}
	}
	return "", false
}

func isSpec(path string) bool {
	return strings.HasSuffix(stemOf(path), "_spec") || strings.HasSuffix(stemOf(path), ".spec") || stemOf(path) == "spec_helper"
}

// features is the rule for Gherkin's features and the steps beside them.
func features(path string) Decision {
	if extOf(path) == ".feature" {
		return Decision{Part: Test, Why: "feature that cucumber or its kin runs"}
	}
	if !strings.Contains(path, "features/") {
		return Decision{}
	}
	for _, dir := range []string{"features/step_definitions/", "features/steps/", "features/support/"} {
		if strings.HasPrefix(path, dir) || strings.Contains(path, "/"+dir) {
			return Decision{Part: Test, Class: ClassSupport, Why: "steps of the features under " + strings.TrimSuffix(dir, "/")}
		}
	}
	return Decision{}
}

// testDirectory is the rule for everything that lies among tests.
func (c *Classifier) testDirectory(path string) Decision {
	home, ok := testDirectory(path)
	if !ok {
		home, ok = c.specified(path)
	}
	if !ok || c.productPackage(path, home) {
		return Decision{}
	}
	return Decision{Part: Test, Why: "in test directory " + home}
}

// sourceSets is the rule for layouts that say outright what is production:
// Maven's and Gradle's src/main, in which a package may well be named test.
func sourceSets(path string) Decision {
	if !strings.Contains(path, "src/") {
		return Decision{}
	}
	for _, set := range []string{"main", "commonMain", "jvmMain", "jsMain", "nativeMain", "androidMain", "iosMain"} {
		if strings.HasPrefix(path, "src/"+set+"/") || strings.Contains(path, "/src/"+set+"/") {
			return Decision{Part: Production, Why: "in source set src/" + set}
		}
	}
	return Decision{}
}

// configuresTests holds for configuration in the outermost test directory
// itself, or beside other configuration; deeper, it is a fixture.
func (c *Classifier) configuresTests(path string) bool {
	home, among := testDirectory(path)
	return !among || dirOf(path) == home
}
