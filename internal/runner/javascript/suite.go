package javascript

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// suite is the test files of one tree, with their sources on demand.
type suite struct {
	settings
	home    string // the runner's directory
	tree    gate.Tree
	files   []string // what the framework collects when it is given nothing, sorted
	sources map[string]string
	named   map[string][]string // by file: what it imports
	spans   map[string]*outline
	once    sync.Once // of before
}

func (r *Runner) suite(tree gate.Tree) *suite {
	s := &suite{settings: readSettings(tree, r.Config.Framework, r.Dir), home: r.Dir, tree: tree,
		sources: make(map[string]string), named: make(map[string][]string), spans: make(map[string]*outline)}
	for _, file := range tree.Paths() {
		if s.collects(file) {
			s.files = append(s.files, file)
		}
	}
	return s
}

// before is what is built before the tests.
func (s *suite) before() []string {
	s.once.Do(func() {
		if len(s.steps) > 0 {
			return
		}
		if step := s.building(); step != "" {
			s.steps = []string{step}
		}
	})
	return s.steps
}

var scriptExt = lazyregexp.New(`\.[cm]?[jt]sx?$`)

func isScript(file string) bool {
	return scriptExt.MatchString(file) && !strings.HasSuffix(file, ".d.ts") && !strings.HasSuffix(file, ".d.mts") && !strings.HasSuffix(file, ".d.cts")
}

// collects tells whether the framework would take tests from a file when it
// comes across it.
func (s *suite) collects(file string) bool {
	if !treepath.Within(s.home, path.Dir(file)) || skips(file) {
		return false
	}
	name := treepath.Relative(s.home, file)
	glob := func(pattern string) bool { return globMatches(pattern, name) }
	match := func(re *regexp.Regexp) bool { return re.MatchString("/" + name) }
	if slices.ContainsFunc(s.exclude, glob) || slices.ContainsFunc(s.ignores, match) {
		return false
	}
	return (isScript(file) || slices.Contains(s.include, name)) && slices.ContainsFunc(s.include, glob) || slices.ContainsFunc(s.matches, match)
}

// skips tells whether no framework enters a directory on the way to a file.
func skips(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		if part == "node_modules" || part == "bower_components" || len(part) > 1 && part[0] == '.' {
			return true
		}
	}
	return false
}

func (s *suite) exists(file string) bool {
	_, found := slices.BinarySearch(s.tree.Paths(), file)
	return found
}

func (s *suite) isUnit(file string) bool {
	_, found := slices.BinarySearch(s.files, file)
	return found
}

var testWord = lazyregexp.New(`(^|[-_./])(tests?|__tests__|specs?|__mocks__|__fixtures__|fixtures|e2e|testing)([-_./]|$)`)

// isTest tells test code from the code under test by its place and name.
func (s *suite) isTest(file string) bool {
	return s.isUnit(file) || testWord.MatchString(treepath.Relative(s.home, file))
}

func (s *suite) source(file string) string {
	if text, known := s.sources[file]; known {
		return text
	}
	content, _ := s.tree.ReadFile(file) // what cannot be read says nothing
	s.sources[file] = string(content)
	return s.sources[file]
}

// outline is where the tests of a file stand.
func (s *suite) outline(file string) *outline {
	if known := s.spans[file]; known != nil {
		return known
	}
	s.spans[file] = outlineOf(s.source(file))
	return s.spans[file]
}

func (s *suite) below(dir string) []string {
	return s.filter(func(file string) bool { return treepath.Within(dir, path.Dir(file)) })
}

func (s *suite) filter(keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(s.files), func(file string) bool { return !keep(file) })
}
