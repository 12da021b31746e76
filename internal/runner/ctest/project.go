package ctest

import (
	"bytes"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

var (
	hasTests  = lazyregexp.New(`(?i)\b(?:add_test|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests)\s*\(`)
	testMacro = lazyregexp.New(`^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|GTEST_TEST)$`)
	caseMacro = lazyregexp.New(`^(?:TEST_CASE|SCENARIO|TEST_CASE_METHOD|TEMPLATE_TEST_CASE|TEST_CASE_FIXTURE|TEST_CASE_TEMPLATE|SCENARIO_METHOD|TEST_CASE_PERSISTENT_FIXTURE)$`)
	anyMacro  = lazyregexp.New(`(?m)^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|GTEST_TEST|TEST_CASE|SCENARIO|TEST_CASE_METHOD|TEMPLATE_TEST_CASE|TEST_CASE_FIXTURE|TEST_CASE_TEMPLATE)\s*\(`)
	programs  = lazyregexp.New(`(?is)\badd_executable\s*\(\s*(\S+)\s+([^)]*)\)`)
	addsTest  = lazyregexp.New(`(?is)\badd_test\s*\(([^)]*)\)`)
	title     = lazyregexp.New(`"((?:[^"\\]|\\.)*)"`)
	testDir   = lazyregexp.New(`(?:^|/)(?:\w*_)?(?:tests?|unittests?|testing)(?:/|$)`)
)

// Detect finds the outermost CMake projects that add tests.
func Detect(tree gate.Tree) []Candidate {
	var roots []Candidate
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if path.Base(file) != "CMakeLists.txt" || foreign(dir) || slices.ContainsFunc(roots, func(c Candidate) bool { return treepath.Within(c.Dir, dir) }) {
			continue
		}
		if text, err := tree.ReadFile(file); err == nil && bytes.Contains(bytes.ToLower(text), []byte("project")) {
			roots = append(roots, Candidate{dir, file})
		}
	}
	return slices.DeleteFunc(roots, func(c Candidate) bool { return len(newProject(tree, c.Dir).units()) == 0 })
}

// project is a CMake project as the tree's files show it.
type project struct {
	tree    gate.Tree
	dir     string
	files   map[string]*braces.Source
	sources map[string][]string // program -> its sources, as CMakeLists.txt names them
	tests   bool
	started map[string]bool // words of add_test: programs that are tests as a whole
}

func newProject(tree gate.Tree, dir string) *project {
	p := &project{tree: tree, dir: dir, files: make(map[string]*braces.Source), sources: make(map[string][]string), started: make(map[string]bool)}
	for _, file := range tree.Paths() {
		if !treepath.Within(dir, path.Dir(file)) || foreign(treepath.Relative(dir, path.Dir(file))) || path.Base(file) != "CMakeLists.txt" && path.Ext(file) != ".cmake" {
			continue
		}
		text, err := tree.ReadFile(file)
		if err != nil {
			continue
		}
		p.tests = p.tests || hasTests.Match(text)
		for _, m := range addsTest.FindAllSubmatch(text, -1) {
			for _, word := range strings.Fields(string(m[1])) {
				word = strings.TrimPrefix(strings.Trim(word, `"`), "./")
				p.started[strings.TrimSuffix(strings.TrimPrefix(word, "$<TARGET_FILE:"), ">")] = true
			}
		}
		var named []string
		for _, m := range programs.FindAllSubmatch(text, -1) {
			name := strings.Trim(string(m[1]), `"`)
			named = append(named, name)
			for _, word := range strings.Fields(string(m[2])) {
				if at := path.Join(path.Dir(file), strings.Trim(word, `"`)); isSource(at) {
					p.sources[name] = append(p.sources[name], at)
				}
			}
		}
		p.addLoops(string(text), named)
	}
	return p
}

// file reads a source of the tree, once; nil when there is none.
func (p *project) file(name string) *braces.Source {
	if s, known := p.files[name]; known {
		return s
	}
	text, err := p.tree.ReadFile(name)
	if err != nil {
		p.files[name] = nil
		return nil
	}
	p.files[name] = braces.Parse(name, text, braces.CPP)
	return p.files[name]
}

// isTestCode holds for sources whose declarations may be taken out: those with
// test cases, and what lies in directories of tests.
func (p *project) isTestCode(file string) bool {
	if !treepath.Within(p.dir, path.Dir(file)) || !isSource(file) && !isHeader(file) {
		return false
	}
	if testDir.MatchString(treepath.Relative(p.dir, path.Dir(file))) {
		return true
	}
	text, err := p.tree.ReadFile(file)
	return err == nil && anyMacro.Match(text)
}

