package dotnet

import (
	"bytes"
	"context"
	"maps"
	"path"
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
	projectFile = lazyregexp.New(`(?i)\.csproj$`)
	testSDK     = lazyregexp.New(`(?i)Include="(?:Microsoft\.NET\.Test\.Sdk|xunit[\w.]*|NUnit[\w.]*|MSTest[\w.]*)["\s,]|<IsTestProject>\s*true|Sdk="MSTest\.Sdk`)
)

// Detect finds the test projects of a repository: one runner, since a project may
// need those beside it.
func Detect(tree gate.Tree) []Candidate {
	p := newProjects(tree, ".")
	if len(p.units()) == 0 {
		return nil // there are none without a project that tests
	}
	return []Candidate{{".", p.file[p.testing[0]]}}
}

// projects are those below a directory, as the tree's files show them.
type projects struct {
	tree    gate.Tree
	dir     string
	all     []string          // directories with a project
	testing []string          // those of them that refer to a test SDK
	file    map[string]string // of a directory
	sources map[string]*braces.Source
	byStem  map[string][]string
}

func newProjects(tree gate.Tree, dir string) *projects {
	p := &projects{tree: tree, dir: dir, file: make(map[string]string), sources: make(map[string]*braces.Source), byStem: make(map[string][]string)}
	for _, file := range tree.Paths() {
		at := path.Dir(file)
		if !treepath.Within(dir, at) || foreign(treepath.Relative(dir, at)) {
			continue
		}
		if projectFile.MatchString(file) && p.file[at] == "" {
			p.all, p.file[at] = append(p.all, at), file
			if text, err := tree.ReadFile(file); err == nil && testSDK.Match(text) {
				p.testing = append(p.testing, at)
			}
		}
		if path.Ext(file) == ".cs" {
			stem := strings.TrimSuffix(path.Base(file), ".cs")
			p.byStem[stem] = append(p.byStem[stem], file)
		}
	}
	return p
}

// of is the directory of the innermost project that holds a path, "" for none.
func (p *projects) of(file string) string {
	best := ""
	for _, dir := range p.all {
		if treepath.Within(dir, path.Dir(file)) && (best == "" || best == "." || len(dir) > len(best)) {
			best = dir
		}
	}
	return best
}

// isTest holds for sources of test projects.
func (p *projects) isTest(file string) bool {
	return path.Ext(file) == ".cs" && slices.Contains(p.testing, p.of(file)) && !foreign(treepath.Relative(p.dir, path.Dir(file)))
}

// units lists the sources that hold tests, sorted.
func (p *projects) units() []string {
	var units []string
	for _, file := range p.tree.Paths() {
		if treepath.Within(p.dir, path.Dir(file)) && p.isTest(file) && len(p.declared(file)) > 0 {
			units = append(units, file)
		}
	}
	return units
}

