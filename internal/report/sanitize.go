package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// sequence is a terminal's escape sequence: CSI with its parameters, OSC and
// its kin up to their end, or ESC and one character.
var sequence = lazyregexp.New("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]" +
	"|(?:\x1b[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)" +
	"|\x1b[ -/]*[0-Z\\\\^-~]")

// command is what CI runners look for anywhere in a line.
var command = lazyregexp.New(`##([A-Za-z]*\[)`)

// Sanitize makes text that came out of a test, a path or a report fit to stand
// inside a line. The result is one line of valid UTF-8 of at most limit runes
// (0: no limit; cut at its end). Escape sequences are dropped, blanks become
// single spaces; other control characters, direction and format marks and
// invalid bytes become visible, as \x07 or \u202e. No CI runner finds a
// command in it, wherever in a line it stands.
func Sanitize(text string, limit int) string {
	if sanitary(text) {
		return cutEnd(text, limit)
	}
	if limit > 0 {
		text = head(text, 16*limit+1024)
	}
	clean := strings.Join(strings.Fields(visible(sequence.ReplaceAllString(text, ""))), " ")
	return cutEnd(disarm(clean), limit)
}

// sanitary holds for what nearly every path and id is made of: Sanitize would
// give it back as it is.
func sanitary(text string) bool {
	last := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == last && (c == ' ' || c == '#') {
			return false
		}
		last = c
	}
	return (text == "" || text[0] != ' ' && last != ' ') && !strings.HasPrefix(text, "::")
}

// head keeps the first bytes of a text that is far longer than what is wanted.
func head(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "") + "..."
}

// visible spells out what has no picture.
func visible(text string) string {
	var out strings.Builder
	for i, c := range text {
		switch {
		case c == utf8.RuneError && text[i] != "\uFFFD"[0]:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case unicode.IsSpace(c):
			out.WriteByte(' ')
		case c < 0x80 && unicode.IsControl(c):
			fmt.Fprintf(&out, `\x%02x`, c)
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// disarm breaks what a CI runner would take for a command: "##[name]" anywhere
// in a line, "::name" after the blanks at its start.
func disarm(line string) string {
	line = command.ReplaceAllString(line, "# #$1")
	text := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(text, "::") {
		return line
	}
	rest := strings.TrimLeft(text, ":")
	colons := strings.Repeat(": ", len(text)-len(rest))
	return line[:len(line)-len(text)] + strings.TrimSuffix(colons, " ") + rest
}

// cutEnd keeps the beginning of a text, cutMiddle its ends: of a message the
// first words tell most, of an id the file and the last name.
func cutEnd(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	if limit <= 3 {
		return string(runes[:limit])
	}
	return strings.TrimRight(string(runes[:limit-3]), " ") + "..."
}

func cutMiddle(text string, limit int) string {
	runes := []rune(text)
	if limit <= 0 || len(runes) <= limit {
		return text
	}
	if limit < 8 {
		return cutEnd(text, limit)
	}
	before := (limit - 3) / 2
	return string(runes[:before]) + "..." + string(runes[len(runes)-(limit-3-before):])
}
