package patchsplit

import "bytes"

// syntax is what must be known of a language to tell its code from its
// comments and strings.
type syntax struct {
	line   []string // what begins a comment up to the end of the line
	block  [][2]string
	nested bool // block comments may hold block comments
	// literal returns the end of the string or character that begins at i, i
	// itself where none does.
	literal func(source []byte, i int) int
}

// mask blanks out comments and the inside of literals, line breaks excepted, so
// that brackets and words can be counted. It reads any input to the end.
func (s syntax) mask(source []byte) []byte {
	masked := bytes.Clone(source)
	for i := 0; i < len(source); {
		end := s.comment(source, i)
		if end == i {
			end = s.literal(source, i)
		}
		if end == i {
			i++
			continue
		}
		for ; i < end; i++ {
			if masked[i] != '\n' {
				masked[i] = ' '
			}
		}
	}
	return masked
}

// comment returns the end of the comment that begins at i, i itself where none
// does. The line break after a line comment is not part of it.
func (s syntax) comment(source []byte, i int) int {
	for _, mark := range s.line {
		if bytes.HasPrefix(source[i:], []byte(mark)) {
			if n := bytes.IndexByte(source[i:], '\n'); n >= 0 {
				return i + n
			}
			return len(source)
		}
	}
	for _, pair := range s.block {
		if bytes.HasPrefix(source[i:], []byte(pair[0])) {
			return s.blockEnd(source, i+len(pair[0]), pair)
		}
	}
	return i
}

func (s syntax) blockEnd(source []byte, i int, pair [2]string) int {
	for depth := 1; i < len(source); {
		switch {
		case bytes.HasPrefix(source[i:], []byte(pair[1])):
			i += len(pair[1])
			if depth--; depth == 0 {
				return i
			}
		case s.nested && bytes.HasPrefix(source[i:], []byte(pair[0])):
			i += len(pair[0])
			depth++
		default:
			i++
		}
	}
	return len(source)
}

// quoted returns the end of a string that begins with its mark at i. One that
// may not span lines ends with its line.
func quoted(source []byte, i int, multiline bool) int {
	mark := source[i]
	for i++; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '\n':
			if !multiline {
				return i
			}
		case mark:
			return i + 1
		}
	}
	return len(source)
}

// until returns the end of a literal of which the given text is the last.
func until(source []byte, i int, end string) int {
	if n := bytes.Index(source[i:], []byte(end)); n >= 0 {
		return i + n + len(end)
	}
	return len(source)
}

// closing returns the place behind the bracket that closes the one at i, the
// end of the source when none does.
func closing(masked []byte, i int) int {
	depth := 0
	for ; i < len(masked); i++ {
		switch masked[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(masked)
}

// blanks returns the first place from i on that is no blank.
func blanks(masked []byte, i int) int {
	for i < len(masked) && bytes.IndexByte([]byte(" \t\r\n\f"), masked[i]) >= 0 {
		i++
	}
	return i
}
