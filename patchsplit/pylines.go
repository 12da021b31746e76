package patchsplit

import (
	"slices"
	"strings"
)

// pyLine is one logical line of Python: brackets and backslashes joined,
// comments gone, the inside of strings blanked out and kept aside.
type pyLine struct {
	indent  int
	text    string
	strings []string
	first   int      // line of the source that it begins on, from 0
	quoted  []pySpan // where the strings stand
}

// pySpan is the lines that a string spans.
type pySpan struct{ first, last int }

// pyLines cuts a source into its logical lines. It reads any input to the end:
// what is not Python gives lines that declare nothing.
func pyLines(source []byte) []pyLine {
	t := pyTokens{source: strings.ReplaceAll(string(source), "\r\n", "\n")}
	for t.pos < len(t.source) {
		t.step()
	}
	t.flush()
	return t.lines
}

type pyTokens struct {
	source string
	pos    int
	depth  int // of open brackets

	text   strings.Builder
	held   []string
	quotes []pySpan
	lines  []pyLine

	begun   int // where the logical line begins
	counted int // line breaks before this place are in line
	line    int
}

// step takes one character, or one string or comment.
func (t *pyTokens) step() {
	switch b := t.source[t.pos]; b {
	case '#':
		t.pos += len(t.source[t.pos:]) - len(strings.TrimLeft(t.source[t.pos:], "#"))
		for t.pos < len(t.source) && t.source[t.pos] != '\n' {
			t.pos++
		}
		return
	case '"', '\'':
		t.quoted(b)
		return
	case '\\':
		t.pos += 2 // a joined line; elsewhere it is no Python
		t.text.WriteByte(' ')
		return
	case '(', '[', '{':
		t.depth++
	case ')', ']', '}':
		t.depth = max(0, t.depth-1)
	case '\n':
		t.pos++
		if t.depth == 0 {
			t.flush()
		} else {
			t.text.WriteByte(' ')
		}
		return
	}
	t.text.WriteByte(t.source[t.pos])
	t.pos++
}

// quoted takes a string literal. One that is not closed ends with its line.
func (t *pyTokens) quoted(mark byte) {
	rest := t.source[t.pos:]
	end := string(mark)
	if triple := strings.Repeat(end, 3); strings.HasPrefix(rest, triple) {
		end = triple
	}
	i := len(end)
	for i < len(rest) && !strings.HasPrefix(rest[i:], end) {
		if rest[i] == '\n' && len(end) == 1 {
			break
		}
		if rest[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(rest))
	t.quotes = append(t.quotes, pySpan{t.lineAt(t.pos), t.lineAt(t.pos + i)})
	t.held = append(t.held, rest[len(end):max(i, len(end))])
	t.text.WriteString(`""`)
	if strings.HasPrefix(rest[i:], end) {
		i += len(end)
	}
	t.pos += i
}

// flush ends a logical line, cut at its semicolons.
func (t *pyTokens) flush() {
	text := t.text.String()
	t.text.Reset()
	if trimmed := strings.TrimLeft(text, " \t\f\r"); trimmed != "" {
		indent := width(text[:len(text)-len(trimmed)])
		first := t.lineAt(t.begun)
		for statement := range strings.SplitSeq(trimmed, ";") {
			t.lines = append(t.lines, pyLine{indent, strings.TrimSpace(statement), slices.Clone(t.held), first, slices.Clone(t.quotes)})
		}
	}
	t.held, t.quotes = t.held[:0], t.quotes[:0]
	t.begun = t.pos
}

func width(blanks string) int {
	columns := 0
	for _, b := range blanks {
		if b == '\t' {
			columns += 8 - columns%8
		} else {
			columns++
		}
	}
	return columns
}

// topLevel cuts a text at a separator outside brackets.
func topLevel(text string, separator byte) []string {
	var pieces []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case separator:
			if depth == 0 {
				pieces = append(pieces, text[start:i])
				start = i + 1
			}
		}
	}
	return append(pieces, text[start:])
}

// cutTopLevel cuts a text at the first separator outside brackets.
func cutTopLevel(text string, separator byte) (before, after string, found bool) {
	before = topLevel(text, separator)[0]
	if len(before) == len(text) {
		return text, "", false
	}
	return before, text[len(before)+1:], true
}

// lineAt returns the line of the source that a place lies on. Places are asked
// for in rising order, or nearly so.
func (t *pyTokens) lineAt(pos int) int {
	pos = min(pos, len(t.source))
	if pos < t.counted {
		return t.line - strings.Count(t.source[pos:t.counted], "\n")
	}
	t.line += strings.Count(t.source[t.counted:pos], "\n")
	t.counted = pos
	return t.line
}
