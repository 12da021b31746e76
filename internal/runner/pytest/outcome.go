package pytest

import (
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// observations are a row's attempts, oldest first; several when a plugin ran
// the row again.
func (s *session) observations(id string) []gate.Observation {
	var attempts []gate.Observation
	var current []phase
	for _, p := range s.phases[id] {
		if p.when == "setup" && len(current) > 0 {
			attempts = append(attempts, attempt(current))
			current = nil
		}
		current = append(current, p)
	}
	if len(current) > 0 {
		attempts = append(attempts, attempt(current))
	}
	return attempts
}

// last is a row's last attempt, the one that pytest counts.
func (s *session) last(id string) gate.Observation {
	attempts := s.observations(id)
	if len(attempts) == 0 {
		return gate.Observation{}
	}
	return attempts[len(attempts)-1]
}

// attempt reads the phases of one attempt. The first that is red decides; a
// skipped part of a test does not skip the test.
func attempt(phases []phase) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "its call left no report"}
	decided := false
	var took time.Duration
	for _, p := range phases {
		took += p.took
		if decided || p.part && p.outcome != "failed" {
			continue
		}
		switch {
		case disguised(p):
			o, decided = contradicted(p), true
		case p.outcome == "passed" && p.when == "call":
			o = gate.Observation{Outcome: gate.Passed, Message: xpass(p)}
		case p.outcome == "skipped":
			o = gate.Observation{Outcome: gate.Skipped, Message: skipWords(p)}
		case p.outcome != "passed": // failed, and what plugins say instead: error, rerun
			o, decided = red(p), true
		}
	}
	o.Duration = took
	if name := reached(phases); name != "" {
		return onStandIn(name, o)
	}
	return o
}

func xpass(p phase) string {
	if p.xfail == nil {
		return ""
	}
	return "xpass"
}

func skipWords(p phase) string {
	if p.xfail == nil {
		return clean(p.skip)
	}
	return clean("xfail: " + strings.TrimPrefix(*p.xfail, "reason: "))
}

// disguised holds for a report that does not follow from whether the phase
// raised: a hook rewrote it. pytest itself reports a failure without an
// exception only for a pass that was not expected.
func disguised(p phase) bool {
	switch p.outcome {
	case "passed":
		return p.facts != nil
	case "failed":
		return p.facts == nil && !strings.HasPrefix(p.words, "[XPASS(strict)]") && !strings.HasPrefix(p.words, "Unexpected success")
	}
	return false
}

func contradicted(p phase) gate.Observation {
	words := "it raised nothing: " + p.words
	if p.facts != nil {
		words = "it raised " + p.facts.Message
	}
	return gate.Observation{
		Outcome: gate.Errored, Reason: gate.Inconsistent, Place: p.raised().place(),
		Message: clean("its report says " + p.outcome + " although " + words),
	}
}

// red reads a phase that failed. An exception of the code under test is a
// failure wherever it was called from, a fixture included. An import that fails inside the code under
// test is that code's own failure; in the test it only says that the test
// could not ask.
func red(p phase) gate.Observation {
	f := p.raised()
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: clean(f.Message), Place: f.place(), Missing: f.names()}
	switch {
	case p.when == "teardown":
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.Setup, clean("in teardown: "+f.Message+p.words)
	case p.when == "setup":
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.Setup, clean(f.Message+p.words)
		switch {
		case f.Import && !f.FromProduction:
			o.Reason = gate.Import
		case f.FromProduction && !f.Import && len(f.Missing) == 0: // the fixture asked the code under test, and that is how it answered
			o.Outcome, o.Reason, o.Message = gate.Failed, gate.Exception, clean("in set-up: "+f.Message)
		}
	case f.Type == "": // a pass that was not expected
		o.Reason, o.Message = gate.Assertion, clean(p.words)
	case strings.HasPrefix(f.Message, "Failed: Timeout "): // pytest-timeout
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case f.Assertion:
		o.Reason = gate.Assertion
	case f.Import && !f.FromProduction:
		o.Outcome, o.Reason = gate.Errored, gate.Import
	}
	return o
}

// notCollected is the observation of a file that could not be collected. A name
// that is missing at the top of a module is missing the way an import is.
func notCollected(f facts) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: clean(f.Message), Place: f.place(), Missing: f.names()}
	switch {
	case f.Syntax, strings.Contains(f.Type+f.Message, "ImportPathMismatch"), strings.Contains(f.Message, "import file mismatch"): // two files of one name: the suite cannot be collected as it stands
		o.Reason = gate.Compile
	case f.Import, len(f.Missing) > 0:
		o.Reason = gate.Import
	}
	return o
}

// leftOut is the observation of a file that is skipped as a whole, or that the
// suite tells pytest to ignore.
func leftOut(r record) gate.Observation {
	if r.LeftOut {
		return gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: clean(r.Message)}
	}
	return gate.Observation{Outcome: gate.Skipped, Message: clean(r.Message)}
}

// died is the observation of a row in which the process ended.
func (h heard) died(id string) gate.Observation {
	o := h.death()
	o.Duration = h.ran(id)
	if !h.broken() {
		o.Message = "the worker process died in the middle of it"
	}
	return o
}

// ran is how long a row had been running when the process ended.
func (h heard) ran(id string) time.Duration {
	waited := time.Duration((h.beginOf[id] - h.start) * float64(time.Second))
	return max(0, h.exit.Wall-max(0, waited))
}

// death is the observation of whatever was going on when the process ended.
func (h heard) death() gate.Observation {
	o := gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall}
	switch {
	case h.exit.TimedOut:
		o.Outcome, o.Reason, o.Message = gate.TimedOut, gate.Timeout, "still running at the time limit"
	case h.interrupted != "":
		o.Outcome, o.Reason, o.Message = gate.Errored, gate.Setup, clean("it broke off the whole run: "+h.interrupted)
	default:
		o.Message = clean("the process ended in the middle of it " + h.exit.String())
	}
	return o
}
