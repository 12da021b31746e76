package patchsplit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// maxBorrowed is how many files in test directories may lend each other's use:
// production imports one, which imports the next.
const maxBorrowed = 3

// borrowed is the rule for source that lies among tests and is part of the
// product all the same: production code imports it, or what imports it. A file
// that a framework collects as a test is not asked about.
func (c *Classifier) borrowed(path string) Decision {
	if !IsCode(path) || importsOf[extOf(path)] == nil || c.blind() {
		return Decision{}
	}
	if _, among := testDirectory(path); !among || namedAsTest(path).Part == Test || c.collectedByName(path) {
		return Decision{}
	}
	if user := c.productUser(path, maxBorrowed); user != "" {
		return Decision{Part: Production, Class: ClassSupport, Why: fmt.Sprintf("lies among tests, but %s imports it", user)}
	}
	return Decision{}
}

// collectedByName holds for what pytest takes for a test or loads by itself.
func (c *Classifier) collectedByName(path string) bool {
	_, collected := c.pytestFor(path).collects(path)
	return collected || baseOf(path) == "conftest.py"
}

// productUser returns the production file that imports a file by its place,
// through at most depth files that lie among tests; "" for none, or when the
// tree is too large to be searched.
func (c *Classifier) productUser(path string, depth int) string {
	tree := c.evidence(path)
	sources := c.corpus(tree)
	if !sources.complete || depth == 0 {
		return ""
	}
	for _, user := range sources.product() {
		if c.imports(tree, user, path) {
			return user
		}
	}
	for _, user := range sources.tests {
		if user != path && !c.collectedByName(user) && namedAsTest(user).Part != Test && c.imports(tree, user, path) {
			if found := c.productUser(user, depth-1); found != "" {
				return found
			}
		}
	}
	return ""
}

// userOf returns a source of the product or a test that imports a file.
func (c *Classifier) userOf(path string) string {
	tree := c.evidence(path)
	sources := c.corpus(tree)
	if !sources.complete {
		return ""
	}
	for _, user := range slices.Concat(sources.product(), sources.tests) {
		if c.imports(tree, user, path) {
			return user
		}
	}
	return ""
}

func (c *Classifier) imports(tree *view, user, path string) bool {
	reads := importsOf[extOf(user)]
	if reads == nil || user == path {
		return false
	}
	source := tree.content(user)
	name := stemOf(path)
	if name == "__init__" || name == "index" {
		name = baseOf(dirOf(path))
	}
	return bytes.Contains(source, []byte(name)) && reads(user, source, path)
}

var auxiliaryDirs = []string{"scripts", "script", "tools", "hack", "ci", "examples", "example", "samples", "demo", "demos", "benchmarks", "benchmark", "bench"}

var buildScript = lazyregexp.New(`(?i)(^|\.)(config|conf|setup)\.[cm]?[jt]s$|^(gulpfile|gruntfile|rakefile|tasks|fabfile|noxfile|setup|conf|webpack[\w.-]*)\.\w+$`)

// isProductSource leaves out what merely builds, documents or measures the
// product: its use of test code says nothing.
func isProductSource(path string) bool {
	base := baseOf(path)
	if isManifest(base) || isTestConfig(base) || buildScript.MatchString(base) {
		return false
	}
	if _, documents := docDirectory(path); documents {
		return false
	}
	top, _, nested := strings.Cut(path, "/")
	return !nested || !slices.Contains(auxiliaryDirs, top)
}

// importsOf tell, by extension, whether a source imports a file by its place in
// the tree. A last component alone is not enough: many files share it.
var importsOf = map[string]func(user string, source []byte, path string) bool{
	".py": pythonImports, ".rb": rubyImports,
	".js": scriptImports, ".jsx": scriptImports, ".ts": scriptImports, ".tsx": scriptImports, ".mjs": scriptImports, ".cjs": scriptImports,
	".mts": scriptImports, ".cts": scriptImports, ".vue": scriptImports, ".svelte": scriptImports,
	".java": packageImports, ".kt": packageImports, ".scala": packageImports, ".groovy": packageImports, ".php": phpImports,
	".c": nativeIncludes, ".cc": nativeIncludes, ".cpp": nativeIncludes, ".cxx": nativeIncludes, ".h": nativeIncludes, ".hpp": nativeIncludes,
}

var pyImport = lazyregexp.New(`(?m)^[ \t]*(?:import[ \t]+([\w., \t]+)|from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^\n#]*)))`)

func pythonImports(user string, source []byte, path string) bool {
	target := strings.TrimSuffix(joinDir(dirOf(path), stemOf(path)), "/__init__")
	for _, match := range pyImport.FindAllSubmatch(source, -1) {
		for name := range strings.SplitSeq(string(match[1]), ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
			if isModule(target, strings.ReplaceAll(name, ".", "/")) {
				return true
			}
		}
		from := string(match[2])
		if from == "" {
			continue
		}
		for name := range strings.SplitSeq(string(match[3])+string(match[4]), ",") {
			if fields := strings.Fields(name); len(fields) > 0 && fromModule(user, target, from, fields[0]) {
				return true
			}
		}
	}
	return false
}

