package patchsplit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// collection is what one configuration file of base says that its test
// framework takes: files by pattern, and directories that are all tests.
type collection struct {
	file      string // where it stands
	framework string
	dir       string // what its patterns are relative to
	patterns  []string
	excluded  []string
	regexps   []*regexp.Regexp // of the whole path, as jest's testRegex
	loaded    []string         // files that it loads before the tests: set-up files
}

// takes returns the pattern that names a path, "" for none.
func (k *collection) takes(p string) string {
	rel, inside := relTo(k.dir, p)
	if !inside || slices.ContainsFunc(k.excluded, func(pattern string) bool { return globMatch(pattern, rel) }) {
		return ""
	}
	for _, pattern := range k.patterns {
		if globMatch(pattern, rel) {
			return pattern
		}
	}
	for _, re := range k.regexps {
		if re.MatchString("/" + rel) {
			return re.String()
		}
	}
	return ""
}

// globMatch takes the forms that test frameworks share: ./ in front, a bare
// directory for all below it.
func globMatch(pattern, rel string) bool {
	pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/")
	if pattern == "" {
		return false
	}
	if !strings.ContainsAny(pattern, "*?[{") {
		return rel == pattern || strings.HasPrefix(rel, pattern+"/")
	}
	ok, err := doublestar.Match(pattern, rel)
	return ok && err == nil
}

// readers of configuration files, by base name pattern. Each is given a file
// of base and says what it collects, nil for nothing.
var collectors = []struct {
	name string
	read func(file string, data []byte) *collection
}{
	{"package.json", readPackageJSON},
	{".mocharc.*", readMocharc},
	{"{jest,vitest,vite,ava,playwright,cypress}.config.*", readScriptConfig},
	{"{phpunit.xml,phpunit.xml.dist,phpunit.dist.xml}", readPHPUnit},
	{".rspec", readRSpec},
	{"Rakefile", readRakefile},
	{"Cargo.toml", readCargo},
	{"{pom.xml,build.gradle,build.gradle.kts}", readSourceSets},
	{"*.{csproj,fsproj,vbproj}", readDotnet},
	{"{CMakeLists.txt,meson.build}", readNativeBuild},
	{"Package.swift", readSwift},
	{"{mix.exs,dune}", readOther},
}

// collections reads what the configuration files that lie in a directory of
// base say.
func (c *Classifier) collections(dir string) []*collection {
	if known, ok := c.collected[dir]; ok {
		return known
	}
	var found []*collection
	for _, file := range c.base.in(dir) {
		for _, collector := range collectors {
			if ok, _ := doublestar.Match(collector.name, path.Base(file)); !ok {
				continue
			}
			if k := collector.read(file, c.base.content(file)); k != nil {
				k.file, k.dir = file, dirOf(file)
				found = append(found, k)
			}
		}
	}
	c.collected[dir] = found
	return found
}

// frameworkCollected is the rule for what the configuration of test frameworks
// and builds says, the nearest to a path first. What they load before the tests
// may be the product's too.
func (c *Classifier) frameworkCollected(p string) Decision {
	d := c.frameworkByName(p)
	if d.Class == ClassSupport {
		if user := c.productUser(p, 1); user != "" {
			return Decision{Part: Production, Class: ClassSupport, Why: fmt.Sprintf("%s imports it", user)}
		}
	}
	return d
}

// frameworkByName is frameworkCollected without a look at who imports the file.
func (c *Classifier) frameworkByName(p string) Decision {
	for dir := range ancestors(p) {
		for _, k := range c.collections(dir) {
			rel, _ := relTo(k.dir, p)
			if slices.Contains(k.loaded, rel) {
				return Decision{Part: Test, Class: ClassSupport, Why: fmt.Sprintf("%s loads it before the tests (%s)", k.framework, k.file)}
			}
			if pattern := k.takes(p); pattern != "" && (!k.namedBroadly(pattern, p) || c.isTestByText(p)) {
				return Decision{Part: Test, Why: fmt.Sprintf("%s collects it (%s in %s)", k.framework, pattern, k.file)}
			}
		}
	}
	return Decision{}
}
