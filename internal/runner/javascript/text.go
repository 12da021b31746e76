package javascript

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/touchstone-gate/touchstone/gate"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 300

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// clean makes text of tests fit for a message: one line, no control characters,
// valid UTF-8, bounded.
func clean(text string) string {
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
	return text[:cut] + "…"
}

// how says how a process ended: "it ended" and this.
func how(exit gate.Exit) string {
	switch {
	case exit.TimedOut:
		return "at the time limit"
	case exit.Limit != "":
		return "at the limit on " + exit.Limit
	case exit.Signal != "":
		return "by " + exit.Signal
	}
	return fmt.Sprintf("with exit status %d", exit.Code)
}

// tail keeps the last kilobytes of what a process prints.
type tail struct{ buffer bytes.Buffer }

const tailSize = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buffer.Write(p[max(0, len(p)-tailSize):])
	if over := t.buffer.Len() - tailSize; over > tailSize {
		t.buffer.Next(over)
	}
	return len(p), nil
}

// lines returns the last lines that say something, joined.
func (t *tail) lines(n int) string {
	var kept []string
	for line := range strings.Lines(t.buffer.String()) {
		if line = strings.TrimSpace(line); strings.Trim(line, "=-_ ") != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-n):], " ")
}
