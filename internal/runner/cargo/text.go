package cargo

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
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

func (t *tail) String() string { return t.buffer.String() }

// progress are lines that cargo prints of its own doing.
var progress = regexp.MustCompile(`^\s*(?:Compiling|Finished|Running|Doc-tests|Blocking|Executable|Fresh|Checking|Locking|Adding|Updating|Downloading|Downloaded|warning:|note:|Caused by:|error: test failed|error: doctest failed|To rerun)`)

// own leaves out cargo's lines of progress and keeps the last ones of the rest.
func own(text string, n int) string {
	var kept []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !progress.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-n):], " ")
}

// firstError is the sentence of the first error that cargo printed, with its
// cause; "" for none.
func firstError(text string) string {
	at := strings.Index("\n"+text, "\nerror")
	if at < 0 {
		return ""
	}
	lines := strings.Split(text[at:], "\n")
	return strings.Join(lines[:min(len(lines), 8)], " ")
}
