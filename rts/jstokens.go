package rts

import (
	"errors"
	"strings"
)

// jsToken is a piece of JavaScript or TypeScript: a word, a string, a template,
// a regular expression, a comment that means something, or punctuation.
type jsToken struct {
	kind    jsKind
	text    string
	line    int
	last    int  // the line it ends on
	newline bool // a line begins before it
}

type jsKind uint8

const (
	jsPunctuation jsKind = iota
	jsWord
	jsText // strings, templates, regular expressions
	jsNote // a comment that tools obey
)

var errJSX = errors.New("it holds markup, which is not read")

// jsTokens cuts a source into tokens. What it cannot tell for certain is an
// error: a comment that is none would hide a difference.
func jsTokens(text string, markup bool) ([]jsToken, error) {
	s := &jsScanner{text: text, line: 1, markup: markup}
	if strings.HasPrefix(text, "#!") {
		s.at = s.lineEnd()
	}
	for s.at < len(text) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	return s.tokens, nil
}

type jsScanner struct {
	text    string
	at      int
	line    int
	newline bool
	markup  bool // the language allows JSX
	tokens  []jsToken
	parens  []string // the word before each open bracket
	closed  string   // the word before the bracket that the last ) closes
}

func (s *jsScanner) rest() string { return s.text[s.at:] }

func (s *jsScanner) lineEnd() int {
	if end := strings.IndexByte(s.rest(), '\n'); end >= 0 {
		return s.at + end
	}
	return len(s.text)
}

func (s *jsScanner) next() error {
	c := s.text[s.at]
	switch {
	case c == '\n':
		s.line, s.newline = s.line+1, true
		s.at++
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		s.at++
	case strings.HasPrefix(s.rest(), "//"):
		return s.comment(s.lineEnd())
	case strings.HasPrefix(s.rest(), "/*"):
		end := strings.Index(s.text[s.at+2:], "*/")
		if end < 0 {
			return errUnbalanced
		}
		return s.comment(s.at + end + 4)
	case c == '"' || c == '\'':
		return s.quoted(c)
	case c == '`':
		end, err := templateEnd(s.text, s.at)
		if err != nil {
			return err
		}
		s.take(jsText, end)
	case isWordByte(c) || c == '$' || c == '#' && s.at+1 < len(s.text) && isWordByte(s.text[s.at+1]):
		end := s.at + 1
		for end < len(s.text) && (isWordByte(s.text[end]) || s.text[end] == '$') {
			end++
		}
		s.take(jsWord, end)
	case c == '/':
		return s.slash()
	case c == '\\':
		return errUnbalanced // only misread text has one here
	case strings.HasPrefix(s.rest(), "=>"):
		s.take(jsPunctuation, s.at+2)
	default:
		s.bracket(c)
		s.take(jsPunctuation, s.at+1)
	}
	return nil
}

func (s *jsScanner) take(kind jsKind, end int) {
	text := s.text[s.at:end]
	last := s.line + strings.Count(text, "\n")
	s.tokens = append(s.tokens, jsToken{kind, text, s.line, last, s.newline})
	s.at, s.line, s.newline = end, last, false
}

// bracket remembers what stood before an opening one: behind the condition of
// an if a slash begins a regular expression.
func (s *jsScanner) bracket(c byte) {
	switch c {
	case '(', '[', '{':
		s.parens = append(s.parens, s.previous().text)
	case ')', ']', '}':
		if n := len(s.parens); n > 0 {
			s.closed, s.parens = s.parens[n-1], s.parens[:n-1]
		}
	}
}

func (s *jsScanner) previous() jsToken {
	if len(s.tokens) == 0 {
		return jsToken{}
	}
	return s.tokens[len(s.tokens)-1]
}

var jsNotes = []string{"@jest", "@vitest", "@ts-", "@jsx", "@flow", "/// <", "#__", "sourceMappingURL", "webpack", "@vite"}

func (s *jsScanner) comment(end int) error {
	text := s.text[s.at:end]
	if s.markup && text[1] == '/' && (strings.Contains(text, "</") || strings.Contains(text, "/>")) {
		return errJSX // perhaps it is a text with a URL
	}
	for _, note := range jsNotes {
		if strings.Contains(text, note) {
			s.take(jsNote, end)
			return nil
		}
	}
	if lines := strings.Count(text, "\n"); lines > 0 {
		s.line, s.newline = s.line+lines, true
	}
	s.at = end
	return nil
}

func (s *jsScanner) quoted(quote byte) error {
	for i := s.at + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '\n':
			return errUnbalanced
		case quote:
			s.take(jsText, i+1)
			return nil
		}
	}
	return errUnbalanced
}

// templateEnd is where a template ends, with the expressions in it.
func templateEnd(text string, from int) (int, error) {
	for i := from + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '`':
			return i + 1, nil
		case strings.HasPrefix(text[i:], "${"):
			end, err := expressionEnd(text, i+2)
			if err != nil {
				return 0, err
			}
			i = end - 1
		}
	}
	return 0, errUnbalanced
}

// expressionEnd is behind the brace that ends an expression in a template.
func expressionEnd(text string, from int) (int, error) {
	for i, depth := from, 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		case '`':
			end, err := templateEnd(text, i)
			if err != nil {
				return 0, err
			}
			i = end - 1
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return 0, errUnbalanced
}

// slash tells a regular expression from a division by what stands before it.
func (s *jsScanner) slash() error {
	last := s.previous()
	if s.markup && (strings.HasPrefix(s.rest(), "/>") || last.text == "<" && s.text[s.at-1] == '<') {
		return errJSX
	}
	division := last.kind == jsText || last.kind == jsWord && !jsBeforeExpression[last.text]
	switch last.text {
	case "}":
		return errUnbalanced // the end of a block, or of an object that is divided
	case "]":
		division = true
	case ")":
		division = s.closed != "if" && s.closed != "while" && s.closed != "for" && s.closed != "with"
	}
	if division {
		s.take(jsPunctuation, s.at+1)
		return nil
	}
	class := false
	for i := s.at + 1; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '\n':
			return errUnbalanced
		case '/':
			if !class {
				s.take(jsText, i+1)
				return nil
			}
		}
	}
	return errUnbalanced
}

var jsBeforeExpression = wordSet("return typeof case in of do else void delete throw new instanceof yield await default extends")

// jsPairs maps each opening bracket to the one that closes it.
func jsPairs(tokens []jsToken) (map[int]int, error) {
	closes := make(map[int]int)
	var open []int
	for i, t := range tokens {
		if t.kind != jsPunctuation {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			n := len(open) - 1
			if n < 0 || tokens[open[n]].text != map[string]string{")": "(", "]": "[", "}": "{"}[t.text] {
				return nil, errUnbalanced
			}
			closes[open[n]] = i
			open = open[:n]
		}
	}
	if len(open) > 0 {
		return nil, errUnbalanced
	}
	return closes, nil
}
