package tells

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// rule is one tell. It looks at one added line at a time, or, with across, at a
// run of added lines.
type rule struct {
	id    string
	words string // what the line does, after "this change adds"
	line  map[string]*lazyregexp.Regexp
	// across finds a tell that spans lines; the first group's start is its place.
	across map[string]*lazyregexp.Regexp
	// also is asked about a line that nothing matched; nil says no.
	also func(language, line string) bool
}

func re(text string) *lazyregexp.Regexp { return lazyregexp.New(text) }

// The languages, by the names that languageOf gives.
const (
	python     = "python"
	golang     = "go"
	javascript = "javascript"
	rust       = "rust"
)

var rules = []rule{
	{
		id: "added-skip", words: "a skip: what it skips proves nothing",
		line: map[string]*lazyregexp.Regexp{
			python:     re(`@(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail|importorskip)\(|@unittest\.(?:skip|expectedFailure)|\bself\.skipTest\(`),
			golang:     re(`\b[tbf]\.Skip(?:f|Now)?\(`),
			javascript: re(`\b(?:it|test|describe|suite|context)\.(?:skip|todo|failing)\b|(?:^|\s)x(?:it|test|describe)\(`),
			rust:       re(`#\[ignore\b`),
		},
	},
	{
		id: "focus-mark", words: "a focus mark: the other tests of its file no longer run",
		line: map[string]*lazyregexp.Regexp{
			javascript: re(`\b(?:it|test|describe|suite|context)\.only\b|(?:^|\s)f(?:it|describe)\(`),
		},
	},
	{
		id: "swallowed-assertion", words: "a handler that swallows the failure of an assertion",
		line: map[string]*lazyregexp.Regexp{
			python: re(`\bexcept\s+\(?[^:]*\bAssertionError\b|\bsuppress\([^)]*\b(?:AssertionError|Exception|BaseException)\b`),
		},
		across: map[string]*lazyregexp.Regexp{
			python:     re(`(?m)^\s*try:[^\n]*\n(?:[^\n]*\n)*?[^\n]*\bassert\w*\b[^\n]*\n(?:[^\n]*\n)*?(\s*except(?:\s+(?:Base)?Exception\b[^:\n]*)?:\s*(?:pass|\.\.\.|\n\s*(?:pass|\.\.\.|return)\s*$))`),
			javascript: re(`(?s)\btry\s*\{[^{}]*\b(?:expect|assert\w*)\b[^{}]*\}\s*(catch\s*(?:\([^)]*\))?\s*\{\s*\})`),
		},
	},
	{
		id: "tautology", words: "an assertion that cannot fail",
		line: map[string]*lazyregexp.Regexp{
			python:     re(`^\s*assert\s+(?:True|1|not False|not None)\s*(?:,|#|$)|\bassertTrue\(\s*True\s*[,)]|\bassertFalse\(\s*False\s*[,)]`),
			golang:     re(`\b(?:assert|require)\.True\(\s*t\s*,\s*true\b|\b(?:assert|require)\.False\(\s*t\s*,\s*false\b|\bif\s+false\s*\{`),
			javascript: re(`\bexpect\(\s*true\s*\)\.(?:toBe|toEqual|toStrictEqual)\(\s*true\s*\)|\bexpect\(\s*(?:true|1)\s*\)\.toBeTruthy\(|\bassert(?:\.ok)?\(\s*true\s*\)`),
			rust:       re(`\bassert!\(\s*true\s*[,)]`),
		},
		also: comparesWithItself,
	},
	{
		id: "sleep-in-test", words: "a sleep: time decides what the test sees",
		line: map[string]*lazyregexp.Regexp{
			python:     re(`\b(?:time|asyncio)\.sleep\(\s*[^)\s]`),
			golang:     re(`\btime\.Sleep\(`),
			javascript: re(`\bsetTimeout\(\s*(?:r|res|resolve|done)\b|\bawait\s+(?:sleep|delay|wait)\(`),
			rust:       re(`\bthread::sleep\(|\btime::sleep\(`),
		},
	},
	{
		id: "reads-surroundings", words: "a look at git or the environment: the test can tell where it runs",
		line: map[string]*lazyregexp.Regexp{
			python:     re(`\bos\.environ(?:\.get\(|\[)[^=]*$|\bos\.getenv\(|["']git["']\s*,|["']git (?:log|rev-parse|diff|status|show)\b|["'][^"']*\.git/`),
			golang:     re(`\bos\.(?:Getenv|LookupEnv)\(|\bexec\.Command(?:Context)?\([^)]*"git"|"[^"]*\.git/`),
			javascript: re(`\bprocess\.env\.\w+(?:\s*[^=\s]|$)|["'\x60]git (?:log|rev-parse|diff|status|show)\b`),
			rust:       re(`\benv::var(?:_os)?\(|Command::new\("git"\)`),
		},
	},
}

