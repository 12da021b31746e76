package gotest

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/touchstone-gate/touchstone/gate"
)

// maxMessage bounds a message, in bytes.
const maxMessage = 300

// clean makes text of tests fit for a message: one line, no control characters,
// valid UTF-8, bounded.
func clean(text string) string {
	text = strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' || c == '\r' {
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
	cut := maxMessage
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

var (
	logged     = regexp.MustCompile(`(?m)^\s*([\w./\\-]+\.go):(\d+): (.*(?:\n {8,}.*)*)`)
	panicked   = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)
	frame      = regexp.MustCompile(`(?m)^\t(/.+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	timedOut   = regexp.MustCompile(`(?m)^panic: test timed out after (\S+)$`)
	running    = regexp.MustCompile(`(?m)^\t\t(\S.*) \(\S+\)$`)
	address    = regexp.MustCompile(`0x[0-9a-f]{6,}`)
	frameLines = regexp.MustCompile(`(?m)^\x16?(=== (RUN|PAUSE|CONT|NAME)|\s*--- (PASS|FAIL|SKIP|BENCH)).*\n?`)
)

// steady takes what changes from run to run out of a name.
func steady(name string) string { return address.ReplaceAllString(name, "0x_") }

// failure reads why a test failed out of its own output.
func failure(output, dir string) gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Assertion}
	if found := panicked.FindStringSubmatch(output); found != nil {
		o.Reason = gate.Exception
		o.Message = clean("panic: " + strings.TrimSuffix(found[1], " [recovered]"))
		o.Place = innermost(output, dir)
		return o
	}
	output = frameLines.ReplaceAllString(output, "")
	if found := logged.FindAllStringSubmatch(output, -1); found != nil {
		last := found[len(found)-1] // Fatal and require end a test: the last words are the reason
		if len(found) <= 3 {
			last = found[0]
		}
		line, _ := strconv.Atoi(last[2])
		o.Place = gate.Place{File: path.Join(dir, path.Base(last[1])), Line: line}
		o.Message = clean(last[3])
		return o
	}
	o.Message = clean(output)
	return o
}

// innermost is the first frame of a goroutine dump in the package's directory
// or below it, else the first in any file that is not the toolchain's.
func innermost(output, dir string) gate.Place {
	for _, found := range frame.FindAllStringSubmatch(output, -1) {
		if i := strings.LastIndex(found[1], "/"+dir+"/"); dir != "." && i >= 0 {
			line, _ := strconv.Atoi(found[2])
			return gate.Place{File: found[1][i+1:], Line: line}
		}
	}
	return gate.Place{}
}
