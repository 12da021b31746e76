package patchsplit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// minToken is the shortest name worth searching for: shorter ones are words
// that stand everywhere.
const minToken = 4

// support is the rule for helpers, fixtures, goldens and stray samples: files
// that name nothing themselves and belong to whoever uses them. What only
// tests mention is theirs; what production mentions too is production.
func (c *Classifier) support(path string) Decision {
	sample := namesSample(path)
	if !sample && (c.blind() || !namesSupport(path) && !c.strayData(path)) {
		return Decision{} // without a tree nobody is known to use it
	}
	production, test, searched := c.users(path)
	switch {
	case production != "":
		return Decision{Part: Production, Class: ClassSupport, Why: "read by " + production}
	case test != "" && searched:
		return Decision{Part: Test, Class: ClassSupport, Why: "read only by tests: " + test}
	case sample && searched:
		return Decision{Part: Test, Class: ClassSupport, Why: "its name says test, and no code mentions it"}
	}
	return Decision{}
}

var supportWords = []string{
	"fixture", "fixtures", "golden", "goldens", "mock", "mocks", "fake", "fakes", "stub", "stubs", "snapshot", "snapshots",
	"testutil", "testutils", "testhelper", "testhelpers", "testsupport", "testlib", "testcase", "testcases", "testfiles", "testsuite",
}

// supportStems: each word that promises help holds one of them.
var supportStems = []string{"test", "fixture", "golden", "mock", "fake", "stub", "snapshot"}

// namesSupport holds when a directory or the file's own name promises help for
// tests: fixtures/, mocks/, testutils.py, test-helpers/.
func namesSupport(path string) bool {
	lower := strings.ToLower(path)
	if !slices.ContainsFunc(supportStems, func(stem string) bool { return strings.Contains(lower, stem) }) {
		return false
	}
	for name := range strings.SplitSeq(joinDir(dirOf(path), stemOf(path)), "/") {
		in := words(name)
		if slices.ContainsFunc(in, func(w string) bool { return slices.Contains(supportWords, w) }) {
			return true
		}
		if len(in) > 1 && slices.Contains(in, "test") && slices.ContainsFunc(in, isHelpWord) {
			return true
		}
	}
	return false
}

func isHelpWord(word string) bool {
	return slices.Contains([]string{"util", "utils", "helper", "helpers", "support", "data", "files", "cases", "fixtures", "lib"}, word)
}

// namesSample holds for data whose own name says that it is there to try things
// out: test.jsonl, sample-test.xml.
func namesSample(path string) bool {
	if IsCode(path) || extOf(path) == "" || isConfigFormat(path) && dirOf(path) == "" {
		return false
	}
	return slices.Contains(words(stemOf(path)), "test")
}

func isConfigFormat(path string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".env", ".dockerfile"}, extOf(path))
}

// strayData holds for data that lies beside no production code: it might be
// anybody's. Data beside production code is the product's.
func (c *Classifier) strayData(path string) bool {
	if IsCode(path) || extOf(path) == "" || isConfigFormat(path) || dirOf(path) == "" {
		return false
	}
	tree := c.evidence(path)
	for dir := range ancestors(path) {
		if dir == "" {
			return true
		}
		if slices.ContainsFunc(tree.in(dir), IsCode) {
			return false
		}
	}
	return true
}

// users searches the tree's sources for who mentions a file: by its name, by
// its module's name, else by its directory's. searched is false when the tree
// is too large to be searched whole.
func (c *Classifier) users(path string) (production, test string, searched bool) {
	tree := c.evidence(path)
	sources := c.corpus(tree)
	if !sources.complete {
		return "", "", false
	}
	for _, token := range tokens(path) {
		production = mentionedIn(tree, sources.product(), token, path)
		test = mentionedIn(tree, sources.tests, token, path)
		if production != "" || test != "" {
			break
		}
	}
	return production, test, true
}

// tokens are the names by which code may speak of a file, the surest first.
func tokens(path string) []string {
	names := []string{baseOf(path)}
	if IsCode(path) {
		names = []string{stemOf(path)}
	}
	if dir := baseOf(dirOf(path)); dir != "" {
		names = append(names, dir)
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(name) < minToken || name == "__init__" || name == "index" })
}

func mentionedIn(tree *view, files []string, token, self string) string {
	for _, file := range files {
		if file != self && mentions(tree.content(file), token) {
			return file
		}
	}
	return ""
}

// mentions holds when a token stands in the text as a whole name.
func mentions(text []byte, token string) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(token))
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(token)
		if (start == 0 || !isNameByte(text[start-1])) && (end == len(text) || !isNameByte(text[end])) {
			return true
		}
		from = end
	}
}

func isNameByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// readByTests returns a test that reads a document: a line that names it by its
// path and reads a file. Documents that a test writes for itself into a
// temporary directory have the same names.
func (c *Classifier) readByTests(path string) string {
	tree := c.evidence(path)
	sources := c.corpus(tree)
	if !sources.complete {
		return ""
	}
	for _, file := range sources.tests {
		for _, name := range namesFrom(file, path) {
			if readsFile(tree.content(file), name) {
				return file
			}
		}
	}
	return ""
}

// namesFrom lists what a test would call a document: Go tests run in their own
// directory, others in the repository's root.
func namesFrom(file, path string) []string {
	if extOf(file) != ".go" {
		return []string{path}
	}
	up := ""
	for dir := range ancestors(file) {
		if rel, ok := relTo(dir, path); ok {
			return []string{up + rel}
		}
		up += "../"
	}
	return nil
}

var readers = []string{"ReadFile(", "Open(", "open(", "read_text(", "DocFileSuite(", "testfile(", "include_str!(", "go:embed", "readFileSync("}

func readsFile(source []byte, name string) bool {
	if !bytes.Contains(source, []byte(name)) {
		return false
	}
	for line := range bytes.Lines(source) {
		if !quotes(line, name) || bytes.Contains(line, []byte("tmp")) || bytes.Contains(bytes.ToLower(line), []byte("temp")) {
			continue
		}
		for _, reader := range readers {
			if bytes.Contains(line, []byte(reader)) {
				return true
			}
		}
	}
	return false
}

// quotes holds when a line has the name as a whole string, or in a directive.
func quotes(line []byte, name string) bool {
	for _, mark := range []string{`"`, `'`, "`"} {
		if bytes.Contains(line, fmt.Appendf(nil, "%s%s%s", mark, name, mark)) {
			return true
		}
	}
	return bytes.Contains(line, []byte("go:embed "+name))
}