// ofProduct reads the lines that a change adds to its production part.
var ofProduct = rule{
	id: "asks-for-tests", words: "production code that asks whether a test runs it: what tests see may not be what users get",
	line: map[string]*lazyregexp.Regexp{
		python:     re(`\bPYTEST_(?:CURRENT_TEST|VERSION)\b|["'](?:pytest|unittest)["']\s+(?:not\s+)?in\s+sys\.modules|\bsys\.modules(?:\.get\(|\[)\s*["'](?:pytest|unittest)["']`),
		golang:     re(`\btesting\.Testing\(\)|\bflag\.Lookup\("test\.|\bHasSuffix\(os\.Args\[0\],\s*"[._]test`),
		javascript: re(`\bNODE_ENV\b["'\]]*\s*[!=]==?\s*["']test["']|["']test["']\s*[!=]==?\s*process\.env\b|\benv\.(?:JEST_WORKER_ID|VITEST\w*|NODE_TEST_CONTEXT|AVA_PATH)\b|\btypeof\s+(?:jest|describe|it|vi)\s*[!=]==?`),
		rust:       re(`\bcfg!\(\s*(?:not\(\s*)?test\b|#\[cfg\(\s*not\(\s*test\s*\)`),
	},
}

var sides = map[string][]*lazyregexp.Regexp{
	python:     {re(`^\s*assert\s+([\w.\[\]()'"]+)\s*(?:==|is)\s*([\w.\[\]()'"]+)\s*(?:,|#|$)`), re(`\bassert(?:Equal|Is|CountEqual)\(\s*([\w.]+)\s*,\s*([\w.]+)\s*[,)]`)},
	golang:     {re(`\b(?:assert|require)\.(?:Equal|Same|EqualValues)\(\s*t\s*,\s*([\w.]+)\s*,\s*([\w.]+)\s*[,)]`), re(`\breflect\.DeepEqual\(\s*([\w.]+)\s*,\s*([\w.]+)\s*\)`)},
	javascript: {re(`\bexpect\(\s*([\w.]+)\s*\)\.(?:toBe|toEqual|toStrictEqual)\(\s*([\w.]+)\s*\)`), re(`\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual)\(\s*([\w.]+)\s*,\s*([\w.]+)\s*[,)]`)},
	rust:       {re(`\bassert_eq!\(\s*([\w.]+)\s*,\s*([\w.]+)\s*[,)]`)},
}

// comparesWithItself holds for an assertion that holds a value against itself.
// A call may give two answers, so it is not said to be one.
func comparesWithItself(language, line string) bool {
	for _, side := range sides[language] {
		if m := side.FindStringSubmatch(line); m != nil && m[1] == m[2] && !strings.Contains(m[1], "(") {
			return true
		}
	}
	return false
}

var mocks = map[string]*lazyregexp.Regexp{
	python:     re(`\bpatch\(\s*f?["'][\w.]*?(\w+)["']|\bpatch\.object\([^,]+,\s*["'](\w+)["']|\bsetattr\(\s*(?:[^,"']+,\s*["'](\w+)["']|["'][\w.]*?(\w+)["'])`),
	javascript: re(`\b(?:jest|vi|sinon|mock|sandbox)\.(?:spyOn|stub|replace|method)\([^,]+,\s*["'](\w+)["']`),
}

// mocked is the name that a line replaces by a mock, "" for none.
func mocked(language, line string) string {
	pattern := mocks[language]
	if pattern == nil {
		return ""
	}
	match := pattern.FindStringSubmatch(line)
	for i := len(match) - 1; i > 0; i-- {
		if match[i] != "" {
			return match[i]
		}
	}
	return ""
}
