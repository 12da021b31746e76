package dotnet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// absorb enters what a run said of the units: methods with several results become
// a row with parts.
func (s *session) absorb(units []string, h *heard) {
	byRow := make(map[string][]trxResult)
	for _, r := range h.report.Results {
		if m := cleanUp.FindStringSubmatch(r.Name); m != nil && len(byRow[m[1]]) > 0 { // told after the tests that it is about
			r.Message = "setup: " + r.Name + " " + r.Message
			r.Outcome, r.Name = "NotRunnable", byRow[m[1]][0].Name
			byRow[m[1]] = append(byRow[m[1]], r)
			continue
		}
		if r.Class != "" {
			byRow[r.Class+"."+r.Method] = append(byRow[r.Class+"."+r.Method], r)
		}
	}
	for _, unit := range units {
		for _, d := range s.wanted(unit) {
			if results := byRow[d.row.ID]; len(results) > 0 {
				s.enter(d, results)
			}
		}
	}
}

var cleanUp = lazyregexp.New(`^\[Test \w+ Cleanup Failure \((.+)\)\]$`)

// enter records a method. Results of one name are of several target frameworks,
// or of its class's clean-up: the method must stand in each.
func (s *session) enter(d declared, results []trxResult) {
	var names []string
	said := make(map[string]gate.Observation)
	total := gate.Observation{Outcome: gate.Skipped}
	for _, r := range results {
		o := r.observation(s.root, d.row)
		name := partName(d.row, r)
		if before, known := said[name]; known {
			o = stronger(before, o)
		} else {
			names = append(names, name)
		}
		said[name], total = o, stronger(total, o)
	}
	if len(names) == 1 && (names[0] == "" || !d.many) {
		s.add(d.row, said[names[0]])
		return
	}
	s.add(d.row, total)
	for _, name := range names {
		part := d.row
		part.Parent, part.ID, part.Name = d.row.ID, d.row.ID+name, d.row.Name+name
		s.add(part, said[name])
	}
}

// partName is what tells a result from the others of its method: "(1, 2)", or the
// name that the test gives itself.
func partName(row gate.Row, r trxResult) string {
	name := strings.TrimPrefix(strings.TrimPrefix(r.Name, strings.TrimSuffix(row.ID, row.Name)), row.Name)
	if name = strings.TrimSpace(name); name == "" || strings.HasPrefix(name, "(") {
		return name
	}
	return " [" + name + "]"
}

// stronger is the observation that says more against a test.
func stronger(a, b gate.Observation) gate.Observation {
	rank := func(o gate.Observation) int {
		return slices.Index([]gate.Outcome{gate.Skipped, gate.Passed, gate.Failed, gate.Errored, gate.TimedOut, gate.Crashed}, o.Outcome)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// settle speaks of what a whole run did not tell of, and holds dotnet's exit
// status against the rows.
func (s *session) settle(units []string, h *heard) {
	red := slices.ContainsFunc(h.report.Results, func(r trxResult) bool { return !slices.Contains(green, r.Outcome) })
	if len(h.report.Results) > 0 && (h.code == 0) == red {
		o := gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("dotnet test exited with %d, which its report does not bear out (%s)", h.code, strings.Join(append(h.report.Errors, h.tail), " ")))}
		for i := range s.result.Rows {
			if slices.Contains(units, s.result.Rows[i].Row.Unit) && s.result.Rows[i].Observations[0].Reason != gate.Compile {
				s.result.Rows[i].Observations = []gate.Observation{o}
			}
		}
		return
	}
	for _, unit := range units {
		open := s.open(unit)
		heard := slices.ContainsFunc(s.result.Rows, func(o gate.Observed) bool {
			return o.Row.Unit == unit && o.Observations[0].Reason != gate.Compile
		})
		switch {
		case len(open) == 0:
		case h.broken != nil:
			s.fail(unit, silence(h.broken.Error()))
		case heard && h.report.Runs > 0:
			for _, d := range open {
				s.add(d.row, gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the project leaves it out"})
			}
		default:
			s.fail(unit, silence("dotnet test ran no test of it: "+h.tail))
		}
	}
}

var green = []string{"Passed", "Completed", "Warning", "PassedButRunAborted", "NotExecuted", "Inconclusive", "Pending"}

func silence(words string) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(words)}
}

// died holds for a command that never came to its end, or whose test host did not.
func (h *heard) died() bool {
	return h.code < 0 || h.exit.TimedOut || slices.ContainsFunc(append(h.report.Errors, h.tail), func(words string) bool {
		return strings.Contains(words, "Test host process crashed") || strings.Contains(words, "active test run was aborted")
	})
}

func (h *heard) death() gate.Observation {
	if h.exit.TimedOut {
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "still running at the time limit"}
	}
	return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall, Message: gate.Message("its process ended in the middle of it: " + strings.Join(append(slices.Clone(h.report.Errors), h.tail), " "))}
}

// takenWith is why a row was taken out.
func (s *session) takenWith(row gate.Row) (gate.Observation, bool) {
	source := s.projects.source(row.File)
	if source == nil {
		return gate.Observation{}, false
	}
	for _, m := range source.At(source.Offset(row.Line, 1)) {
		if o, out := s.left.Why(row.File, m); out {
			return o, true
		}
	}
	chain := source.At(source.Offset(row.End, 1))
	if len(chain) > 0 {
		return s.left.Why(row.File, chain[len(chain)-1])
	}
	return gate.Observation{}, false
}

func (s *session) add(row gate.Row, o gate.Observation) {
	if s.answered[row.ID] {
		return
	}
	s.answered[row.ID] = true
	row.Runner = s.Name()
	if len(s.batch.Rows) > 0 && !slices.Contains(s.batch.Rows, row.ID) && !slices.Contains(s.batch.Rows, row.Parent) {
		return
	}
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: []gate.Observation{o}})
	if s.batch.Seen != nil {
		s.batch.Seen(row.ID, o.Outcome)
	}
}

func (s *session) fail(unit string, o gate.Observation) {
	s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
}
