package jvm

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// testFile is one test source.
type testFile struct {
	*braces.Source
	pkg     string
	classes []*class // nested ones too
}

// class is a class of a test source.
type class struct {
	name     string // with the package, nested ones behind "$"
	member   *braces.Member
	super    string // simple name; "" for none
	abstract bool
	testNG   bool // every public method is a test
	methods  []*braces.Member
}

var (
	packageIs  = lazyregexp.New(`(?m)^\s*package\s+([\w.]+)`)
	javaSuper  = lazyregexp.New(`\bextends\s+(?:[\w.]*\.)?(\w+)`)
	kotlinSupr = lazyregexp.New(`:\s*(?:[\w.]*\.)?(\w+)`)
	abstractIs = lazyregexp.New(`\babstract\b|\binterface\b`)
	testNote   = lazyregexp.New(`@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Theory|Property|Example)\b`)
	testNGNote = lazyregexp.New(`@(?:\w+\.)*Test\b`)
	setUpNote  = lazyregexp.New(`@(?:\w+\.)*(?:Before|After|BeforeEach|AfterEach|BeforeAll|AfterAll|BeforeClass|AfterClass|BeforeMethod|AfterMethod|BeforeTest|AfterTest|BeforeSuite|AfterSuite|BeforeGroups|AfterGroups)\b`)
	privateIs  = lazyregexp.New(`\b(?:private|static|protected)\b`)
	publicIs   = lazyregexp.New(`\bpublic\b`)
)

// file reads a test source of the tree, once; nil when there is none.
func (p *project) file(name string) *testFile {
	if f, known := p.files[name]; known {
		return f
	}
	text, err := p.tree.ReadFile(name)
	if err != nil {
		p.files[name] = nil
		return nil
	}
	dialect := braces.Java
	if path.Ext(name) == ".kt" {
		dialect = braces.Kotlin
	}
	f := &testFile{Source: braces.Parse(name, text, dialect)}
	if m := packageIs.FindSubmatch(f.Masked); m != nil {
		f.pkg = string(m[1]) + "."
	}
	f.addClasses(f.Members, f.pkg, path.Ext(name) == ".kt")
	p.files[name] = f
	return f
}

func (f *testFile) addClasses(members []*braces.Member, prefix string, kotlin bool) {
	for _, m := range members {
		if m.Kind != braces.Type || m.Name == "" || m.Open == 0 {
			continue
		}
		header := f.Header(m)
		c := &class{name: prefix + m.Name, member: m, abstract: abstractIs.MatchString(header), testNG: testNGNote.MatchString(m.Notes)}
		super := javaSuper.FindStringSubmatch(header)
		if kotlin {
			if at := m.Args[1]; at > 0 && !strings.Contains(string(f.Masked[m.Head:m.Args[0]]), ":") { // behind the constructor, not the super's
				header = string(f.Masked[at:max(at, m.Open-1)])
			}
			super = kotlinSupr.FindStringSubmatch(header)
		}
		if super != nil {
			c.super = super[1]
		}
		for _, inner := range m.Inside {
			if inner.Kind == braces.Method {
				c.methods = append(c.methods, inner)
			}
		}
		f.classes = append(f.classes, c)
		f.addClasses(m.Inside, c.name+"$", kotlin)
	}
}

// isTest holds for methods that the framework runs.
func (f *testFile) isTest(c *class, m *braces.Member, junit3 bool) bool {
	header := f.Header(m)
	switch {
	case m.Open == 0 && path.Ext(f.File) == ".java", setUpNote.MatchString(m.Notes):
		return false
	case testNote.MatchString(m.Notes):
		return true
	case c.testNG:
		return publicIs.MatchString(header) && !privateIs.MatchString(header)
	}
	return junit3 && strings.HasPrefix(m.Name, "test") && !privateIs.MatchString(header)
}

// isSetUp holds for methods that run around tests.
func isSetUp(m *braces.Member) bool {
	return setUpNote.MatchString(m.Notes) || m.Name == "setUp" || m.Name == "tearDown"
}

// declared is a test method and where it stands.
type declared struct {
	*braces.Member
	file *testFile
}

// tests are the test methods of a class with those that it inherits.
func (p *project) tests(f *testFile, c *class, depth int) (found []declared, junit3 bool) {
	junit3 = strings.HasSuffix(c.super, "TestCase") || c.super == "TestCase"
	var inherited []declared
	if base, in := p.classNamed(f, c.super); base != nil && depth < 5 {
		var old bool
		inherited, old = p.tests(in, base, depth+1)
		junit3 = junit3 || old
	}
	for _, m := range c.methods {
		if f.isTest(c, m, junit3) {
			found = append(found, declared{m, f})
		}
	}
	for _, d := range inherited {
		if !slices.ContainsFunc(c.methods, func(m *braces.Member) bool { return m.Name == d.Name }) {
			found = append(found, d)
		}
	}
	return found, junit3
}

// classNamed finds a class of the tests by its simple name: in the file itself,
// beside it, or anywhere.
func (p *project) classNamed(f *testFile, name string) (*class, *testFile) {
	if name == "" {
		return nil, nil
	}
	files := append([]string{f.File}, p.byStem[name]...)
	for _, file := range files {
		in := p.file(file)
		if in == nil {
			continue
		}
		for _, c := range in.classes {
			if c.name[strings.LastIndexAny(c.name, ".$")+1:] == name {
				return c, in
			}
		}
	}
	return nil, nil
}

// rowsOf are the rows of a class, as its source declares them.
func (p *project) rowsOf(f *testFile, c *class) []gate.Row {
	if c.abstract {
		return nil
	}
	tests, _ := p.tests(f, c, 0)
	var rows []gate.Row
	for _, d := range tests {
		id := c.name + "#" + d.Name
		if slices.ContainsFunc(rows, func(r gate.Row) bool { return r.ID == id }) {
			continue // an overload: one row, of which both are parts
		}
		var all []*braces.Member
		for _, m := range d.file.classes {
			for _, method := range m.methods {
				if d.file.isTest(m, method, true) {
					all = append(all, method)
				}
			}
		}
		rows = append(rows, gate.Row{
			ID: id, Name: d.Name, Unit: f.File, File: d.file.File,
			Line: d.file.LineAt(d.From), End: d.file.LineAt(d.To - 1), Digest: d.file.Digest(d.From, d.To), Context: d.file.Without(all),
		})
	}
	return rows
}
