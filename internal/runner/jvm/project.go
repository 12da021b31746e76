package jvm

import (
	"encoding/xml"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Framework string
	Dir       string
	Why       string
}

// Detect finds the outermost builds that have tests: those of Maven whose pom.xml
// no other one lists as a module, and those of Gradle that lie in none of Maven's
// and in no other of Gradle's.
func Detect(tree gate.Tree) []Candidate {
	found := detect(tree, maven{})
	for _, c := range detect(tree, gradle{}) {
		if !slices.ContainsFunc(found, func(outer Candidate) bool { return treepath.Within(outer.Dir, c.Dir) }) {
			found = append(found, c)
		}
	}
	return found
}

func detect(tree gate.Tree, t tool) []Candidate {
	var found []Candidate
	listed := make(map[string]bool)
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if !t.isBuildFile(path.Base(file)) || foreign(dir) || slices.ContainsFunc(found, func(c Candidate) bool { return c.Dir == dir }) {
			continue
		}
		for _, module := range t.modules(tree, file) {
			listed[module] = true
		}
		found = append(found, Candidate{t.framework(), dir, file})
	}
	return slices.DeleteFunc(found, func(c Candidate) bool {
		return listed[c.Dir] || len(newProject(tree, c.Dir, t).units()) == 0
	})
}

// pom is what is read of a pom.xml.
type pom struct {
	Modules  []string `xml:"modules>module"`
	Profiles []struct {
		Modules []string `xml:"modules>module"`
	} `xml:"profiles>profile"`
}

// modulesOf are the directories that a pom.xml lists.
func modulesOf(tree gate.Tree, file string) []string {
	text, err := tree.ReadFile(file)
	var p pom
	if err != nil || xml.Unmarshal(text, &p) != nil {
		return nil
	}
	all := p.Modules
	for _, profile := range p.Profiles {
		all = append(all, profile.Modules...)
	}
	var dirs []string
	for _, module := range all {
		dir := path.Join(path.Dir(file), strings.TrimSuffix(strings.TrimSpace(module), "/pom.xml"))
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// project is a build as the tree's files show it.
type project struct {
	tool    tool
	tree    gate.Tree
	dir     string
	modules []string          // directories with tests or sources, the root's first
	apart   []string          // directories of builds of their own
	build   map[string]string // module -> the text of its build file and of those above it
	files   map[string]*testFile
	byStem  map[string][]string // file name without extension -> test sources
}

func newProject(tree gate.Tree, dir string, t tool) *project {
	p := &project{tool: t, tree: tree, dir: dir, build: make(map[string]string), files: make(map[string]*testFile), byStem: make(map[string][]string)}
	p.addModule(dir, "")
	for _, file := range tree.Paths() {
		if at := path.Dir(file); t.isBuildFile(path.Base(file)) && treepath.Within(dir, at) && !slices.Contains(p.modules, at) {
			p.apart = append(p.apart, at)
		}
	}
	for _, file := range tree.Paths() {
		if treepath.Within(dir, path.Dir(file)) && isSource(file) && p.isTestSource(file) {
			stem := stemOf(file)
			p.byStem[stem] = append(p.byStem[stem], file)
		}
	}
	return p
}

func (p *project) addModule(dir, above string) {
	file := buildFile(p.tool, p.tree, dir)
	text, err := p.tree.ReadFile(file)
	if err != nil || slices.Contains(p.modules, dir) {
		return
	}
	p.modules = append(p.modules, dir)
	p.build[dir] = above + string(text)
	for _, module := range p.tool.modules(p.tree, file) {
		if treepath.Within(p.dir, module) {
			p.addModule(module, p.build[dir])
		}
	}
}

// moduleOf is the innermost module that holds a path; "" for none, as below a
// build of its own.
func (p *project) moduleOf(file string) string {
	best := ""
	for _, module := range p.modules {
		if treepath.Within(module, path.Dir(file)) && (best == "" || best == "." || len(module) > len(best)) {
			best = module
		}
	}
	if slices.ContainsFunc(p.apart, func(apart string) bool { return treepath.Within(apart, path.Dir(file)) && treepath.Within(best, apart) }) {
		return ""
	}
	return best
}

var (
	testRoot     = lazyregexp.New(`(?:^|/)src/(?:\w*[tT]est\w*|it)/(?:java|kotlin|groovy)/`)
	declaredRoot = lazyregexp.New(`<testSourceDirectory>\s*(?:\$\{(?:project\.)?basedir\}/)?([^<\s]+?)/?\s*</testSourceDirectory>`)
)

// isTestSource holds for sources below a module's test directories.
func (p *project) isTestSource(file string) bool {
	module := p.moduleOf(file)
	if module == "" || foreign(path.Dir(file)) {
		return false
	}
	if m := declaredRoot.FindAllStringSubmatch(p.build[module], -1); m != nil {
		return treepath.Within(path.Join(module, m[len(m)-1][1]), path.Dir(file))
	}
	return testRoot.MatchString(treepath.Relative(module, file))
}

func isSource(file string) bool { return path.Ext(file) == ".java" || path.Ext(file) == ".kt" }

func stemOf(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

var (
	surefireName = lazyregexp.New(`^Test|(?:Test|Tests|TestCase)$`)
	failsafeName = lazyregexp.New(`^IT|(?:IT|ITCase)$`)
)

// integration holds for sources that Failsafe runs.
func (p *project) integration(file string) bool {
	stem := stemOf(file)
	return failsafeName.MatchString(stem) && !surefireName.MatchString(stem) && strings.Contains(p.build[p.moduleOf(file)], "maven-failsafe-plugin")
}

// isUnit holds for test sources with tests that the build runs: by their name,
// or by any where the build file has patterns of its own.
func (p *project) isUnit(file string) bool {
	if p.tool.byName() && !surefireName.MatchString(stemOf(file)) && !p.integration(file) && !strings.Contains(p.build[p.moduleOf(file)], "<include>") {
		return false
	}
	f := p.file(file)
	return f != nil && slices.ContainsFunc(f.classes, func(c *class) bool { return len(p.rowsOf(f, c)) > 0 })
}

// units lists the test sources that hold tests, sorted.
func (p *project) units() []string {
	var units []string
	for _, files := range p.byStem {
		for _, file := range files {
			if p.isUnit(file) {
				units = append(units, file)
			}
		}
	}
	slices.Sort(units)
	return units
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "fixtures", "testdata", "test-data", "resources", "vendor", "third_party", "target", "buildSrc", "node_modules", "archetype-resources")
}
