package javascript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// broken holds for a unit whose run did not come to its end.
func (h heard) broken(unit string) bool {
	if end, ran := h.exits[unit]; ran && h.perFile {
		return end.Signal != "" || !h.done[unit] || !h.finished[unit]
	}
	return !h.ended && !h.done[unit] || h.died[unit]
}

// contradiction says how the exit status belies a unit's records, "" when it
// does not. Only a claim that all went well can deceive: a red exit over green
// rows is a coverage threshold or a bad ending, and the rows stand.
func (h heard) contradiction(unit string) string {
	code := h.exit.Code
	if h.exited != nil {
		code = h.exited.Code
	}
	if end, own := h.exits[unit]; own && h.perFile {
		code = end.Code
	}
	if code != 0 {
		return ""
	}
	for _, row := range h.rows {
		if row.unit == unit && row.over && row.results[len(row.results)-1].Outcome == "failed" {
			return fmt.Sprintf("the process exited with 0 although %s failed", plainID(unit, row.path))
		}
	}
	return ""
}

// death is the observation of whatever was going on when the process ended.
func (h heard) death(unit string) gate.Observation {
	o := gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall}
	end, own := h.exits[unit]
	switch {
	case h.exit.TimedOut:
		o.Outcome, o.Reason, o.Message = gate.TimedOut, gate.Timeout, "still running at the time limit"
	case own && h.perFile:
		o.Message = gate.Message("the process ended in the middle of it " + ended(end))
	case h.exited != nil && !h.exit.TimedOut && h.exit.Limit == "":
		o.Message = gate.Message("the process ended in the middle of it " + ended(*h.exited))
	default:
		o.Message = gate.Message("the process ended in the middle of it " + h.exit.String())
	}
	return o
}

func ended(r record) string {
	if r.Signal != "" {
		return "by " + r.Signal
	}
	return fmt.Sprintf("with exit status %d", r.Code)
}

// silence is the observation of a unit that was asked and not answered, in a
// run that nothing else explains.
func (h heard) silence(unit string) gate.Observation {
	switch {
	case h.exit.TimedOut:
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "did not come to its tests in time"}
	case slices.Contains(h.started, unit) && h.broken(unit):
		return h.death(unit)
	case !h.began:
		return noReport("the observer was not loaded; it ended %s: %s", h.exit, h.words)
	}
	return noReport("it left no report and ended %s: %s", h.exit, h.words)
}

// unbuilt is the observation of every row when what comes before the tests
// failed.
func (c *call) unbuilt(h heard) gate.Observation {
	said := strings.Join(h.stepLines, "\n")
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message("building with " + h.stepFailed.Message + " failed: " + firstLine(said, h.words))}
	o.Missing = c.reader.missing(failure{Message: said}, false)
	return o
}

func firstLine(said, otherwise string) string {
	if line, _, _ := strings.Cut(said, "\n"); line != "" {
		return line
	}
	return otherwise
}

func noReport(format string, args ...any) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(fmt.Sprintf(format, args...))}
}
