package javascript

import (
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var name = lazyregexp.New(`^[A-Za-z_]\w*$`)

func isName(text string) bool { return name.MatchString(text) }

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// splitCommands cuts a shell line at && and ; outside of quotes.
func splitCommands(line string) []string {
	var parts []string
	var quote byte
	start := 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';' || c == '&' && i+1 < len(line) && line[i+1] == '&':
			parts = append(parts, strings.TrimSpace(line[start:i]))
			if c == '&' {
				i++
			}
			start = i + 1
		}
	}
	parts = append(parts, strings.TrimSpace(line[start:]))
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// splitWords cuts a command into its words, as a shell reads quotes and what is
// escaped in double ones; other escapes stay.
func splitWords(command string) []string {
	var words []string
	var word strings.Builder
	var quote byte
	inside := false
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '"' && c == '\\' && i+1 < len(command) && strings.IndexByte("\"\\$`", command[i+1]) >= 0:
			i++
			word.WriteByte(command[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == '\\' && i+1 < len(command) && strings.IndexByte("\"'", command[i+1]) >= 0:
			i++
			word.WriteByte(command[i])
			inside = true
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}
