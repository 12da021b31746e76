package rts

import "strings"

// minName is the length from which on a word is a name worth looking for.
const minName = 3

// Words lists the identifiers of a text, also those inside its strings, each
// once, sorted.
func Words(text string) []string {
	var found []string
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isWordByte(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= minName && (text[start] < '0' || text[start] > '9') {
			found = append(found, text[start:i])
		}
		start = -1
	}
	return sortedSet(found)
}

// QuotedWords lists the identifiers that stand inside strings of a text: what a
// look-up by name (getattr, mock.patch, a registry) can mean.
func QuotedWords(text string) []string {
	var inside strings.Builder
	for i := 0; i < len(text); i++ {
		quote := text[i]
		if quote != '"' && quote != '\'' && quote != '`' {
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != quote && (quote == '`' || text[end] != '\n') {
			if text[end] == '\\' && quote != '`' {
				end++
			}
			end++
		}
		inside.WriteString(text[i+1 : min(end, len(text))])
		inside.WriteByte('\n')
		i = end
	}
	return Words(inside.String())
}

func isWordByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}

// keywords and the like say nothing about which code is meant.
var plainWords = func() map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(`and assert async await break case catch chan class cls const continue def default defer del elif else enum
		except export extends False false finally for from func function global goto import interface lambda let map new nil None nonlocal not null
		package pass raise range return select self static struct super switch this throw True true try type typeof undefined var void while with yield
		int str bool list dict set tuple float bytes string error byte rune uint int64 uint64 int32 uint32 float64 any len print append make`) {
		set[word] = true
	}
	return set
}()

func wordsIn(pieces []string) []string {
	var found []string
	for _, word := range Words(strings.Join(pieces, "\n")) {
		if !plainWords[word] {
			found = append(found, word)
		}
	}
	return found
}

// wordsThatDiffer are the words of the lines that only one version has.
func wordsThatDiffer(old, new []byte) []string {
	a, b := strings.Split(string(old), "\n"), strings.Split(string(new), "\n")
	return wordsIn(append(missing(a, b), missing(b, a)...))
}
