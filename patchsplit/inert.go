package patchsplit

import (
	"bytes"
	goscanner "go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Inert tells whether two versions of a file hold the same code and differ in
// comments, blank lines, formatting or documentation strings only. It answers
// for Go and Python and says false of everything else, and of what it cannot
// be sure of: a comment that tools obey, an example that a doctest runs.
func Inert(path string, old, new []byte) bool {
	if old == nil || new == nil {
		return false
	}
	switch extOf(path) {
	case ".go":
		was, ok := goTokens(old)
		is, too := goTokens(new)
		return ok && too && slices.Equal(was, is)
	case ".pyi":
		return true // nothing runs it
	case ".py":
		return pyReadable(old) && pyReadable(new) && slices.Equal(pyStatements(old), pyStatements(new)) && sameTypingNames(old, new)
	}
	return false
}

// goTokens is a source without its comments, except those that tools read:
// directives, build constraints and all that stands before an import of C.
func goTokens(source []byte) (tokens []string, ok bool) {
	var s goscanner.Scanner
	files := token.NewFileSet()
	ok = true
	s.Init(files.AddFile("", -1, len(source)), source, func(token.Position, string) { ok = false }, goscanner.ScanComments)
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return tokens, ok
		case tok == token.COMMENT && !directive(text):
			continue
		case tok == token.SEMICOLON:
			text = ";"
		case text == "":
			text = tok.String()
		case text == `"C"`:
			ok = false // the comment before it is C source
		}
		tokens = append(tokens, text)
	}
}

func directive(comment string) bool {
	return strings.HasPrefix(comment, "//go:") || strings.HasPrefix(comment, "// +build") || strings.HasPrefix(comment, "//export ") ||
		strings.HasPrefix(comment, "//line ") || strings.HasPrefix(comment, "/*line ") || strings.Contains(comment, "Output:") || strings.Contains(comment, "output:")
}

var pyEncoding = lazyregexp.New(`(?i)^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// pyReadable tells whether comments and strings of a Python source end where
// pyLines lets them end. A lone carriage return ends a line for Python, another
// encoding may make anything of a comment's bytes, and since Python 3.12 a string
// may stand inside a string's braces.
func pyReadable(source []byte) bool {
	text := strings.ReplaceAll(string(source), "\r\n", "\n")
	if strings.ContainsAny(text, "\r\x00") {
		return false
	}
	for i, line := range strings.SplitN(text, "\n", 3) {
		if match := pyEncoding.FindStringSubmatch(line); i < 2 && match != nil {
			switch strings.ToLower(match[1]) {
			case "utf-8", "utf8", "utf_8", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1":
			default:
				return false
			}
		}
	}
	for _, line := range pyLines(source) {
		if !formatted.MatchString(line.text) {
			continue
		}
		for _, held := range line.strings {
			if strings.Count(held, "{") != strings.Count(held, "}") {
				return false
			}
		}
	}
	return true
}

var formatted = lazyregexp.New(`(?i)\b(?:f|t|rf|fr|rt|tr)""`)

// pyStatements is a source as its logical lines, without statements that are
// nothing but a string, and without what only type checkers read: overloads,
// TYPE_CHECKING blocks and imports from typing. A string that holds a doctest
// stays, and all of them do where the program reads its own documentation.
func pyStatements(source []byte) []string {
	var statements []string
	read := bytes.Contains(source, []byte("__doc__"))
	for _, line := range withoutTyping(pyLines(source)) {
		held := strings.Join(line.strings, "\x00")
		if strings.Trim(line.text, ` "`) == "" && !strings.Contains(held, ">>>") && !read {
			continue
		}
		statements = append(statements, strings.Repeat(" ", line.indent)+line.text+"\x00"+held)
	}
	return statements
}
