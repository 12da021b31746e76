package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell writes a command so that bash and zsh read it back as the same words.
// Words with control characters, direction marks or what a CI runner takes for a
// command are written with escapes, so that the result is safe to print.
func Shell(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quote(word)
	}
	return strings.Join(words, " ")
}

func quote(word string) string {
	switch {
	case word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }):
		return word
	case utf8.ValidString(word) && !strings.ContainsFunc(word, hidden) && !command.MatchString(word):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var out strings.Builder
	out.WriteString("$'")
	for i, c := range word {
		switch {
		case c == utf8.RuneError && word[i] != "\uFFFD"[0]:
			fmt.Fprintf(&out, `\x%02x`, word[i])
		case c == '\'' || c == '\\':
			out.WriteString(`\` + string(c))
		case c == '#' || hidden(c):
			for _, b := range []byte(string(c)) {
				fmt.Fprintf(&out, `\x%02x`, b)
			}
		default:
			out.WriteRune(c)
		}
	}
	return out.String() + "'"
}

func plain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,", c)
}

// hidden holds for what would not be seen, or would act, when printed.
func hidden(c rune) bool {
	return c != ' ' && unicode.IsSpace(c) || unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co)
}
