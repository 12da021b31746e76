package junit

import (
	"regexp"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

var (
	assertion = regexp.MustCompile(`(?i)assert|ExpectationNotMet|ComparisonFailure|ExpectationFailed|MatcherError|AssertionFailed`)
	exception = regexp.MustCompile(`(?:Error|Exception|Throwable)$`)
	timedOut  = regexp.MustCompile(`(?i)TimeoutException|TestTimedOut|timed out after|Timeout of \d+ ?ms exceeded|testTimeoutFailure`)
)

// absent are the words in which compilers and interpreters say that a name is
// not there; the first group is the name.
var absent = []*regexp.Regexp{
	regexp.MustCompile(`(?:^|[\s:.(])(?:\(0 ?, ?)?(?:[\w$]+(?:\([^()]*\))?\.)*([A-Za-z_$][\w$]*)(?:\([^()]*\))?\)? is not (?:a function|a constructor)`),
	regexp.MustCompile(`([\w$]+) is not defined`),
	regexp.MustCompile(`does not provide an export named '?([\w$]+)`),
	regexp.MustCompile(`has no attribute '(\w+)'`),
	regexp.MustCompile(`cannot import name '(\w+)'`),
	regexp.MustCompile(`NoSuch(?:Method|Field)Error: (?:.*[.: ])?([\w$]+)(?:\(|$)`),
	regexp.MustCompile(`symbol:\s+(?:method|variable|class|constructor)\s+([\w$]+)`),
	regexp.MustCompile("undefined (?:local variable or )?method [`']([\\w?!=]+)'"),
	regexp.MustCompile(`uninitialized constant (?:\w+::)*(\w+)`),
	regexp.MustCompile(`Call to undefined (?:function|method) (?:[\w\\]+::)?([\w\\]+)\(`),
	regexp.MustCompile(`Undefined constant "?(?:[\w\\]+::)?(\w+)`),
	regexp.MustCompile(`Class "(?:[\w\\]+\\)?(\w+)" not found`),
	regexp.MustCompile(`does not contain a definition for '(\w+)'`),
	regexp.MustCompile("cannot find (?:function|type|value|macro|struct)[^`]*`(\\w+)`"),
	regexp.MustCompile("no (?:method|function or associated item|field)[^`]* (?:named )?`(\\w+)`"),
	regexp.MustCompile(`Undefined subroutine &(?:\w+::)*(\w+)`),
	regexp.MustCompile(`Can't locate object method "(\w+)"`),
}

// Missing are the names that the words say are not there.
func Missing(text string) []gate.Missing {
	var found []gate.Missing
	for _, re := range absent {
		if m := re.FindStringSubmatch(text); m != nil {
			found = append(found, gate.Missing{Name: m[1][strings.LastIndexByte(m[1], '\\')+1:]})
		}
	}
	return found
}

// TimedOut holds for words that tell of a test's own time limit.
func TimedOut(text string) bool { return timedOut.MatchString(text) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
