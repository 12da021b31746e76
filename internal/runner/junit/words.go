package junit

import (
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	assertion = lazyregexp.New(`(?i)assert|ExpectationNotMet|ComparisonFailure|ExpectationFailed|MatcherError|AssertionFailed`)
	exception = lazyregexp.New(`(?:Error|Exception|Throwable)$`)
	cause     = lazyregexp.New(`(?m)^ *cause: (\w+)`)
	nodeKind  = lazyregexp.New(`^(?:testCodeFailure|uncaughtException|unhandledRejection)$`)
	spoken    = lazyregexp.New(`^((?:\w+\.)*[A-Z]\w*(?:Error|Exception)): `)
	inSetUp   = lazyregexp.New(`^(?:hookFailed|cancelledByParent)$|^failed on (?:setup|teardown) with `)
	notLoaded = lazyregexp.New(`(?:^|\.)(?:ModuleNotFoundError|ImportError|LoadError)$`)
	timedOut  = lazyregexp.New(`(?i)TimeoutException|TestTimedOut|timed out after|Timeout of \d+ ?ms exceeded|testTimeoutFailure`)
)

// absent are the words in which compilers and interpreters say that a name is
// not there; the first group is the name.
var absent = []*lazyregexp.Regexp{
	lazyregexp.New(`(?:^|[\s:.(])(?:\(0 ?, ?)?(?:[\w$]+(?:\([^()]*\))?\.)*([A-Za-z_$][\w$]*)(?:\([^()]*\))?\)? is not (?:a function|a constructor)`),
	lazyregexp.New(`([\w$]+) is not defined`),
	lazyregexp.New(`does not provide an export named '?([\w$]+)`),
	lazyregexp.New(`has no attribute '(\w+)'`),
	lazyregexp.New(`got an unexpected keyword argument '(\w+)'`),
	lazyregexp.New(`No module named '([\w.]+)'`),
	lazyregexp.New(`cannot load such file -- (?:\S*/)?([\w-]+)`),
	lazyregexp.New(`Cannot find (?:module|package) '(?:[^']*/)?([^/'.]+)[^/']*'`),
	lazyregexp.New(`cannot import name '(\w+)'`),
	lazyregexp.New(`NoSuch(?:Method|Field)Error: (?:.*[.: ])?([\w$]+)(?:\(|$)`),
	lazyregexp.New(`symbol:\s+(?:method|variable|class|constructor)\s+([\w$]+)`),
	lazyregexp.New("undefined (?:local variable or )?method [`']([\\w?!=]+)'"),
	lazyregexp.New(`uninitialized constant (?:\w+::)*(\w+)`),
	lazyregexp.New(`Call to undefined (?:function|method) (?:[\w\\]+::)?([\w\\]+)\(`),
	lazyregexp.New(`Undefined constant "?(?:[\w\\]+::)?(\w+)`),
	lazyregexp.New(`Class "(?:[\w\\]+\\)?(\w+)" not found`),
	lazyregexp.New(`does not contain a definition for '(\w+)'`),
	lazyregexp.New("cannot find (?:function|type|value|macro|struct)[^`]*`(\\w+)`"),
	lazyregexp.New("no (?:method|function or associated item|field)[^`]* (?:named )?`(\\w+)`"),
	lazyregexp.New(`Undefined subroutine &(?:\w+::)*(\w+)`),
	lazyregexp.New(`Can't locate object method "(\w+)"`),
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
