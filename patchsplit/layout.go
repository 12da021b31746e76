package patchsplit

import (
	"fmt"
	"slices"
	"strings"
)

// testDirectory finds the outermost directory of a path whose name says that
// it holds tests. "testing", "contest" and "attestation" do not say so.
func testDirectory(path string) (home string, ok bool) {
	parts := strings.Split(path, "/")
	for i, name := range parts[:len(parts)-1] {
		above := ""
		if i > 0 {
			above = parts[i-1]
		}
		if namesTests(above, name) || (name == "spec" || name == "specs") && speaksRSpec(path) {
			return strings.Join(parts[:i+1], "/"), true
		}
	}
	return "", false
}

var testDirs = []string{
	"test", "tests", "__tests__", "__test__", "__mocks__", "__snapshots__", "__fixtures__", "testdata",
	"test-data", "test_data", "testfixtures", "e2e", "cypress", "androidtest",
}

var testWords = []string{"tests", "unittests", "integrationtests", "functionaltests", "uitests", "fulltests"}

// namesTests knows the names of test directories in the ecosystems' layouts:
// "integration-tests", "MyApp.Tests", "AppUITests", "src/commonTest".
func namesTests(above, name string) bool {
	if slices.Contains(testDirs, strings.ToLower(name)) || slices.ContainsFunc(words(name), isTestWord) {
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

// testDirectory is the rule for everything that lies among tests.
func (c *Classifier) testDirectory(path string) Decision {
	home, ok := testDirectory(path)
	if !ok || c.productPackage(path, home) {
		return Decision{}
	}
	return Decision{Part: Test, Why: fmt.Sprintf("in test directory %s", home)}
}

// sourceSets is the rule for layouts that say outright what is production:
// Maven's and Gradle's src/main, in which a package may well be named test.
func sourceSets(path string) Decision {
	for _, set := range []string{"main", "commonMain", "jvmMain", "jsMain", "nativeMain", "androidMain", "iosMain"} {
		if strings.HasPrefix(path, "src/"+set+"/") || strings.Contains(path, "/src/"+set+"/") {
			return Decision{Part: Production, Why: fmt.Sprintf("in source set src/%s", set)}
		}
	}
	return Decision{}
}
