package pytest

import (
	"fmt"
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// The exit statuses that pytest documents and that are read here.
const (
	exitOK        = 0
	exitNoneFound = 5
)

// broken holds for a run that did not come to its end.
func (h heard) broken() bool { return !h.ended || h.interrupted != "" }

// unfinished are the rows that a broken run left in the middle.
func (h heard) unfinished() []string {
	if !h.broken() {
		return nil
	}
	return h.running()
}

// killers are the rows that a run's end, or that of a worker, is put down to.
// A row that had been running for less than the given time when the run's time
// was up is none of them: the rows before it took it.
func (h heard) killers(least time.Duration) []string {
	switch {
	case !h.broken():
		return h.crashed
	case !h.exit.TimedOut:
		return h.running()
	}
	return slices.DeleteFunc(h.running(), func(id string) bool { return h.ran(id) < least && len(h.phases) > 0 })
}

// contradiction says how the exit status belies the records, "" when it does
// not. Only a claim that all went well can deceive: a red exit over green rows
// is a coverage threshold or a bad ending, and the rows stand.
func (h heard) contradiction() string {
	if h.exit.Code != exitOK || !h.ended {
		return ""
	}
	if h.status != exitOK {
		return fmt.Sprintf("%s ended its run with status %d, and the process exited with 0", h.framework, h.status)
	}
	if h.singing > 0 {
		return h.framework + " exited with 0 although a test of the gate's that must fail did"
	}
	for id := range h.phases {
		switch o := h.last(id); o.Outcome {
		case gate.Failed, gate.TimedOut:
			return fmt.Sprintf("%s exited with 0 although %s failed", h.framework, id)
		case gate.Errored:
			if o.Reason == gate.Setup {
				return fmt.Sprintf("%s exited with 0 although %s had an error", h.framework, id)
			}
		}
	}
	return ""
}

// silence is the observation of what was asked and not answered, in a run that
// nothing else explains.
func (h heard) silence() gate.Observation {
	switch {
	case h.exit.TimedOut:
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: h.framework + " did not come to its tests in time"}
	case h.collectOnly:
		return noReport("pytest only collected: --collect-only is among its options")
	case h.internal != "":
		return noReport("%s failed itself: %s", h.framework, h.internal)
	case h.interrupted != "":
		return noReport("the run was broken off: %s", h.interrupted)
	case len(h.order) > 0 && h.ended:
		return noReport("collected, and left no report")
	case !h.began:
		return noReport("%s did not load the observer and ended %s: %s", h.framework, h.exit, h.words)
	}
	return noReport("%s left no report and ended %s: %s", h.framework, h.exit, h.words)
}
