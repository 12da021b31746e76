package patchsplit

import (
	"slices"
	"strings"
)

// pyLine is one logical line of Python: brackets and backslashes joined,
// comments gone, the inside of strings blanked out and kept aside.
type pyLine struct {
	line    int // where it begins, from 1
	indent  int
	text    string
	strings []string
}

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
	line   int // of pos, from 0
	begun  int // line on which the logical line began

	text  strings.Builder
	held  []string
	lines []pyLine
}

// step takes one character, or one string or comment.
func (t *pyTokens) step() {
	if t.text.Len() == 0 {
		t.begun = t.line
	}
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
		if strings.HasPrefix(t.source[t.pos+1:], "\n") {
			t.line++
		}
		t.pos += 2 // a joined line; elsewhere it is no Python
		t.text.WriteByte(' ')
		return
	case '(', '[', '{':
		t.depth++
	case ')', ']', '}':
		t.depth = max(0, t.depth-1)
	case '\n':
		t.pos++
		t.line++
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
	t.held = append(t.held, rest[len(end):max(i, len(end))])
	t.text.WriteString(`""`)
	if strings.HasPrefix(rest[i:], end) {
		i += len(end)
	}
	t.line += strings.Count(rest[:min(i, len(rest))], "\n")
	t.pos += i
}

// flush ends a logical line, cut at its semicolons.
func (t *pyTokens) flush() {
	text := t.text.String()
	t.text.Reset()
	if trimmed := strings.TrimLeft(text, " \t\f\r"); trimmed != "" {
		indent := width(text[:len(text)-len(trimmed)])
		for statement := range strings.SplitSeq(trimmed, ";") {
			t.lines = append(t.lines, pyLine{t.begun + 1, indent, strings.TrimSpace(statement), slices.Clone(t.held)})
		}
	}
	t.held = t.held[:0]
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