// Units lists the test sources that the paths may touch: the paths themselves; of
// support code and data those of its project that name it; else all of that
// project; of what lies in no project, all.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	p := newProjects(tree, r.Dir)
	units := p.units()
	if all {
		return units, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if slices.Contains(units, file) {
			chosen[file] = true
			continue
		}
		if _, err := tree.ReadFile(file); err != nil || !treepath.Within(r.Dir, path.Dir(file)) {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(units), func(unit string) bool { return p.of(file) != "" && p.of(unit) != p.of(file) })
		for _, unit := range treepath.Naming(tree.ReadFile, own, strings.TrimSuffix(path.Base(file), ".cs")) {
			chosen[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

// source reads a source of the tree, once; nil when there is none.
func (p *projects) source(file string) *braces.Source {
	if s, known := p.sources[file]; known {
		return s
	}
	text, err := p.tree.ReadFile(file)
	if err != nil {
		p.sources[file] = nil
		return nil
	}
	p.sources[file] = braces.Parse(file, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), braces.CSharp)
	return p.sources[file]
}

// declared is a test method of a source.
type declared struct {
	row  gate.Row
	many bool // a run makes several of it
}

var (
	fileSpace = lazyregexp.New(`(?m)^\s*namespace\s+([\w.]+)\s*;`)
	isSpace   = lazyregexp.New(`^namespace\b`)
	testNote  = lazyregexp.New(`[\[,]\s*(?:\w+\.)*(?:\w*Fact|\w*Theory|Test|TestCase|TestCaseSource|\w*TestMethod)(?:Attribute)?\s*[\](,]`)
	manyNote  = lazyregexp.New(`[\[,]\s*(?:\w+\.)*(?:\w*Theory|TestCase\w*|DataRow|DynamicData|DataTestMethod|Values\w*|Range|Repeat)(?:Attribute)?\s*[\](,]`)
	notWhole  = lazyregexp.New(`\babstract\b|\binterface\b|\benum\b`)
	baseIs    = lazyregexp.New(`:\s*(?:[\w.]*\.)?(\w+)`)
)

// declared are the rows of a source, with those that its classes inherit.
func (p *projects) declared(unit string) []declared {
	s := p.source(unit)
	if s == nil {
		return nil
	}
	prefix := ""
	if m := fileSpace.FindSubmatch(s.Masked); m != nil {
		prefix = string(m[1]) + "."
	}
	return p.within(s, s.Members, prefix, "", unit)
}

// within are the rows of the classes among some members. outer is the class that
// they are nested in, with "+" behind it.
func (p *projects) within(s *braces.Source, members []*braces.Member, space, outer, unit string) []declared {
	var found []declared
	for _, m := range members {
		switch header := s.Header(m); {
		case m.Kind != braces.Type || m.Name == "" || m.Open == 0:
		case isSpace.MatchString(header):
			found = append(found, p.within(s, m.Inside, space+m.Name+".", "", unit)...)
		default:
			if !notWhole.MatchString(header) {
				found = append(found, p.tests(s, m, space+outer+m.Name, unit, 0)...)
			}
			found = append(found, p.within(s, m.Inside, space, outer+m.Name+"+", unit)...)
		}
	}
	return found
}

// tests are the rows of a class, its own first; overloads are one row.
func (p *projects) tests(s *braces.Source, c *braces.Member, class, unit string, depth int) []declared {
	var found []declared
	var members []*braces.Member
	add := func(d declared) {
		if at := slices.IndexFunc(found, func(own declared) bool { return own.row.ID == d.row.ID }); at >= 0 {
			found[at].many = true
			return
		}
		found = append(found, d)
	}
	for _, m := range c.Inside {
		if m.Kind != braces.Method || !testNote.MatchString(m.Notes) {
			continue
		}
		members = append(members, m)
		add(declared{gate.Row{
			ID: class + "." + m.Name, Name: m.Name, Unit: unit, File: s.File,
			Line: s.LineAt(m.From), End: s.LineAt(m.To - 1), Digest: s.Digest(m.From, m.To),
		}, manyNote.MatchString(m.Notes) || m.Args[1] > m.Args[0]})
	}
	for i := range found {
		found[i].row.Context = s.Without(members)
	}
	if base := baseIs.FindStringSubmatch(s.Header(c)[strings.Index(s.Header(c), c.Name):]); base != nil && depth < 5 {
		for _, file := range append([]string{s.File}, p.byStem[base[1]]...) {
			in := p.source(file)
			if above := classNamed(in, base[1]); above != nil && above != c && p.isTest(file) {
				for _, d := range p.tests(in, above, class, unit, depth+1) {
					add(d)
				}
				break
			}
		}
	}
	return found
}

// classNamed finds a class by its simple name, at any depth.
func classNamed(s *braces.Source, name string) *braces.Member {
	if s == nil {
		return nil
	}
	for level := s.Members; len(level) > 0; {
		var next []*braces.Member
		for _, m := range level {
			if m.Kind == braces.Type && m.Name == name && m.Open > 0 {
				return m
			}
			next = append(next, m.Inside...)
		}
		level = next
	}
	return nil
}

// foreign holds for directories of data, of copies and of what was built.
func foreign(dir string) bool {
	return treepath.HasPart(dir, "bin", "obj", "fixtures", "testdata", "vendor", "third_party", "node_modules", "packages")
}
