package patchsplit

import (
	"slices"
	"strings"
)

// Classifier says which part a path belongs to. It reads lazily: only changed
// paths are asked about, and only what they need is read. It is not safe for
// concurrent use.
type Classifier struct {
	globs      []glob
	base, head *view
	attributes []attribute
	inOrder    []rule        // rules()
	here       neighbourhood // of the path asked about last

	decided   map[string]Decision
	collected map[string][]*collection // by directory
	pytest    map[string]*pytestConfig // by directory: the one that governs it
	packages  map[string]goUse         // by Go package directory
	modules   map[string]goModule      // by directory
	goFacts   map[string]goPackageFacts
	sources   map[*view]*corpus
	python    map[*view]bool
}

// NewClassifier makes a classifier for a change from base to head. Either tree
// may be nil: then names alone decide. Configuration is read from base only;
// an error names the bad glob.
func NewClassifier(rules Rules, base, head Tree) (*Classifier, error) {
	globs, err := rules.compile()
	if err != nil {
		return nil, err
	}
	return newClassifier(globs, base, head), nil
}

func newClassifier(globs []glob, base, head Tree) *Classifier {
	c := &Classifier{
		globs: globs, base: newView(base), head: newView(head),
		decided: make(map[string]Decision), collected: make(map[string][]*collection), pytest: make(map[string]*pytestConfig),
		packages: make(map[string]goUse), modules: make(map[string]goModule), goFacts: make(map[string]goPackageFacts),
		sources: make(map[*view]*corpus), python: make(map[*view]bool),
	}
	c.attributes = readAttributes(c.base.content(".gitattributes"))
	c.inOrder = c.rules()
	return c
}

// File decides one path: the first rule that knows it wins, and what no rule
// knows is production.
func (c *Classifier) File(path string) Decision {
	blind := c.blind() // to decide is then cheaper than to remember
	if d, known := c.decided[path]; known && !blind {
		return d
	}
	d := c.ask(path, blind)
	if d.Class == "" {
		d.Class = c.class(path)
	}
	if d.Part == Test && d.Class == ClassTestConfig && !c.configuresTests(path) {
		d.Class = "" // a sample that tests work on
	}
	if !blind {
		c.decided[path] = d
	}
	return d
}

// ask puts the rules to a path in their order. Without a tree, those that only
// look where a file lies are asked once for the files of a directory.
func (c *Classifier) ask(path string, blind bool) (d Decision) {
	dir, ext := dirOf(path), extOf(path)
	if !blind || c.here.dir != dir || c.here.ext != ext {
		c.here = neighbourhood{dir: dir, ext: ext}
	}
	for i := range c.inOrder {
		if c.here.silent&(1<<i) != 0 {
			continue
		}
		if d = c.inOrder[i].decide(path); d.Part != Undecided {
			break
		}
		if blind && !c.inOrder[i].named(ext) {
			c.here.silent |= 1 << i
		}
	}
	return d
}

// neighbourhood is where files of one kind lie, and which rules have nothing to say there.
type neighbourhood struct {
	dir, ext string
	silent   uint64 // by the number of the rule
}

// rule is one question in the order in which evidence is asked for.
type rule struct {
	asks   string
	decide func(path string) Decision
	// named holds for the extensions of files whose name it takes to know. Of others
	// the directory says all, where there is no tree to ask.
	named func(ext string) bool
}

