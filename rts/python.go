package rts

import (
	"errors"
	"fmt"
	"strings"
)

// pyLine is one logical line: its indentation, its tokens without comments, and
// the lines it covers.
type pyLine struct {
	indent      int
	text        string
	header      string // up to the colon that ends a def or class header; "" for other lines
	rest        string // what follows the header on the line
	first, last int
	keyword     string // def, class, "" for another statement, @ for a decorator
	name        string
}

// readPython reads a Python source by its indentation, as far as functions and
// classes go. nil content is an empty file.
func readPython(content []byte) (*source, error) {
	s := newSource()
	lines, err := pyLines(string(content))
	if err != nil {
		return nil, err
	}
	p := &pyReader{source: s, lines: lines}
	p.block(0, "")
	return s, nil
}

type pyReader struct {
	*source
	lines   []pyLine
	headers map[string]string // of functions, where they are asked for
}

// block reads statements from line i on and returns the line after them: the
// first one that is indented less than the block's first.
func (p *pyReader) block(i int, scope string) int {
	if i >= len(p.lines) {
		return i
	}
	indent := p.lines[i].indent
	decorated := -1
	for i < len(p.lines) && p.lines[i].indent >= indent {
		line := p.lines[i]
		switch line.keyword {
		case "@":
			if decorated < 0 {
				decorated = i
			}
			p.piece(scope, line.indent, line.text)
			i++
			continue
		case "def":
			first := line.first
			if decorated >= 0 {
				first = p.lines[decorated].first
			}
			i = p.function(i, scope, first)
		case "class":
			p.piece(scope, line.indent, line.header)
			if line.rest != "" {
				p.piece(scope+line.name+".", line.indent, line.rest)
			}
			if i++; i < len(p.lines) && p.lines[i].indent > line.indent {
				i = p.block(i, scope+line.name+".")
			}
		default:
			p.piece(scope, line.indent, line.text)
			if i++; i < len(p.lines) && p.lines[i].indent > line.indent {
				i = p.block(i, scope)
			}
		}
		decorated = -1
	}
	return i
}

// piece adds to the shape. How deep a statement stands says which others it
// depends on.
func (p *pyReader) piece(scope string, indent int, text string) {
	p.shape = append(p.shape, fmt.Sprintf("%s|%d|%s", scope, indent, text))
}

// function reads a def. Its docstring is set when it is defined, so it belongs
// to the shape.
func (p *pyReader) function(i int, scope string, first int) int {
	def := p.lines[i]
	symbol := scope + def.name
	p.piece(scope, def.indent, def.header)
	body, last := def.rest, def.last
	for i++; i < len(p.lines) && p.lines[i].indent > def.indent; i++ {
		line := p.lines[i]
		if body == "" && line.first > 0 && isDocstring(line.text) {
			p.piece(symbol, line.indent, line.text)
			body = "\n"
		} else {
			body += strings.Repeat(" ", line.indent) + line.text + "\n"
		}
		last = line.last
	}
	if before, twice := p.bodies[symbol]; twice {
		body = before + "\n" + body // getter and setter, overloads
	}
	p.bodies[symbol], p.lasts[symbol] = body, setsPythonVariable(body)
	if p.headers != nil {
		p.headers[symbol] += def.header
	}
	p.spans = append(p.spans, Span{symbol, first, last})
	return i
}

func isDocstring(text string) bool {
	text = strings.TrimLeft(text, "rRuU")
	return strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'")
}

var errUnbalanced = errors.New("a bracket or a string is not closed")

// pyLines splits a source into logical lines.
func pyLines(text string) ([]pyLine, error) {
	var lines []pyLine
	sc := &pyScanner{text: text, line: 1}
	for sc.at < len(text) {
		line, err := sc.logical()
		if err != nil {
			return nil, err
		}
		if line.text != "" {
			line.classify()
			lines = append(lines, line)
		}
	}
	return lines, nil
}

type pyScanner struct {
	text string
	at   int
	line int
}

// logical reads one logical line, "" for a blank one.
func (s *pyScanner) logical() (pyLine, error) {
	line := pyLine{first: s.line}
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t' || s.text[s.at] == '\f') {
		if s.text[s.at] == '\t' {
			line.indent += 8 - line.indent%8
		} else if s.text[s.at] == ' ' {
			line.indent++
		}
		s.at++
	}
	var out strings.Builder
	depth, colon := 0, -1
	pending, last := false, byte(0) // a blank counts only between two words
	blank := func() { pending = true }
	write := func(text string) {
		if pending && isWordByte(last) && (isWordByte(text[0]) || text[0] == '"' || text[0] == '\'') {
			out.WriteByte(' ')
		}
		out.WriteString(text)
		pending, last = false, text[len(text)-1]
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == '#':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
			continue
		case c == '\n':
			s.at, s.line = s.at+1, s.line+1
			if depth > 0 {
				blank()
				continue
			}
			line.last = s.line - 1
			return line.finish(out.String(), colon), nil
		case c == '\\' && strings.HasPrefix(strings.TrimPrefix(s.text[s.at+1:], "\r"), "\n"):
			s.at = strings.IndexByte(s.text[s.at:], '\n') + s.at + 1
			s.line++
			blank()
			continue
		case c == '"' || c == '\'':
			literal, ok := s.literal()
			if !ok {
				return line, errUnbalanced
			}
			write(literal)
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			blank()
		case c == '(' || c == '[' || c == '{':
			depth++
			write(s.text[s.at : s.at+1])
		case c == ')' || c == ']' || c == '}':
			depth--
			write(s.text[s.at : s.at+1])
		default:
			if c == ':' && depth == 0 && colon < 0 {
				colon = out.Len()
			}
			write(s.text[s.at : s.at+1])
		}
		s.at++
	}
	if depth != 0 {
		return line, errUnbalanced
	}
	line.last = s.line
	return line.finish(out.String(), colon), nil
}

// literal reads a string from its opening quote on. Prefixes stand before it as
// letters; in a raw string a backslash keeps the quote out just the same.
func (s *pyScanner) literal() (string, bool) {
	quote := s.text[s.at : s.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.at:], triple) {
		quote = triple
	}
	for i := s.at + len(quote); i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\':
			if i+1 < len(s.text) && s.text[i+1] == '\n' {
				s.line++
			}
			i++
		case s.text[i] == '\n':
			if len(quote) == 1 {
				return "", false
			}
			s.line++
		case strings.HasPrefix(s.text[i:], quote):
			literal := s.text[s.at : i+len(quote)]
			s.at = i + len(quote)
			return literal, true
		}
	}
	return "", false
}

func (l pyLine) finish(text string, colon int) pyLine {
	l.text = strings.TrimRight(text, " ")
	if colon >= 0 && colon < len(l.text) {
		l.header, l.rest = l.text[:colon+1], strings.TrimSpace(l.text[colon+1:])
	}
	return l
}

func (l *pyLine) classify() {
	words := l.text
	if strings.HasPrefix(words, "@") {
		l.keyword = "@"
		return
	}
	words = strings.TrimPrefix(words, "async ")
	for _, keyword := range []string{"def", "class"} {
		if rest, ok := strings.CutPrefix(words, keyword+" "); ok && l.header != "" {
			l.keyword = keyword
			l.name = rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return r == '_' || r >= 0x80 || r < 0x80 && isWordByte(byte(r)) }))]
		}
	}
}
