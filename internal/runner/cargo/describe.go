package cargo

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// describe makes the row of a listed or a taken out test.
func (b *book) describe(name string) gate.Row {
	if b.doc == "" {
		return b.row(name)
	}
	id := b.ids[name]
	row := gate.Row{ID: b.id(id), Name: id, Unit: b.unit, File: b.doc}
	if m := lineOf.FindStringSubmatch(name); m != nil {
		row.Line = number(m[1])
		row.End, row.Digest = b.byFile[b.doc].example(row.Line)
	}
	return row
}

var lineOf = lazyregexp.New(`\(line (\d+)\)`)

// example is the block of code in a comment that begins at a line: its last line
// and its digest.
func (s *source) example(line int) (end int, sum string) {
	if line < 1 || line > len(s.lines) {
		return line, ""
	}
	for end = line + 1; end < len(s.lines); end++ {
		text := strings.TrimSpace(string(s.text[s.lines[end-1]:s.lines[end]]))
		text = strings.TrimSpace(strings.TrimLeft(text, "/!*"))
		if text == "```" || text == "~~~" || text == "" && s.indented(line) {
			break
		}
	}
	return end, digest(s.text[s.lines[line-1]:s.lines[min(end, len(s.lines)-1)]])
}

// indented holds for an example that is marked by indentation, not by fences.
func (s *source) indented(line int) bool {
	text := s.text[s.lines[line-1]:s.lines[min(line, len(s.lines)-1)]]
	return !strings.Contains(string(text), "```") && !strings.Contains(string(text), "~~~")
}

// shown is a command as a person would paste it.
func (s *session) shown(b *book, words []string) []string {
	if b.dir != "." {
		return slices.Concat([]string{"env", "-C", b.dir}, words)
	}
	return words
}