// rules are all of them, the strongest evidence first: what the repository
// says, what its frameworks collect, conventions, and who uses a file.
func (c *Classifier) rules() []rule {
	return []rule{
		{"the repository's split globs", c.configured, func(string) bool { return len(c.globs) > 0 }},
		{"vendored code", c.vendored, noName},
		{"what package.json offers", c.published, withTree},
		{"who imports source that lies among tests", c.borrowed, withTree},
		{"what the go tool collects and embeds", c.goCollected, of(".go")},
		{"what pytest collects", c.pytestCollected, of(".py", ".rst", ".txt", ".md")},
		{"what other test frameworks and builds collect", c.frameworkCollected, withTree},
		{"modules that only test builds hold", c.rustModule, of(".rs")},
		{"projects of .NET", c.dotnetProduct, withTree},
		{"classes that composer loads", c.phpProduct, withTree},
		{"source sets of Maven and Gradle", sourceSets, noName},
		{"who imports a Go package", c.goSource, of(".go")},
		{"names of test files", namedAsTest, func(ext string) bool { return namingsFor[ext] != nil }},
		{"tests of Perl", c.perlTest, of(".t")},
		{"a package's own test.js and set-up of tests", c.packageTest, of(scripts...)},
		{"continuous integration", ciFile, anyName},
		{"test directories", c.testDirectory, of(".py")},
		{"configuration of tools and builds", configFile, anyName},
		{"release notes", releaseNote, noName},
		{"features of cucumber", features, noName},
		{"settings of editors and linters", c.editorFile, anyName},
		{"benchmarks", c.benchmark, noName},
		{"what .gitattributes calls documentation", c.attributed, withTree},
		{"documentation", c.documentation, notCode},
		{"who uses a helper or data file", c.support, notCode},
		{"everything else", otherwise, anyName},
	}
}

func of(extensions ...string) func(string) bool {
	return func(ext string) bool { return slices.Contains(extensions, ext) }
}

func anyName(string) bool { return true }

func noName(string) bool { return false }

func withTree(string) bool { return false } // without one the rule never knows

func notCode(ext string) bool { return !isCodeExt(ext) }

// Answer is what one rule said of a path.
type Answer struct {
	Asked string // the rule in words
	Decision
}

// Explain lists the rules that were asked about a path up to the one that knew:
// the last answer is the decision, those before it are undecided.
func (c *Classifier) Explain(path string) []Answer {
	var answers []Answer
	for _, r := range c.inOrder {
		d := r.decide(path)
		if d.Part != Undecided {
			return append(answers, Answer{r.asks, c.File(path)})
		}
		answers = append(answers, Answer{r.asks, d})
	}
	return answers
}

// byName is File without the rules that ask who uses a file: what those rules
// themselves build on.
func (c *Classifier) byName(path string) Part {
	return first(path, c.configured, c.vendored, goTestFile, c.pythonByName, c.frameworkByName, sourceSets,
		namedAsTest, c.perlTest, packageTestName, c.testDirectory, otherwise).Part
}

func first(path string, rules ...func(string) Decision) Decision {
	for _, rule := range rules {
		if d := rule(path); d.Part != Undecided {
			return d
		}
	}
	return Decision{}
}

func otherwise(path string) Decision {
	if IsCode(path) {
		return Decision{Part: Production, Why: "source code that no rule makes a test"}
	}
	return Decision{Part: Production, Why: "no rule makes it a test or documentation"}
}

// evidence is the tree that a path's evidence is read from: base where base has
// the path, so that a change cannot talk its own production code into a test.
func (c *Classifier) evidence(path string) *view {
	if c.base.has(path) || len(c.head.paths) == 0 {
		return c.base
	}
	return c.head
}

// blind holds when no tree was given: then only names can speak.
func (c *Classifier) blind() bool { return len(c.base.paths) == 0 && len(c.head.paths) == 0 }

// words splits a name into its lower-case words: "integration-tests", "testUtils".
func words(name string) []string {
	var found []string
	from := 0
	for i := range len(name) + 1 {
		switch {
		case i == len(name) || strings.IndexByte(" -_.", name[i]) >= 0:
			if from < i {
				found = append(found, strings.ToLower(name[from:i]))
			}
			from = i + 1
		case i > from && isUpper(name[i]) && isLower(name[i-1]):
			found = append(found, strings.ToLower(name[from:i]))
			from = i
		}
	}
	return found
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' }
