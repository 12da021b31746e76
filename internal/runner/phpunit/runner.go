package phpunit

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Framework is the name that configurations use.
const Framework = "phpunit"

// Config is one way to run PHPUnit.
type Config struct {
	Name    string            // in reports; "" is the framework's
	Dir     string            // repository-relative directory of its configuration; "" is the root
	Command []string          // as [php, tools/phpunit, --no-coverage]; empty: vendor/bin/phpunit, else phpunit
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one file; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct{ Config }

var _ gate.Runner = (*Runner)(nil)

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = Framework
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	return &Runner{c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is phpunit.
func (r *Runner) Framework() string { return Framework }

// Candidate is a runner that a repository seems to want.
type Candidate struct {
	Dir string
	Why string
}

var configs = []string{"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}

// Detect finds the outermost directories with a configuration of PHPUnit, or
// whose composer.json names it, that have test files.
func Detect(tree gate.Tree) []Candidate {
	var found []Candidate
	for _, file := range tree.Paths() {
		dir := path.Dir(file)
		if foreign(dir) || slices.ContainsFunc(found, func(c Candidate) bool { return treepath.Within(c.Dir, dir) }) {
			continue
		}
		named := slices.Contains(configs, path.Base(file))
		if path.Base(file) == "composer.json" {
			text, err := tree.ReadFile(file)
			named = err == nil && bytes.Contains(text, []byte("phpunit/phpunit"))
		}
		if named && len(New(Config{Dir: dir}).units(tree)) > 0 {
			found = append(found, Candidate{dir, file})
		}
	}
	return found
}

// units lists the test files, sorted.
func (r *Runner) units(tree gate.Tree) []string {
	var units []string
	for _, file := range tree.Paths() {
		if !strings.HasSuffix(file, "Test.php") || !treepath.Within(r.Dir, path.Dir(file)) || foreign(treepath.Relative(r.Dir, path.Dir(file))) {
			continue
		}
		if text, err := tree.ReadFile(file); err == nil && concrete.Match(text) {
			units = append(units, file)
		}
	}
	return units
}

// Units lists the test files that the paths may touch: the paths themselves; of
// other files those that name them; else all.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	units := r.units(tree)
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
		if _, err := tree.ReadFile(file); err != nil {
			continue
		}
		for _, unit := range treepath.Naming(tree.ReadFile, units, strings.TrimSuffix(path.Base(file), ".php")) {
			chosen[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

// List names the rows of the units as their sources declare them; nothing runs.
func (r *Runner) List(_ context.Context, state gate.State, units []string) (gate.Result, error) {
	var result gate.Result
	for _, unit := range units {
		for _, d := range r.declared(state.Tree(), unit) {
			result.Rows = append(result.Rows, gate.Observed{Row: d.row})
		}
	}
	return result, nil
}

// declared is a test method of a file.
type declared struct {
	row  gate.Row
	many bool // a run makes several of it
}

var (
	namespace = lazyregexp.New(`(?m)^\s*namespace\s+([\w\\]+)\s*[;{]`)
	concrete  = lazyregexp.New(`(?m)^(?:final\s+|readonly\s+)*class\s+\w+\s+extends\b`)
	isTest    = lazyregexp.New(`@test\b|#\[(?:[\w\\]*\\)?Test\b`)
	provided  = lazyregexp.New(`@(?:dataProvider|testWith|depends)\b|#\[(?:[\w\\]*\\)?(?:DataProvider|TestWith)`)
	abstracts = lazyregexp.New(`\babstract\b|\btrait\b|\binterface\b`)
	parents   = lazyregexp.New(`\bextends\s+([\w\\]+)`)
	traits    = lazyregexp.New(`(?:\buse\s+|,\s*)([\w\\]+)`)
	hidden    = lazyregexp.New(`\b(?:private|protected|abstract)\b`)
)

// declared are the rows of a file by its source, with those that its classes
// inherit or take from traits.
func (r *Runner) declared(tree gate.Tree, unit string) []declared {
	s := r.source(tree, unit)
	if s == nil {
		return nil
	}
	prefix := ""
	if m := namespace.FindSubmatch(s.Masked); m != nil {
		prefix = string(m[1]) + `\`
	}
	var found []declared
	for _, c := range s.Members {
		if c.Kind == braces.Type && c.Name != "" && !abstracts.MatchString(s.Header(c)) {
			found = append(found, r.tests(tree, s, c, prefix+c.Name, unit, 0)...)
		}
	}
	return found
}

func (r *Runner) source(tree gate.Tree, file string) *braces.Source {
	text, err := tree.ReadFile(file)
	if err != nil {
		return nil
	}
	return braces.Parse(file, text, braces.PHP)
}

// tests are the rows of a class, its own first.
func (r *Runner) tests(tree gate.Tree, s *braces.Source, c *braces.Member, class, unit string, depth int) []declared {
	var found []declared
	var members []*braces.Member
	above := parents.FindAllStringSubmatch(s.Header(c), 1)
	for _, m := range c.Inside {
		if m.Kind == braces.Import {
			above = append(above, traits.FindAllStringSubmatch(s.Header(m), -1)...)
		}
		doc := s.Doc(m) + m.Notes
		if m.Kind != braces.Method || m.Open == 0 || hidden.MatchString(s.Header(m)) || !strings.HasPrefix(m.Name, "test") && !isTest.MatchString(doc) {
			continue
		}
		from := m.Before + len(s.Doc(m)) - len(strings.TrimLeft(s.Doc(m), " \t\r\n"))
		members = append(members, m)
		found = append(found, declared{gate.Row{
			ID: class + "::" + m.Name, Runner: r.Name(), Name: m.Name, Unit: unit, File: s.File,
			Line: s.LineAt(from), End: s.LineAt(m.To - 1), Digest: s.Digest(from, m.To),
		}, provided.MatchString(doc)})
	}
	for i := range found {
		found[i].row.Context = s.Without(members)
	}
	for _, name := range above {
		for _, d := range r.inherited(tree, name[1], class, unit, depth) {
			if !slices.ContainsFunc(found, func(own declared) bool { return own.row.ID == d.row.ID }) {
				found = append(found, d)
			}
		}
	}
	return found
}

// inherited are the tests of a class or a trait by its name, in the file that is
// named as it is.
func (r *Runner) inherited(tree gate.Tree, name, class, unit string, depth int) []declared {
	name = name[strings.LastIndexByte(name, '\\')+1:]
	if name == "TestCase" || depth > 5 {
		return nil
	}
	for _, file := range tree.Paths() {
		if path.Base(file) != name+".php" || !treepath.Within(r.Dir, path.Dir(file)) || foreign(treepath.Relative(r.Dir, path.Dir(file))) {
			continue
		}
		s := r.source(tree, file)
		if s == nil {
			continue
		}
		if at := slices.IndexFunc(s.Members, func(m *braces.Member) bool { return m.Kind == braces.Type && m.Name == name }); at >= 0 {
			return r.tests(tree, s, s.Members[at], class, unit, depth+1)
		}
	}
	return nil
}

// foreign holds for directories of data and of copies.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "vendor", "fixtures", "fixture", "_files", "_fixture", "testdata", "node_modules", "end-to-end")
}
