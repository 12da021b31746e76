package gotest

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 300

// clean makes text of tests fit for a message: one line, no control characters,
// valid UTF-8, bounded.
func clean(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return ' '
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage - len("…")
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return strings.Clone(text[:cut]) + "…"
}

var (
	logged     = regexp.MustCompile(`(?m)^\s*([\w./\\-]+\.go):(\d+): (.*(?:\n {8,}.*)*)`)
	frameLines = regexp.MustCompile(`(?m)^\s*\x16?(=== (RUN|PAUSE|CONT|NAME)|--- (PASS|FAIL|SKIP|BENCH)).*\n?`)
	address    = regexp.MustCompile(`0x[0-9a-f]{6,}`)
)

// steady takes what changes from run to run out of a name.
func steady(name string) string {
	if !strings.Contains(name, "0x") {
		return name
	}
	return address.ReplaceAllString(name, "0x_")
}

// account is what a test said before it failed or was skipped.
type account struct {
	message string
	file    string // as printed, usually a bare name
	line    int
}

// explain reads a test's own output. Of many logged lines the last one counts,
// since Fatal and the like end a test; of a few, the first.
func explain(output string) *account {
	output = frameLines.ReplaceAllString(output, "")
	found := logged.FindAllStringSubmatch(output, -1)
	if found == nil {
		return &account{message: clean(output)}
	}
	telling := found[0]
	if len(found) > 3 {
		telling = found[len(found)-1]
	}
	line, _ := strconv.Atoi(telling[2])
	return &account{message: clean(telling[3]), file: strings.Clone(telling[1]), line: line}
}