// units lists the test sources, sorted: those with test cases, and those of
// programs whose sources lie among tests.
func (p *project) units() []string {
	if !p.tests {
		return nil
	}
	mains := make(map[string]bool)
	for program, files := range p.sources {
		if len(files) > 0 && p.started[program] && (testDir.MatchString(treepath.Relative(p.dir, path.Dir(files[0]))) || strings.Contains(path.Base(files[0]), "test")) {
			mains[files[0]] = true
		}
	}
	var units []string
	for _, file := range p.tree.Paths() {
		if !isSource(file) || !treepath.Within(p.dir, path.Dir(file)) || foreign(treepath.Relative(p.dir, path.Dir(file))) {
			continue
		}
		text, err := p.tree.ReadFile(file)
		if err == nil && (anyMacro.Match(text) || mains[file] && bytes.Contains(text, []byte("main"))) {
			units = append(units, file)
		}
	}
	return units
}

// declared is a test case of a source.
type declared struct {
	*braces.Member
	name string // as the framework has it: Suite.Name, or the title
	many bool   // a run makes several of it
}

// cases are a source's test cases.
func cases(s *braces.Source) []declared {
	var found []declared
	var walk func([]*braces.Member)
	walk = func(members []*braces.Member) {
		for _, m := range members {
			args := string(s.Text[m.Args[0]:m.Args[1]])
			switch {
			case m.Kind == braces.Type:
				walk(m.Inside)
			case m.Kind != braces.Method || m.Open == 0:
			case testMacro.MatchString(m.Name):
				suite, name, _ := strings.Cut(args, ",")
				found = append(found, declared{m, strings.TrimSpace(suite) + "." + strings.TrimSpace(name), m.Name == "TEST_P" || strings.HasPrefix(m.Name, "TYPED")})
			case caseMacro.MatchString(m.Name):
				if t := title.FindStringSubmatch(args); t != nil {
					name := strings.ReplaceAll(strings.ReplaceAll(t[1], `\"`, `"`), `\\`, `\`)
					if strings.HasPrefix(m.Name, "SCENARIO") {
						name = "Scenario: " + name
					}
					found = append(found, declared{m, name, strings.Contains(m.Name, "TEMPLATE")})
				}
			}
		}
	}
	walk(s.Members)
	return found
}

// is tells whether a test of ctest's is this case or one of those made of it:
// Prefix/Suite.Name/0, Suite/0.Name, "title - int", with a prefix of the build's.
func (d declared) is(name string) bool {
	if name == d.name || strings.HasSuffix(name, d.name) && !strings.Contains(d.name, " ") && len(name) > len(d.name) && strings.ContainsAny(name[len(name)-len(d.name)-1:len(name)-len(d.name)], "./:_- ") {
		return true
	}
	if !d.many {
		return false
	}
	suite, test, ok := strings.Cut(d.name, ".")
	if !ok {
		return strings.HasPrefix(name, d.name+" - ") || strings.HasPrefix(name, d.name+"<")
	}
	return regexp.MustCompile(`(?:^|[/.])` + regexp.QuoteMeta(suite) + `(?:/[^.]+)?\.` + regexp.QuoteMeta(test) + `(?:/.+)?$`).MatchString(name)
}

// Units lists the test sources that the paths may touch: the paths themselves; of
// other files those that name them, directly or through headers; else all.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	p := newProject(tree, r.Dir)
	units := p.units()
	if all {
		return units, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if !treepath.Within(r.Dir, path.Dir(file)) {
			continue
		}
		if slices.Contains(units, file) {
			chosen[file] = true
			continue
		}
		for _, unit := range p.naming(units, file) {
			chosen[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

func (p *project) naming(units []string, file string) []string {
	var found []string
	seen := map[string]bool{file: true}
	for names := []string{path.Base(file)}; len(names) > 0; names = names[1:] {
		for _, other := range p.tree.Paths() {
			if seen[other] || !p.isTestCode(other) {
				continue
			}
			if text, err := p.tree.ReadFile(other); err != nil || !bytes.Contains(text, []byte(names[0])) {
				continue
			}
			seen[other] = true
			if slices.Contains(units, other) {
				found = append(found, other)
			} else {
				names = append(names, path.Base(other))
			}
		}
	}
	if _, err := p.tree.ReadFile(file); len(found) == 0 && err == nil {
		return units
	}
	return found
}

func isSource(file string) bool {
	return slices.Contains([]string{".c", ".cc", ".cpp", ".cxx"}, path.Ext(file))
}

func isHeader(file string) bool {
	return slices.Contains([]string{".h", ".hh", ".hpp", ".hxx"}, path.Ext(file))
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "fixtures", "testdata", "test-data", "vendor", "third_party", "thirdparty", "3rdparty", "extern", "external", "build", "_deps", "node_modules", "examples")
}
