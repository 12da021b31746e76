package conformance

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// Subject is what is put to the test.
type Subject struct {
	// New makes the runner for a directory of the repository.
	New func(dir string, timeout time.Duration) gate.Runner
	// Prepare adds to the repository's directory what is not in it; may be nil.
	Prepare func(t *testing.T, dir string)
	// Absent says, of a result, which tool is missing for it; may be nil.
	Absent func(gate.Result) string
}

// Run runs a subject over the repository in a file and holds what it observes
// against the answers. It skips, with the reason, where the tool is missing.
func Run(t *testing.T, path string, s Subject) {
	t.Helper()
	repository, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if program, ok := repository.settings["need"]; ok {
		plainstate.Need(t, "sh", "-c", program)
	}
	if why, ok := repository.settings["heavy"]; ok {
		plainstate.Heavy(t, why)
	}
	state := plainstate.At(t, plainstate.Write(t, repository.Files))
	if s.Prepare != nil {
		s.Prepare(t, state.Dir())
	}
	a := &attempt{T: t, Repository: repository, state: state, runner: s.New(".", repository.Timeout()), subject: s, ran: make(map[string]gate.Observed), failed: make(map[string]bool)}
	a.answers()
	if !t.Failed() {
		a.listed()
		a.single()
		a.elsewhere()
	}
}

// attempt is one run of a subject.
type attempt struct {
	*testing.T
	*Repository
	state   *plainstate.State
	runner  gate.Runner
	subject Subject
	units   []string
	ran     map[string]gate.Observed
	failed  map[string]bool // units
	order   []string
}

// answers runs everything once. Units that the setting alone names run each in a
// batch of its own, as those whose focused tests would leave all others out.
func (a *attempt) answers() {
	units, err := a.runner.Units(context.Background(), a.state.Tree(), nil, true)
	if err != nil {
		a.Fatal(err)
	}
	a.units = units
	alone := func(unit string) bool { return slices.Contains(a.words("alone"), unit) }
	batches := [][]string{slices.DeleteFunc(slices.Clone(units), alone)}
	for _, unit := range units {
		if alone(unit) {
			batches = append(batches, []string{unit})
		}
	}
	var all gate.Result
	for _, batch := range batches {
		result := a.run(a.runner, gate.Batch{Units: batch})
		all.Rows, all.Units = append(all.Rows, result.Rows...), append(all.Units, result.Units...)
	}
	for _, row := range all.Rows {
		a.ran[row.Row.ID] = row
		a.order = append(a.order, row.Row.ID)
	}
	for _, u := range all.Units {
		a.failed[u.Unit] = true
	}
	a.compare(all)
}

func (a *attempt) run(r gate.Runner, batch gate.Batch) gate.Result {
	result, err := r.Run(context.Background(), a.state, batch)
	if err != nil {
		a.Fatal(err)
	}
	if a.subject.Absent != nil {
		if why := a.subject.Absent(result); why != "" {
			a.Skip(why)
		}
	}
	return result
}

// listed holds that a list names rows as their run does: those that it can name.
func (a *attempt) listed() {
	if a.settings["list"] != "" {
		return // the reason stands there
	}
	listed, err := a.runner.List(context.Background(), a.state, a.units)
	if err != nil {
		a.Fatal(err)
	}
	if len(listed.Rows) == 0 {
		a.Error("nothing is listed")
	}
	for _, o := range listed.Rows {
		ran, ok := a.ran[o.Row.ID]
		switch {
		case slices.ContainsFunc(o.Observations, func(o gate.Observation) bool { return o.Outcome != gate.Errored }): // that it does not compile is known without a run
			a.Errorf("listing %s ran it", o.Row.ID)
		case ok && ran.Row != o.Row:
			a.Errorf("listed as %+v, ran as %+v", o.Row, ran.Row)
		case !ok && !a.failed[o.Row.Unit]: // a unit's failure is the answer of all its rows
			a.Errorf("%s is listed and has no answer", o.Row.ID)
		}
	}
}

// single holds that a row that is asked for comes alone, with its parts, and
// out as before.
func (a *attempt) single() {
	for _, situation := range []string{"pass", "assertion", "parametrised ids with odd characters"} {
		lines := a.section(situation).Lines
		if len(lines) == 0 {
			continue
		}
		id := a.idOf(lines[0])
		row, ok := a.ran[id]
		if !ok {
			a.Fatalf("%s: no row has the id of %q", situation, lines[0])
		}
		result := a.run(a.runner, gate.Batch{Units: []string{row.Row.Unit}, Rows: []string{id}})
		found := false
		for _, o := range result.Rows {
			found = found || o.Row.ID == id && saysAll(o) == saysAll(row) && o.Row == row.Row
			if o.Row.ID != id && !a.related(o.Row.ID, id) {
				a.Errorf("asked for %s, and %s ran", id, o.Row.ID)
			}
		}
		if !found {
			a.Errorf("asked for %s alone: %v", id, plainstate.Lines(result))
		}
	}
}

// related holds for a part of a row and for what it is a part of.
func (a *attempt) related(one, other string) bool {
	parentOf := func(id string) string { return a.ran[id].Row.Parent }
	for id := one; id != ""; id = parentOf(id) {
		if id == other || parentOf(id) != "" && parentOf(id) == parentOf(other) {
			return true
		}
	}
	for id := other; id != ""; id = parentOf(id) {
		if id == one {
			return true
		}
	}
	return false
}

// elsewhere holds that a runner in a directory without tests finds none there,
// and lets none of another directory pass.
func (a *attempt) elsewhere() {
	r := a.subject.New("nowhere", a.Timeout())
	units, err := r.Units(context.Background(), a.state.Tree(), nil, true)
	if err == nil && len(units) > 0 {
		a.Errorf("in the directory nowhere it finds %q", units)
	}
	row := a.ran[a.idOf(a.section("pass").Lines[0])].Row
	result, err := r.Run(context.Background(), a.state, gate.Batch{Units: []string{row.Unit}, Rows: []string{row.ID}})
	if err != nil {
		return // it says so
	}
	for _, o := range result.Rows {
		for _, seen := range o.Observations {
			if seen.Outcome == gate.Passed {
				a.Errorf("in the directory nowhere %s passed", o.Row.ID)
			}
		}
	}
}

// idOf is the row that a line of an answer begins with.
func (a *attempt) idOf(line string) string {
	best := ""
	for _, id := range a.order {
		if strings.HasPrefix(line, id+": ") && len(id) > len(best) {
			best = id
		}
	}
	return best
}
