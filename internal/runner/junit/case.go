package junit

import (
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Case is one <testcase> of a JUnit report.
type Case struct {
	Suite, Class, Name, File string
	Line                     int           // 0 when the report does not say
	Took                     time.Duration // 0 when the report does not say
	Problems                 []Problem     // in the order of the report
	Report                   string        // the path that the last Mark before it gave
}

// Problem is what a test case holds besides its output.
type Problem struct {
	Tag           string // failure, error, skipped, flakyFailure, ...
	Kind          string // the type attribute: an exception's class
	Message, Text string
}

func seconds(text string) time.Duration {
	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || value < 0 || value > 1e6 {
		return 0
	}
	return time.Duration(value * float64(time.Second))
}

// Attempts are a case's observations, oldest first: Surefire writes the runs
// that failed before the one that counts. A test that is still to be done may fail.
func (c Case) Attempts() []gate.Observation {
	last := gate.Observation{Outcome: gate.Passed}
	var before []gate.Observation
	for _, p := range c.Problems {
		switch p.Tag {
		case "skipped":
			last = gate.Observation{Outcome: gate.Skipped, Message: gate.Message(p.Words())}
			if p.Kind == "todo" {
				last.Duration = c.Took
				return append(before, last)
			}
		case "failure", "error", "warning":
			if last.Outcome == gate.Passed || last.Outcome == gate.Skipped {
				last = p.Observation()
			}
		default:
			before = append(before, p.Observation())
		}
	}
	last.Duration = c.Took
	return append(before, last)
}

// Words are what it says for people.
func (p Problem) Words() string {
	if p.Message != "" {
		return p.Message
	}
	return p.Text
}

// kind is the exception's class: the type that the report gives, the cause inside
// what node:test makes of it, or what the message of a tool without types begins with.
func (p Problem) kind() string {
	if m := cause.FindStringSubmatch(p.Text); m != nil && nodeKind.MatchString(p.Kind) {
		return m[1]
	}
	if m := spoken.FindStringSubmatch(p.Message); m != nil && p.Kind == "" {
		return m[1]
	}
	return p.Kind
}

// Observation is what a failure or an error comes to.
func (p Problem) Observation() gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message(p.Words())}
	all, kind := p.Kind+"\n"+p.Message+"\n"+p.Text, p.kind()
	switch {
	case timedOut.MatchString(p.Kind + "\n" + p.Message):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case inSetUp.MatchString(p.Kind) || p.Kind == "" && inSetUp.MatchString(p.Message):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case p.Tag == "error" && p.Message == "collection failure": // pytest's
		o.Outcome, o.Reason = gate.Errored, gate.Import
		if strings.Contains(p.Text, "SyntaxError") {
			o.Reason = gate.Compile
		}
	case notLoaded.MatchString(kind) || strings.Contains(p.Text, "code: 'MODULE_NOT_FOUND'"):
		o.Outcome, o.Reason = gate.Errored, gate.Import
	case assertion.MatchString(kind) || assertion.MatchString(firstLine(p.Text)), p.Tag == "failure" && !exception.MatchString(kind):
		o.Reason = gate.Assertion
	}
	if o.Reason == gate.Exception || o.Reason == gate.Import {
		o.Missing = Missing(all)
	}
	return o
}
