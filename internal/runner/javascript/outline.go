package javascript

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// outline is where the suites, tests and hooks of a test file stand, as far as
// its text says so.
type outline struct {
	source string
	roots  []*span
	hooks  []*span
	lines  []int // offsets at which lines begin
}

// span is one call that declares a suite, a test or a hook.
type span struct {
	kind      spanKind
	title     *regexp.Regexp // nil: exact
	exact     string
	modifiers []string
	from, to  int
	line, end int
	inside    []*span
}

type spanKind uint8

const (
	suiteSpan spanKind = iota + 1
	testSpan
	hookSpan
)

var spanWords = map[string]spanKind{
	"it": testSpan, "test": testSpan, "specify": testSpan, "fit": testSpan, "xit": testSpan, "xtest": testSpan, "xspecify": testSpan,
	"describe": suiteSpan, "context": suiteSpan, "suite": suiteSpan, "fdescribe": suiteSpan, "xdescribe": suiteSpan, "xcontext": suiteSpan,
	"before": hookSpan, "after": hookSpan, "beforeEach": hookSpan, "afterEach": hookSpan, "beforeAll": hookSpan, "afterAll": hookSpan,
	"setup": hookSpan, "teardown": hookSpan, "suiteSetup": hookSpan, "suiteTeardown": hookSpan,
}

// contexts are the usual names of what a test gets to make subtests with.
var contexts = []string{"t", "ctx", "context", "tc", "test", "st"}

func outlineOf(source string) *outline {
	o := &outline{source: source, lines: []int{0}}
	for i := range len(source) {
		if source[i] == '\n' {
			o.lines = append(o.lines, i+1)
		}
	}
	tokens := scan(source)
	o.roots = o.read(tokens, pairs(source, tokens), 0, len(tokens))
	return o
}

// read finds the declaring calls among tokens from..to.
func (o *outline) read(tokens []token, closes []int, from, to int) []*span {
	var found []*span
	for i := from; i < to; i++ {
		s, open, end := o.call(tokens, closes, i)
		if s == nil || end > to {
			continue
		}
		s.inside = o.read(tokens, closes, open+1, end)
		if s.kind == hookSpan {
			o.hooks = append(o.hooks, s)
		} else {
			found = append(found, s)
		}
		i = end
	}
	return found
}

// call reads a declaring call at a token: its span, and the tokens of its
// brackets. nil for anything else.
func (o *outline) call(tokens []token, closes []int, i int) (s *span, open, end int) {
	word := o.word(tokens, i)
	kind, known := spanWords[word]
	if !known || tokens[i].kind != identifier {
		return nil, 0, 0
	}
	if i > 1 && o.word(tokens, i-1) == "." && (kind == hookSpan || !slices.Contains(contexts, o.word(tokens, i-2))) {
		return nil, 0, 0
	}
	s = &span{kind: kind, from: tokens[i].from}
	each := false
	for j := i + 1; j < len(tokens); {
		switch next := o.word(tokens, j); {
		case next == "." && j+1 < len(tokens):
			modifier := o.word(tokens, j+1)
			s.modifiers = append(s.modifiers, modifier)
			if inner, other := spanWords[modifier]; other {
				s.kind = inner
			}
			each = each || modifier == "each" || modifier == "for"
			j += 2
		case next == "<":
			if j = o.generic(tokens, j); j < 0 {
				return nil, 0, 0
			}
		case tokens[j].kind == template && each:
			j++
			each = false
		case next == "(" && closes[j] > 0:
			if each || o.word(tokens, closes[j]+1) == "(" && slices.ContainsFunc(s.modifiers, conditional) {
				each = false
				j = closes[j] + 1
				continue
			}
			o.place(s, tokens, j, closes[j])
			return s, j, closes[j]
		default:
			return nil, 0, 0
		}
	}
	return nil, 0, 0
}

// conditional holds for modifiers that are called before the test is declared.
func conditional(modifier string) bool {
	return slices.Contains([]string{"skipIf", "runIf", "if", "todoIf", "failingIf", "each"}, modifier)
}

