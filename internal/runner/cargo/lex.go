package cargo

import (
	"bytes"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

var (
	rawString = lazyregexp.New(`^(?:b|c)?r(#*)"`)
	character = lazyregexp.New(`^b?'(?:\\(?:u\{[0-9a-fA-F_]+\}|x..|.)|[^\\'\n])'`)
)

// mask blanks comments, strings and characters of a source and moves nothing.
func mask(source []byte) []byte {
	masked := bytes.Clone(source)
	for i := 0; i < len(source); {
		end := i
		switch c := source[i]; {
		case c == '/' && i+1 < len(source) && source[i+1] == '/':
			end = lineEnd(source, i)
		case c == '/' && i+1 < len(source) && source[i+1] == '*':
			end = commentEnd(source, i)
		case c == '"':
			end = stringEnd(source, i+1)
		case (c == 'r' || c == 'b' || c == 'c') && (i == 0 || !wordByte(source[i-1])):
			if m := rawString.FindSubmatch(source[i:min(len(source), i+260)]); m != nil {
				end = rawEnd(source, i+len(m[0]), m[1])
			} else if m := character.Find(source[i:min(len(source), i+18)]); m != nil {
				end = i + len(m)
			}
		case c == '\'':
			if m := character.Find(source[i:min(len(source), i+16)]); m != nil {
				end = i + len(m)
			}
		}
		if end == i {
			i++
			continue
		}
		braces.Spaces(masked[i:end])
		i = end
	}
	return masked
}

func lineEnd(source []byte, i int) int {
	if n := bytes.IndexByte(source[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(source)
}

// commentEnd is the place behind a block comment, which may hold others.
func commentEnd(source []byte, i int) int {
	depth := 0
	for i < len(source) {
		switch {
		case bytes.HasPrefix(source[i:], []byte("/*")):
			depth++
			i += 2
		case bytes.HasPrefix(source[i:], []byte("*/")):
			i += 2
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return i
}

func stringEnd(source []byte, i int) int {
	for ; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(source)
}

func rawEnd(source []byte, i int, hashes []byte) int {
	if n := bytes.Index(source[i:], append([]byte{'"'}, hashes...)); n >= 0 {
		return i + n + 1 + len(hashes)
	}
	return len(source)
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
