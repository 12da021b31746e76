package javascript

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// maxAsked bounds how many test files are read for what they import.
const maxAsked = 400

// buildScripts are the scripts that make what a package publishes, best first.
var buildScripts = []string{"build", "compile", "prepare", "prepack"}

// building is the script that must run before the tests although none of the
// test script's own does: test code imports what the tree does not hold and its
// .gitignore or package.json speaks of, so it is built, and what lies on the disk
// was built of some other state; or what is run is itself compiled from the tests.
// "" for none.
func (s *suite) building() string {
	m, ok := readManifest(s.tree, s.home)
	if !ok {
		return ""
	}
	for _, name := range buildScripts {
		if m.Scripts[name] != "" && !checker.MatchString(m.Scripts[name]) {
			if s.compiled.to != "" || s.importsBuilt(m) {
				return "npm run " + name
			}
			return ""
		}
	}
	return ""
}

// importsBuilt tells whether any test code, helpers included, imports a file of
// a directory that the tree lacks, or the package itself whose entry is such a
// file.
func (s *suite) importsBuilt(m manifest) bool {
	dirs, stems := s.dirs(), make(map[string]string)
	for _, file := range s.tree.Paths() {
		if isScript(file) {
			stems[moduleStem(file)] = file
		}
	}
	absent := func(file string) bool {
		if !treepath.Within(s.home, file) || strings.HasPrefix(file, "../") || stems[moduleStem(file)] != "" || dirs[file] || skips(file) {
			return false
		}
		dir := path.Dir(file)
		if dirs[dir] && path.Ext(file) == "" {
			dir = file // a directory for its index
		}
		return !dirs[dir] && s.speaksOf(m, dir, dirs)
	}
	own := path.Join(s.home, m.entry())
	queue := slices.Clone(s.files[:min(len(s.files), maxAsked)])
	seen := make(map[string]bool)
	for i := 0; i < len(queue) && i < maxAsked; i++ {
		names := imported(typeImport.ReplaceAllString(s.source(queue[i]), ""), path.Dir(queue[i]))
		if m.Name != "" && imports(s.source(queue[i]), m.Name) {
			names = append(names, s.home)
		}
		for _, name := range names {
			if name == s.home && stems[s.home] == "" {
				name = own
			}
			if absent(name) {
				return true
			}
			if helper := stems[moduleStem(name)]; helper != "" && s.isTest(helper) && !seen[helper] {
				seen[helper] = true
				queue = append(queue, helper)
			}
		}
	}
	return false
}

// dirs are the directories of the tree, its root included.
func (s *suite) dirs() map[string]bool {
	dirs := make(map[string]bool)
	for _, file := range s.tree.Paths() {
		for dir := path.Dir(file); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}

// imports tells whether a source asks for a package by its name.
func imports(source, name string) bool {
	return slices.ContainsFunc(specifier.FindAllStringSubmatch(source, -1), func(m []string) bool { return m[1] == name })
}

// speaksOf tells whether .gitignore or package.json name the outermost part of
// a directory that the tree lacks.
func (s *suite) speaksOf(m manifest, dir string, dirs map[string]bool) bool {
	for !dirs[path.Dir(dir)] {
		dir = path.Dir(dir)
	}
	word := regexp.MustCompile(`(?m)(^|[/"'*])` + regexp.QuoteMeta(path.Base(dir)) + `([/"'*]|\s*$)`)
	for _, at := range []string{".", s.home} {
		if content, err := s.tree.ReadFile(path.Join(at, ".gitignore")); err == nil && word.Match(content) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"main", "module", "exports", "bin", "files"}, func(key string) bool { return word.Match(m.Rest[key]) })
}

var quotedPath = lazyregexp.New(`"(\./[^"*]+\.[cm]?js)"`)

// entry is the file that the package's own name stands for.
func (m manifest) entry() string {
	for _, key := range []string{"exports", "main", "module"} {
		if found := quotedPath.FindSubmatch(m.Rest[key]); found != nil {
			return string(found[1])
		}
		if name := strings.Trim(string(m.Rest[key]), `"`); key != "exports" && name != "" {
			return name
		}
	}
	return "index.js"
}

// maxDirs bounds how many directories the observer is told.
const maxDirs = 20_000

// directories are those of the tree, below the runner's root, for an observer
// that looks out for files which were built before: nil where it need not.
func (c *call) directories(q question, builds bool) []string {
	if q.list || builds || !slices.ContainsFunc(c.batch.Subjects, isCode) {
		return []string{}
	}
	dirs := c.reader.suite.dirs()
	if len(dirs) > maxDirs {
		return []string{}
	}
	return slices.Sorted(maps.Keys(dirs))
}
