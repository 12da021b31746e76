package cargo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// source is one Rust file, read without a compiler.
type source struct {
	file   string
	text   []byte
	masked []byte // comments and literals blanked
	items  []*item
	lines  []int // offsets at which lines begin
}

// item is one declaration: where it stands with its attributes and the comment
// that documents it.
type item struct {
	kind       itemKind
	name       string
	attributes string
	from, to   int
	head       int // behind the attributes
	open, end  int // of the body, brackets left out; 0 when there is none
	inside     []*item
}

type itemKind uint8

const (
	otherItem itemKind = iota
	fnItem
	modItem
	useItem
	macroItem
)

func parse(file string, text []byte) *source {
	s := &source{file: file, text: text, masked: mask(text), lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	s.items = s.read(0, len(text))
	return s
}

var (
	before    = `^(?:pub(?:\s*\([^)]*\))?\s+)?(?:default\s+)?`
	fnHead    = lazyregexp.New(before + `(?:(?:const|async|unsafe|safe|extern)\s+)*fn\s+(?:r#)?(\w+)`)
	modHead   = lazyregexp.New(before + `mod\s+(?:r#)?(\w+)`)
	useHead   = lazyregexp.New(before + `(?:use|extern\s+crate)\b`)
	valueHead = lazyregexp.New(before + `(?:const|static(?:\s+mut)?|type|let(?:\s+mut)?)\s+(?:r#)?(\w+)`)
	typeHead  = lazyregexp.New(before + `(?:unsafe\s+)?(?:auto\s+)?(?:struct|enum|union|trait)\s+(?:r#)?(\w+)`)
	implHead  = lazyregexp.New(before + `(?:unsafe\s+)?(?:impl\b|extern\b)`)
	rulesHead = lazyregexp.New(`^macro_rules\s*!\s*(?:r#)?(\w+)`)
	macroHead = lazyregexp.New(`^(?:::)?[\w:]+\s*!`)
)

// read lists the items between two places.
func (s *source) read(from, to int) []*item {
	var found []*item
	for i := from; i < to; {
		if i = s.blanks(i, to); i >= to {
			break
		}
		it := &item{from: i}
		for i < to && s.masked[i] == '#' {
			open := i + 1
			for open < to && s.masked[open] != '[' {
				open++
			}
			end := min(braces.Closing(s.masked, open), to)
			inner := bytes.IndexByte(s.masked[i:open], '!') >= 0
			if i = s.blanks(end, to); inner {
				it.from = i
				continue
			}
			it.attributes += string(s.text[min(open, end):end]) + "\n"
		}
		if i >= to {
			break
		}
		it.head = i
		s.classify(it, to)
		it.from = s.documented(it.from, from)
		found = append(found, it)
		i = max(it.to, i+1)
	}
	return found
}

func (s *source) blanks(i, to int) int {
	for i < to && (s.masked[i] == ' ' || s.masked[i] == '\n' || s.masked[i] == '\t' || s.masked[i] == '\r') {
		i++
	}
	return i
}

// documented is where the comment that documents an item begins: without its
// item it would be an error.
func (s *source) documented(at, limit int) int {
	for at > limit {
		line := s.lineAt(at) - 1
		if line == 0 || len(bytes.TrimSpace(s.text[s.lines[line]:at])) > 0 {
			return at
		}
		above := s.lines[line-1]
		if above < limit || !bytes.HasPrefix(bytes.TrimSpace(s.text[above:s.lines[line]]), []byte("///")) {
			return at
		}
		at = above
	}
	return at
}

// classify finds what an item is and where it ends.
func (s *source) classify(it *item, to int) {
	head := s.masked[it.head:min(to, it.head+400)]
	statement := false
	switch {
	case fnHead.Match(head):
		it.kind, it.name = fnItem, string(fnHead.FindSubmatch(head)[1])
	case modHead.Match(head):
		it.kind, it.name = modItem, string(modHead.FindSubmatch(head)[1])
	case useHead.Match(head):
		it.kind, statement = useItem, true
	case valueHead.Match(head):
		it.name, statement = string(valueHead.FindSubmatch(head)[1]), true
	case typeHead.Match(head):
		it.name = string(typeHead.FindSubmatch(head)[1])
	case implHead.Match(head):
	case rulesHead.Match(head):
		it.name = string(rulesHead.FindSubmatch(head)[1])
	case macroHead.Match(head):
		it.kind = macroItem
	}
	s.extent(it, to, statement)
	switch {
	case it.open == 0:
	case it.kind == modItem:
		it.inside = s.read(it.open, it.end)
	case it.kind == macroItem:
		it.inside = slices.DeleteFunc(s.read(it.open, it.end), func(inner *item) bool { return inner.kind != fnItem && inner.kind != modItem })
	}
}

// extent finds an item's end and body.
func (s *source) extent(it *item, to int, statement bool) {
	for i := it.head; i < to; {
		switch s.masked[i] {
		case ';':
			it.to = i + 1
			return
		case '{', '(', '[':
			end := min(braces.Closing(s.masked, i), to)
			if s.masked[i] == '{' || it.kind == macroItem {
				it.open, it.end = i+1, max(i+1, end-1)
			}
			if s.masked[i] == '{' && !statement {
				it.to = end
				return
			}
			i = end
		default:
			i++
		}
	}
	it.to = to
}

var (
	testAttribute = lazyregexp.New(`^\[\s*(?:[\w:]+::)?(?:\w*test|rstest|test_\w+|case|quickcheck|proptest)\s*[\](]`)
	plainTest     = lazyregexp.New(`^\[\s*(?:[\w:]+::)?test\s*[\](]`)
	cfgTest       = lazyregexp.New(`^\[\s*cfg\s*\(\s*(?:test\b|all\s*\([^)]*\btest\b)`)
	wholeTest     = lazyregexp.New(`(?m)^\s*#!\[\s*cfg\s*\(\s*(?:test\b|all\s*\([^)]*\btest\b)`)
	notTest       = lazyregexp.New(`not\s*\(\s*test`)
	pathAttribute = lazyregexp.New(`\[\s*path\s*=\s*"([^"]+)"`)
)

func (it *item) attributeIs(pattern *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(strings.Split(it.attributes, "\n"), func(a string) bool { return pattern.MatchString(a) })
}

// isTest holds for functions that the test harness runs.
func (it *item) isTest() bool { return it.kind == fnItem && it.attributeIs(testAttribute) }

// testOnly holds for items that only test builds hold.
func (it *item) testOnly() bool {
	return it.isTest() || it.attributeIs(cfgTest) && !notTest.MatchString(it.attributes)
}

// names are those that an item declares, with those inside it.
func (s *source) names(it *item) []string {
	found := []string{it.name}
	for _, m := range declares.FindAllSubmatch(s.masked[it.head:it.to], -1) {
		found = append(found, string(m[1]))
	}
	return found
}

var declares = lazyregexp.New(`\b(?:fn|struct|enum|trait|mod|const|static|type)\s+(?:r#)?(\w+)`)

// at lists the items that hold a place, the outermost first.
func (s *source) at(offset int) []*item {
	var path []*item
	for level := s.items; ; {
		i := slices.IndexFunc(level, func(it *item) bool { return it.from <= offset && offset < it.to })
		if i < 0 {
			return path
		}
		path = append(path, level[i])
		level = level[i].inside
	}
}

// lineAt is the line, from 1, that holds an offset.
func (s *source) lineAt(offset int) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
}

// offset is the place of a line and a column, both from 1, the column in
// characters; -1 for a line that is not there.
func (s *source) offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return -1
	}
	at := s.lines[line-1]
	for range []rune(string(s.text[at:min(len(s.text), at+4*column)])) {
		if column--; column <= 0 {
			break
		}
		at++
		for at < len(s.text) && s.text[at]&0xC0 == 0x80 {
			at++
		}
	}
	return min(at, max(0, len(s.text)-1))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
