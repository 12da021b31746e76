package ctest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

var (
	gtestAt    = lazyregexp.New(`(?m)^(/?[^\s:(]+):(\d+): (?:Failure|FAILED|ERROR|error|FATAL)`)
	catchAt    = lazyregexp.New(`(?m)^(/?[^\s:(]+)[:(](\d+)\)?:(.*)$`)
	unityAt    = lazyregexp.New(`(?m)^(/?[^\s:(]+):(\d+):\w+:FAIL\b.*$`)
	unityGreen = lazyregexp.New(`^\w+:(?:PASS|IGNORE)\b`)
	threw      = lazyregexp.New(`C\+\+ exception|unexpected exception|THREW exception|terminate called after throwing|threw an exception|unknown file: Failure`)
	inSetUp    = lazyregexp.New(`thrown in SetUp|thrown in the test fixture's constructor|SetUpTestSuite`)
	fatal      = lazyregexp.New(`(?i)segfault|SIGSEGV|SIGABRT|SIGFPE|SIGILL|SIGBUS|Subprocess (?:aborted|killed)|Child (?:aborted|killed)|bus_error|illegal|numerical|Exception`)
	asserted   = lazyregexp.New("Assertion [`'].*' failed")
	notRun     = lazyregexp.New(`(?i)Unable to find|Could not find|Missing|Fixture|Not Run`)
	failedBy   = lazyregexp.New(`^\s+(\d+) - .* \(([^()]*)\)(?:\s.*)?$`)
	firstWords = lazyregexp.New(`(?m)^.*(?:: Failure|FAILED:|ERROR:|Assertion .*failed|what\(\):).*\n?.*\n?.*\n?.*$`)
)

// outcome is what ctest's report and the program's words say of a test.
func (s *session) outcome(c junit.Case, way string) gate.Observation {
	all := c.Attempts()
	o := all[len(all)-1]
	if o.Outcome == gate.Skipped && notRun.MatchString(o.Message) {
		return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: o.Message}
	}
	if o.Outcome == gate.Passed || o.Outcome == gate.Skipped {
		return o
	}
	p := c.Problems[len(c.Problems)-1]
	o.Outcome, o.Reason, o.Missing = gate.Failed, gate.Assertion, nil
	words := p.Text
	at, printed := s.failedAt(words)
	o.Place, o.Message = at, gate.Message(strings.ReplaceAll(saidOf(words, way), printed, cmp.Or(at.File, printed)))
	switch {
	case strings.Contains(way, "Timeout"):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case asserted.MatchString(words):
	case inSetUp.MatchString(words):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case threw.MatchString(words):
		o.Reason = gate.Exception
	case fatal.MatchString(way) || strings.Contains(words, "fatal error condition") || strings.Contains(words, "FATAL ERROR: test case CRASHED"):
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
	}
	return o
}

// saidOf is what a program says of its failure: the first failed expectation that it
// prints, else the end of what it printed.
func saidOf(words, way string) string {
	for _, re := range []*lazyregexp.Regexp{unityAt, firstWords} {
		if m := re.FindString(words); m != "" {
			return m
		}
	}
	return strings.TrimSpace(way + " " + lastLines(words))
}

// failedAt is the first place of the repository at which a program says that it
// failed, and its file as the program prints it, which may begin with the state's
// directory. Unity prints the places of tests that passed alike.
func (s *session) failedAt(words string) (at gate.Place, printed string) {
	for _, re := range []*lazyregexp.Regexp{gtestAt, unityAt, catchAt} {
		for _, m := range re.FindAllStringSubmatch(words, -1) {
			if len(m) > 3 && unityGreen.MatchString(m[3]) {
				continue
			}
			if at := s.placeOf(m[1], m[2]); at.File != "" {
				return at, m[1]
			}
		}
	}
	return gate.Place{}, ""
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " ")
}

// placeOf makes a path that a program prints one of the repository.
func (s *session) placeOf(file, line string) gate.Place {
	n, _ := strconv.Atoi(line)
	for part := file; part != ""; {
		if _, found := slices.BinarySearch(s.state.Tree().Paths(), part); found {
			return gate.Place{File: part, Line: n}
		}
		_, rest, ok := strings.Cut(part, "/")
		if !ok {
			break
		}
		part = rest
	}
	return gate.Place{}
}
