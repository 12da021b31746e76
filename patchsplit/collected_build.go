package patchsplit

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	rspecPattern = lazyregexp.New(`(?:--pattern|-P|--default-path)[ =]+["']?([^\s"']+)`)
	rakePattern  = lazyregexp.New(`\b(?:t|task|test)\.(?:pattern|test_files|rspec_files)\s*=\s*(?:(?:Rake::)?FileList)?[\[(]?\s*((?:["'][^"'\n]+["'][\s,]*)+)`)
)

// readRSpec takes .rspec's pattern or directory.
func readRSpec(_ string, data []byte) *collection {
	k := new(collection)
	for _, match := range rspecPattern.FindAllSubmatch(data, -1) {
		k.add("rspec", strings.Split(string(match[1]), ","))
	}
	return k.orNone()
}

// readRakefile takes the file lists of test tasks.
func readRakefile(_ string, data []byte) *collection {
	k := new(collection)
	for _, match := range rakePattern.FindAllSubmatch(data, -1) {
		for _, text := range scriptString.FindAllSubmatch(match[1], -1) {
			k.add("rake test", []string{string(text[1])})
		}
	}
	return k.orNone()
}

// readCargo takes the paths of explicit test targets.
func readCargo(_ string, data []byte) *collection {
	var doc struct {
		Tests []struct {
			Path string `toml:"path"`
		} `toml:"test"`
	}
	if _, err := toml.Decode(string(data), &doc); err != nil {
		return nil
	}
	k := new(collection)
	for _, test := range doc.Tests {
		if test.Path != "" {
			k.add("cargo", []string{test.Path})
		}
	}
	return k.orNone()
}

var (
	mavenDirs   = lazyregexp.New(`<testSourceDirectory>\s*([^<]+?)\s*</testSourceDirectory>`)
	mavenBlock  = lazyregexp.New(`(?s)<testResource>.*?<directory>\s*([^<]+?)\s*</directory>`)
	gradleSet   = lazyregexp.New(`\b(?:test|integrationTest|functionalTest|androidTest|testFixtures)\b[^{}\n]*\{`)
	gradleDirs  = lazyregexp.New(`\b(?:srcDirs?|setSrcDirs)\b\s*(?:\+?=)?\s*[\[(]?\s*((?:(?:listOf\()?["'][^"'\n]+["'][\s,]*)+)`)
	gradleHouse = lazyregexp.New(`\bsourceSets\b[^{\n]*\{`)
)

// readSourceSets takes test source directories out of Maven's and Gradle's
// builds.
func readSourceSets(file string, data []byte) *collection {
	k := new(collection)
	if extOf(file) == ".xml" {
		for _, match := range append(mavenDirs.FindAllSubmatch(data, -1), mavenBlock.FindAllSubmatch(data, -1)...) {
			k.add("maven", []string{strings.TrimPrefix(strings.TrimPrefix(string(match[1]), "${project.basedir}/"), "${basedir}/")})
		}
		return k.orNone()
	}
	source := stripComments(data)
	for _, house := range gradleHouse.FindAllIndex(source, -1) {
		sets := source[house[1]-1 : closing(source, house[1]-1)]
		for _, set := range gradleSet.FindAllIndex(sets, -1) {
			for _, match := range gradleDirs.FindAllSubmatch(sets[set[1]-1:closing(sets, set[1]-1)], -1) {
				for _, text := range scriptString.FindAllSubmatch(match[1], -1) {
					k.add("gradle", []string{string(text[1])})
				}
			}
		}
	}
	return k.orNone()
}

var (
	cmakeTests  = lazyregexp.New(`(?i)\b(?:gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests)\s*\(\s*(?:TARGET\s+)?([\w.-]+)|\badd_test\s*\(\s*(?:NAME\s+\S+\s+COMMAND\s+)?([\w.-]+)`)
	cmakeTarget = lazyregexp.New(`(?i)\badd_executable\s*\(\s*([\w.-]+)([^)]*)\)`)
	mesonTarget = lazyregexp.New(`(?m)^\s*(\w+)\s*=\s*executable\s*\(\s*'[^']*'\s*,((?:\s*(?:files\()?'[^']+'\)?\s*,?)+)`)
	mesonTests  = lazyregexp.New(`\btest\s*\(\s*'[^']*'\s*,\s*(\w+)`)
)

// readNativeBuild takes the sources of programs that CMake or Meson run as tests.
func readNativeBuild(file string, data []byte) *collection {
	tests, targets := cmakeTests, cmakeTarget
	framework := "ctest"
	if baseOf(file) == "meson.build" {
		tests, targets, framework = mesonTests, mesonTarget, "meson test"
	}
	run := make(map[string]bool)
	for _, match := range tests.FindAllSubmatch(data, -1) {
		for _, name := range match[1:] {
			run[string(name)] = len(name) > 0 || run[string(name)]
		}
	}
	k := new(collection)
	for _, match := range targets.FindAllSubmatch(data, -1) {
		if !run[string(match[1])] {
			continue
		}
		for _, word := range bytes.FieldsFunc(match[2], func(r rune) bool { return strings.ContainsRune(" \t\r\n,'\"()", r) }) {
			if IsCode(string(word)) && !bytes.ContainsAny(word, "$<*") && !bytes.HasPrefix(word, []byte("..")) {
				k.add(framework, []string{string(word)})
			}
		}
	}
	return k.orNone()
}

var swiftTests = lazyregexp.New(`\.testTarget\s*\(\s*name:\s*"([^"]+)"[^)]*?(?:path:\s*"([^"]+)")?[^)]*\)`)

// readSwift takes the directories of test targets.
func readSwift(_ string, data []byte) *collection {
	k := new(collection)
	for _, match := range swiftTests.FindAllSubmatch(data, -1) {
		place := "Tests/" + string(match[1])
		if path := regexp.MustCompile(`path:\s*"([^"]+)"`).FindSubmatch(match[0]); path != nil {
			place = string(path[1])
		}
		k.add("swift test", []string{place})
	}
	return k.orNone()
}

var mixPaths = lazyregexp.New(`\btest_paths:\s*\[([^\]]*)\]`)

// readOther takes mix's test_paths.
func readOther(file string, data []byte) *collection {
	k := new(collection)
	if match := mixPaths.FindSubmatch(data); baseOf(file) == "mix.exs" && match != nil {
		for _, text := range scriptString.FindAllSubmatch(match[1], -1) {
			k.add("mix test", []string{string(text[1])})
		}
	}
	return k.orNone()
}
