package javascript

import "strings"

// token is a piece of source: an identifier, a string or template, a regular
// expression, or one byte of punctuation.
type token struct {
	kind     tokenKind
	from, to int
}

type tokenKind uint8

const (
	punctuation tokenKind = iota
	identifier
	text     // '…' or "…"
	template // `…`
	pattern  // /…/
)

// scan cuts JavaScript or TypeScript into tokens, without comments and blanks.
// It never fails: in a source that it misreads, places are missing and nothing
// else is wrong.
func scan(source string) []token {
	var tokens []token
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(source[i:], "//"):
			i = lineEnd(source, i)
		case strings.HasPrefix(source[i:], "/*"):
			i = after(source, i+2, "*/")
		case c == '"' || c == '\'':
			end := quotedEnd(source, i)
			tokens = append(tokens, token{text, i, end})
			i = end
		case c == '`':
			end := templateEnd(source, i)
			tokens = append(tokens, token{template, i, end})
			i = end
		case isNameByte(c):
			end := i
			for end < len(source) && isNameByte(source[end]) {
				end++
			}
			tokens = append(tokens, token{identifier, i, end})
			i = end
		case c == '/' && beginsPattern(source, tokens):
			end := patternEnd(source, i)
			tokens = append(tokens, token{pattern, i, end})
			i = end
		default:
			tokens = append(tokens, token{punctuation, i, i + 1})
			i++
		}
	}
	return tokens
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func lineEnd(source string, from int) int {
	if end := strings.IndexByte(source[from:], '\n'); end >= 0 {
		return from + end
	}
	return len(source)
}

func after(source string, from int, mark string) int {
	if from > len(source) {
		return len(source)
	}
	if end := strings.Index(source[from:], mark); end >= 0 {
		return from + end + len(mark)
	}
	return len(source)
}

// quotedEnd is where a string ends; one that is not closed on its line (an
// apostrophe in JSX) ends with the line.
func quotedEnd(source string, from int) int {
	for i := from + 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '\n':
			return from + 1
		case source[from]:
			return i + 1
		}
	}
	return from + 1
}

func templateEnd(source string, from int) int {
	for i := from + 1; i < len(source); i++ {
		switch {
		case source[i] == '\\':
			i++
		case source[i] == '`':
			return i + 1
		case strings.HasPrefix(source[i:], "${"):
			i = expressionEnd(source, i+2) - 1
		}
	}
	return len(source)
}

// expressionEnd is where the expression in a template ends, behind its brace.
func expressionEnd(source string, from int) int {
	depth := 1
	for i := from; i < len(source); i++ {
		switch c := source[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '`':
			i = templateEnd(source, i) - 1
		case '"', '\'':
			i = quotedEnd(source, i) - 1
		}
	}
	return len(source)
}

// beginsPattern tells a regular expression from a division by what precedes it.
func beginsPattern(source string, tokens []token) bool {
	if len(tokens) == 0 {
		return true
	}
	last := tokens[len(tokens)-1]
	word := source[last.from:last.to]
	switch last.kind {
	case punctuation:
		return word != ")" && word != "]" && word != "}"
	case identifier:
		switch word {
		case "return", "typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "new", "instanceof", "yield", "await":
			return true
		}
	}
	return false
}

func patternEnd(source string, from int) int {
	class := false
	for i := from + 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '\n':
			return from + 1
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return from + 1
}

// pairs maps each opening bracket's token to the one that closes it, -1 for none.
func pairs(source string, tokens []token) []int {
	closes := make([]int, len(tokens))
	var open []int
	for i, t := range tokens {
		closes[i] = -1
		if t.kind != punctuation {
			continue
		}
		switch source[t.from] {
		case '(', '[', '{':
			open = append(open, i)
		case ')', ']', '}':
			want := map[byte]byte{')': '(', ']': '[', '}': '{'}[source[t.from]]
			for n := len(open) - 1; n >= 0; n-- { // one that is never closed is passed over
				if source[tokens[open[n]].from] == want {
					closes[open[n]] = i
					open = open[:n]
					break
				}
			}
		}
	}
	return closes
}
