package patchsplit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// isLock knows the files in which package managers pin what they found.
func isLock(base string) bool {
	switch base {
	case "go.sum", "go.work.sum", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json", "npm-shrinkwrap.json",
		"yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock", "Cargo.lock", "Gemfile.lock", "composer.lock",
		"flake.lock", "gradle.lockfile", "packages.lock.json", "mix.lock", "pubspec.lock", "Package.resolved", "Podfile.lock":
		return true
	}
	return false
}

// isTestConfigName knows the configuration of test tools that has one name.
func isTestConfigName(base string) bool {
	switch base {
	case "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", ".coveragerc", ".nycrc", ".nycrc.json", ".rspec", "phpunit.xml",
		"phpunit.xml.dist", ".mocharc", "karma.conf.js", "CTestTestfile.cmake", "nextest.toml", "gotestsum.toml", "tarpaulin.toml":
		return true
	}
	return false
}

var (
	testConfigName = lazyregexp.New(`^(\.mocharc|(jest|vitest|vite|ava|playwright|cypress)\.config|vitest\.workspace|(wdio|karma)\.conf)\.[a-z0-9.]+$`)
	testDeps       = lazyregexp.New(`^((dev|test|tests|ci)[-_.]?requirements|requirements[-_.](dev|test|tests|ci|testing))[-\w.]*\.(txt|in)$`)
	generatedMark  = lazyregexp.New(`(?i)code generated .*do not edit|@generated\b|this file (is|was) (auto[- ]?)?generated`)
)

// configFile is the rule for files that tell a test tool or a package manager
// what to do. They ride with production: base keeps its own, so that a change
// cannot choose which of base's tests run.
func configFile(path string) Decision {
	base := baseOf(path)
	switch {
	case isTestConfig(base):
		return Decision{Part: Production, Class: ClassTestConfig, Why: "configures which tests run and how"}
	case isLock(base):
		return Decision{Part: Production, Class: ClassLock, Why: "pins dependencies"}
	case isManifest(base):
		return Decision{Part: Production, Why: "declares what is built and what it depends on"}
	}
	return Decision{}
}

func isTestConfig(base string) bool {
	if isTestConfigName(base) {
		return true
	}
	switch extOf(base) {
	case ".txt", ".in":
		return testDeps.MatchString(base)
	case ".py", ".go", ".rs", ".java":
		return false // the most common names; no runner's configuration is called so
	}
	return testConfigName.MatchString(base)
}

// isManifestName knows the manifests that have one name.
func isManifestName(base string) bool {
	switch base {
	case "go.mod", "go.work", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "package.json", "Cargo.toml", "pom.xml", "build.gradle",
		"build.gradle.kts", "settings.gradle", "gradle.properties", "libs.versions.toml", "Gemfile", "composer.json", "mix.exs", "pubspec.yaml",
		"Package.swift", "CMakeLists.txt", "conanfile.txt", "vcpkg.json", "Directory.Packages.props", "environment.yml":
		return true
	}
	return false
}

// isManifest knows the files that name dependencies.
func isManifest(base string) bool {
	if isManifestName(base) || strings.HasSuffix(base, ".csproj") || strings.HasSuffix(base, ".gemspec") {
		return true
	}
	return strings.HasPrefix(base, "requirements") && (strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".in"))
}

// class recognises what a reader may skip or must look at twice, whatever the part.
func (c *Classifier) class(path string) string {
	base := baseOf(path)
	switch {
	case isLock(base):
		return ClassLock
	case isTestConfig(base):
		return ClassTestConfig
	case c.said(path, "linguist-vendored") != "":
		return ClassVendored
	case isGeneratedName(base) || c.said(path, "linguist-generated") != "" || c.marked(path):
		return ClassGenerated
	}
	return ""
}

// generatedEnds are the ends of names that generators give, by extension.
var generatedEnds = map[string][]string{
	".go": {".pb.go", ".pb.gw.go", "_generated.go", "_string.go"},
	".py": {"_pb2.py", "_pb2_grpc.py"}, ".pyi": {"_pb2.pyi", "_pb2_grpc.pyi"},
	".js": {".min.js"}, ".css": {".min.css"}, ".dart": {".g.dart"}, ".cs": {".designer.cs"},
}

// isGeneratedName knows the names that generators give.
func isGeneratedName(base string) bool {
	for _, end := range generatedEnds[extOf(base)] {
		if at := len(base) - len(end); at >= 0 && strings.EqualFold(base[at:], end) {
			return true
		}
	}
	const kubernetes = "zz_generated"
	return len(base) >= len(kubernetes) && strings.EqualFold(base[:len(kubernetes)], kubernetes)
}

// marked holds when the head of a file says that a tool wrote it.
func (c *Classifier) marked(path string) bool {
	tree := c.head
	if !tree.has(path) {
		tree = c.base
	}
	if !tree.has(path) || !IsCode(path) {
		return false
	}
	data := tree.content(path)
	data = data[:min(len(data), 4<<10)]
	for line := range bytes.Lines(data) {
		if isComment(line) && generatedMark.Match(line) {
			return true
		}
	}
	return false
}

func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	for _, mark := range []string{"//", "#", "/*", "*", "--", ";", "<!--"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}

// isVendored holds for copies of other people's code by their directory alone.
func isVendored(path string) bool {
	for name := range strings.SplitSeq(dirOf(path), "/") {
		switch name {
		case "node_modules", "_vendor", "third_party", "third-party", "bower_components", "vendor":
			return true
		}
	}
	return false
}

// vendored is the rule for copies of other people's code. Their tests are not
// run here. A directory that is merely named vendor needs its tool's mark.
func (c *Classifier) vendored(path string) Decision {
	for end := range slashes(path) {
		dir := path[:end]
		switch baseOf(dir) {
		case "test", "tests", "testdata":
			return Decision{}
		case "node_modules", "_vendor", "third_party", "third-party", "bower_components":
			return Decision{Part: Production, Class: ClassVendored, Why: fmt.Sprintf("vendored in %s", dir)}
		case "vendor":
			if c.vendorTool(dir) {
				return Decision{Part: Production, Class: ClassVendored, Why: fmt.Sprintf("vendored in %s", dir)}
			}
		}
	}
	return Decision{}
}

func (c *Classifier) vendorTool(dir string) bool {
	for _, mark := range []string{"modules.txt", "autoload.php", "bundle", "cache"} {
		file := dir + "/" + mark
		if c.evidence(file).has(file) || len(c.base.under(file)) > 0 {
			return true
		}
	}
	file := joinDir(dirOf(dir), "go.mod")
	return c.evidence(file).has(file)
}
