package braces

import (
	"bytes"
	"regexp"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Dialect is a language, as far as its tokens and declarations differ.
type Dialect uint8

// The languages.
const (
	Java Dialect = iota
	Kotlin
	CPP
	PHP
	CSharp
)

var verbatim = lazyregexp.New(`^(?:@\$|\$@|@)"(?:[^"]|"")*"`)

var rawString = lazyregexp.New(`^(?:u8|[uUL])?R"([^ ()\\\t\n]{0,16})\(`)

// Mask blanks comments and literals of a source and moves nothing.
func Mask(text []byte, d Dialect) []byte {
	masked := bytes.Clone(text)
	for i := 0; i < len(text); {
		end := literal(text, i, d)
		if end <= i {
			i++
			continue
		}
		Spaces(masked[i:end])
		i = end
	}
	return masked
}

// literal is the place behind the comment or literal that begins at i; i when
// none does.
func literal(text []byte, i int, d Dialect) int {
	rest := text[i:]
	switch c := text[i]; {
	case bytes.HasPrefix(rest, []byte("//")), d == PHP && c == '#' && !bytes.HasPrefix(rest, []byte("#[")):
		return i + until(rest, "\n", 0)
	case bytes.HasPrefix(rest, []byte("/*")):
		return i + until(rest, "*/", 2)
	case d == PHP && bytes.HasPrefix(rest, []byte("<?php")):
		return i + 5
	case d == PHP && bytes.HasPrefix(rest, []byte("<<<")):
		return heredoc(text, i)
	case d != CPP && d != PHP && bytes.HasPrefix(rest, []byte(`"""`)):
		return i + 3 + until(rest[3:], `"""`, 3)
	case d == CPP && (i == 0 || !wordByte(text[i-1])) && rawString.Match(rest):
		m := rawString.FindSubmatch(rest)
		return i + until(rest, ")"+string(m[1])+`"`, len(m[1])+2)
	case d == CSharp && (c == '@' || c == '$') && verbatim.Match(rest):
		return i + len(verbatim.Find(rest))
	case d == CSharp && c == '#' && len(bytes.TrimSpace(text[bytes.LastIndexByte(text[:i], '\n')+1:i])) == 0: // of the preprocessor
		return i + until(rest, "\n", 0)
	case c == '"':
		return quoted(text, i, '"', d == PHP)
	case c == '\'' && d == CPP && i > 0 && hexByte(text[i-1]) && i+1 < len(text) && hexByte(text[i+1]):
		return i // 1'000
	case c == '\'':
		return quoted(text, i, '\'', d == PHP)
	}
	return i
}

func until(text []byte, mark string, more int) int {
	if n := bytes.Index(text, []byte(mark)); n >= 0 {
		return n + more
	}
	return len(text)
}

// quoted is the place behind a literal. One that must stand on a line ends with
// it, whatever is wrong with it.
func quoted(text []byte, i int, quote byte, many bool) int {
	for j := i + 1; j < len(text); j++ {
		switch {
		case text[j] == '\\':
			j++
		case text[j] == quote:
			return j + 1
		case text[j] == '\n' && !many:
			return j
		}
	}
	return len(text)
}

var heredocHead = lazyregexp.New(`^<<<[ \t]*["']?(\w+)["']?\r?\n`)

func heredoc(text []byte, i int) int {
	m := heredocHead.FindSubmatch(text[i:])
	if m == nil {
		return i
	}
	end := regexp.MustCompile(`(?m)^[ \t]*` + string(m[1]) + `\b`).FindIndex(text[i+len(m[0]):])
	if end == nil {
		return len(text)
	}
	return i + len(m[0]) + end[1]
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func hexByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// Spaces blanks text and keeps its lines.
func Spaces(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// Closing is the place behind the bracket that closes the one at i, or the end.
func Closing(masked []byte, i int) int {
	depth := 0
	for ; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(masked)
}