// generic passes over TypeScript's type arguments.
func (o *outline) generic(tokens []token, at int) int {
	depth := 0
	for j := at; j < len(tokens) && j < at+200; j++ {
		switch o.word(tokens, j) {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return -1
}

func (o *outline) word(tokens []token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return o.source[tokens[i].from:tokens[i].to]
}

func (o *outline) place(s *span, tokens []token, open, end int) {
	s.to = tokens[end].to
	s.line, s.end = o.lineAt(s.from), o.lineAt(s.to-1)
	o.name(s, tokens, open+1)
}

// name reads the title: a string, a template, or something that only a run can
// tell.
func (o *outline) name(s *span, tokens []token, at int) {
	anything := regexp.MustCompile(`(?s)^.*$`)
	s.title = anything
	if next := o.word(tokens, at+1); at >= len(tokens) || next != "," && next != ")" {
		return
	}
	raw := o.word(tokens, at)
	if len(raw) < 2 || tokens[at].kind != text && tokens[at].kind != template {
		return
	}
	raw = raw[1 : len(raw)-1]
	table := slices.Contains(s.modifiers, "each") || slices.Contains(s.modifiers, "for")
	if tokens[at].kind == text && !table || tokens[at].kind == template && !strings.Contains(raw, "${") && !table {
		s.title, s.exact = nil, unquote(raw)
		return
	}
	if re, err := regexp.Compile("(?s)^" + holes.ReplaceAllString(regexp.QuoteMeta(unquote(raw)), ".*") + "$"); err == nil {
		s.title = re
	}
}

// holes are the places in a quoted title that values are put into: ${…}, %s and
// $name.
var holes = lazyregexp.New(`\\\$\\\{.*?\\\}|%[sdifjoOpc#$%]|\\\$#?[\w.\\]+`)

var escaped = lazyregexp.New(`\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)`)

// unquote resolves the escapes of a string.
func unquote(raw string) string {
	return escaped.ReplaceAllStringFunc(raw, func(escape string) string {
		switch c := escape[1]; c {
		case 'n':
			return "\n"
		case 't':
			return "\t"
		case 'r':
			return "\r"
		case '\n', '\r':
			return ""
		case 'u', 'x':
			return hexRune(strings.Trim(escape[2:], "{}"))
		case '0':
			return "\x00"
		}
		return escape[1:]
	})
}

func hexRune(digits string) string {
	var r rune
	for _, c := range strings.ToLower(digits) {
		r = r*16 + rune(strings.IndexRune("0123456789abcdef", c))
	}
	return string(r)
}

func (o *outline) lineAt(offset int) int {
	line, exact := slices.BinarySearch(o.lines, offset)
	if exact {
		return line + 1
	}
	return line
}

// find returns the call that declares the row of a path of titles, nil when the
// text does not show it. A line, where the framework gave one, decides between
// several.
func (o *outline) find(titles []string, line int) *span {
	level := o.roots
	var at *span
	for i, title := range titles {
		var candidates []*span
		for _, s := range level {
			if s.matches(title) {
				candidates = append(candidates, s)
			}
		}
		if len(candidates) == 0 {
			return nil
		}
		slices.SortStableFunc(candidates, func(a, b *span) int { return b.certainty() - a.certainty() })
		at = candidates[0]
		if line > 0 {
			if n := slices.IndexFunc(candidates, func(s *span) bool { return covers(s, line, i == len(titles)-1) }); n >= 0 {
				at = candidates[n]
			}
		}
		level = at.inside
		if i < len(titles)-1 {
			level = nil
			for _, c := range candidates { // suites of one title are one suite in several pieces
				if c.certainty() == at.certainty() {
					level = append(level, o.below(c)...)
				}
			}
		}
	}
	return at
}

// below are a suite's own calls. One without a function, as mocha's qunit
// interface has it, holds what stands between it and the next suite.
func (o *outline) below(s *span) []*span {
	at := slices.Index(o.roots, s)
	if at < 0 || s.kind != suiteSpan || strings.Contains(o.source[s.from:s.to], "{") || strings.Contains(o.source[s.from:s.to], "=>") {
		return s.inside
	}
	rest := o.roots[at+1:]
	if end := slices.IndexFunc(rest, func(next *span) bool { return next.kind == suiteSpan }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

func covers(s *span, line int, last bool) bool {
	return s.line == line || !last && s.line <= line && line <= s.end
}

func (s *span) matches(title string) bool {
	if s.title == nil {
		return s.exact == title
	}
	return s.title.MatchString(title)
}

// certainty orders the ways in which a title can match.
func (s *span) certainty() int {
	switch {
	case s.title == nil:
		return 2
	case s.title.String() != `(?s)^.*$`:
		return 1
	}
	return 0
}

// digest identifies a declaration's own text.
func (o *outline) digest(s *span) string {
	sum := sha256.Sum256([]byte(o.source[s.from:s.to]))
	return hex.EncodeToString(sum[:])
}

// context identifies the file around its tests.
func (o *outline) context() string {
	hash := sha256.New()
	at := 0
	var cut func([]*span)
	cut = func(spans []*span) {
		for _, s := range spans {
			if s.kind == suiteSpan {
				cut(s.inside)
				continue
			}
			hash.Write([]byte(o.source[at:max(at, s.from)]))
			at = max(at, s.to)
		}
	}
	cut(o.roots)
	hash.Write([]byte(o.source[at:]))
	return hex.EncodeToString(hash.Sum(nil))
}

// inHook tells whether a line stands in a hook.
func (o *outline) inHook(line int) bool {
	return slices.ContainsFunc(o.hooks, func(h *span) bool { return h.line <= line && line <= h.end })
}