// fromModule holds when "from module import name" loads the target.
func fromModule(user, target, module, name string) bool {
	rest := strings.TrimLeft(module, ".")
	place := strings.ReplaceAll(rest, ".", "/")
	if dots := len(module) - len(rest); dots > 0 {
		dir := dirOf(user)
		for range dots - 1 {
			dir = dirOf(dir)
		}
		full := strings.TrimSuffix(joinDir(dir, place), "/")
		return full == target && rest != "" || joinDir(full, name) == target
	}
	return isModule(target, place) || isModule(target, place+"/"+name)
}

// isModule compares a file with an absolute import: the same place below the
// root or a source root above it, which does not lie among tests itself: those
// may hold whole trees that look like the product. One component alone names
// nothing.
func isModule(target, module string) bool {
	if !strings.Contains(module, "/") {
		return false
	}
	root, found := strings.CutSuffix(target, "/"+module)
	if !found {
		return target == module
	}
	_, among := testDirectory(root + "/x.rb")
	return !among
}

var scriptImport = lazyregexp.New(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}/[^"'\n]*)["']`)

func scriptImports(user string, source []byte, path string) bool {
	for _, match := range scriptImport.FindAllSubmatch(source, -1) {
		place := resolve(dirOf(user), string(match[1]))
		if place == path || place == joinDir(dirOf(path), stemOf(path)) || stemOf(path) == "index" && place == dirOf(path) {
			return true
		}
		if strings.HasSuffix(place, ".js") && strings.TrimSuffix(place, ".js") == joinDir(dirOf(path), stemOf(path)) {
			return true // TypeScript writes the name of what it is compiled to
		}
	}
	return false
}

// resolve follows a relative path from a directory; "" when it leaves the tree.
func resolve(dir, relative string) string {
	for part := range strings.SplitSeq(strings.TrimSuffix(relative, "/"), "/") {
		switch part {
		case ".", "":
		case "..":
			if dir == "" {
				return ""
			}
			dir = dirOf(dir)
		default:
			dir = joinDir(dir, part)
		}
	}
	return dir
}

var rubyRequire = lazyregexp.New(`(?m)^[ \t]*(require|require_relative|autoload[ \t]+:\w+,)[ \t(]*["']([^"'\n]+)["']`)

func rubyImports(user string, source []byte, path string) bool {
	target := joinDir(dirOf(path), stemOf(path))
	for _, match := range rubyRequire.FindAllSubmatch(source, -1) {
		name := strings.TrimSuffix(string(match[2]), ".rb")
		if string(match[1]) == "require_relative" {
			name = resolve(dirOf(user), name)
			if name == target {
				return true
			}
		} else if isModule(target, name) {
			return true
		}
	}
	return false
}

var quotedInclude = lazyregexp.New(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)

func nativeIncludes(user string, source []byte, path string) bool {
	for _, match := range quotedInclude.FindAllSubmatch(source, -1) {
		name := string(match[1])
		if resolve(dirOf(user), name) == path || isModule(path, name) {
			return true
		}
	}
	return false
}

var packageImport = lazyregexp.New(`(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)`)

// packageImports reads the JVM's languages, where a class lies under the path of
// its package: an import names it, or a member of it.
func packageImports(_ string, source []byte, path string) bool {
	target := joinDir(dirOf(path), stemOf(path))
	for _, match := range packageImport.FindAllSubmatch(source, -1) {
		class := strings.ReplaceAll(string(match[1]), ".", "/")
		if isModule(target, class) || isModule(target, dirOf(class)) {
			return true
		}
	}
	return false
}

var (
	phpUse     = lazyregexp.New(`(?m)^[ \t]*use[ \t]+(?:function[ \t]+|const[ \t]+)?\\?([\w\\]+)`)
	phpRequire = lazyregexp.New(`\b(?:require|include)(?:_once)?[ \t(]*__DIR__[ \t]*\.[ \t]*["']/([^"'\n]+)["']`)
)

// phpImports reads the names that an autoloader looks up by the path of their
// namespace, whose first part or parts stand for a directory, and files that are
// required beside the source.
func phpImports(user string, source []byte, path string) bool {
	target := joinDir(dirOf(path), stemOf(path))
	for _, match := range phpUse.FindAllSubmatch(source, -1) {
		for class := strings.ReplaceAll(string(match[1]), `\`, "/"); strings.Contains(class, "/"); {
			if isModule(target, class) {
				return true
			}
			_, class, _ = strings.Cut(class, "/")
		}
	}
	for _, match := range phpRequire.FindAllSubmatch(source, -1) {
		if resolve(dirOf(user), string(match[1])) == path {
			return true
		}
	}
	return false
}
