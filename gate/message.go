package gate

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// maxMessage bounds an Observation's message, in bytes.
const maxMessage = 300

var escapes = lazyregexp.New("\x1b\\[[0-9;?]*[A-Za-z]")

// Message makes text that came out of a test fit for Observation.Message: one
// line of valid UTF-8 without control characters, of at most 300 bytes.
func Message(text string) string {
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
			return -1
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage - len("…")
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not inside a rune
		cut--
	}
	return strings.Clone(text[:cut]) + "…"
}

// String says how a command ended: "it ended" and this.
func (e Exit) String() string {
	switch {
	case e.TimedOut:
		return "at the time limit"
	case e.Limit != "":
		return "at the limit on " + e.Limit
	case e.Signal != "":
		return "by " + e.Signal
	}
	return fmt.Sprintf("with exit status %d", e.Code)
}

// Tail is a writer that keeps the last 16 to 32 KiB of what a process prints,
// for people.
type Tail struct{ buffer bytes.Buffer }

const tailSize = 16 << 10

func (t *Tail) Write(p []byte) (int, error) {
	t.buffer.Write(p[max(0, len(p)-tailSize):])
	if over := t.buffer.Len() - tailSize; over > tailSize {
		t.buffer.Next(over)
	}
	return len(p), nil
}

// String is what was kept.
func (t *Tail) String() string { return t.buffer.String() }

// Lines returns the last n lines that say something, joined by blanks. Rulers
// (=====) and the frames of a stack say nothing.
func (t *Tail) Lines(n int) string {
	var kept []string
	for line := range strings.Lines(t.buffer.String()) {
		if line = strings.TrimSpace(line); strings.Trim(line, "=-_ ") != "" && !isFrame(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-n):], " ")
}

// isFrame holds for a line of a stack as JavaScript and Java print them, which
// comes after what was thrown.
func isFrame(line string) bool {
	place, is := strings.CutPrefix(line, "at ")
	return is && (strings.HasSuffix(place, ")") || strings.HasSuffix(strings.TrimRight(place, "0123456789"), ":"))
}
