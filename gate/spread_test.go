package gate

import "testing"

// A unit that head cannot even list stands as a row. Where base cannot run it
// either, for whatever reason, that is told, and not held against the change.
func TestUnitThatRunsNowhere(t *testing.T) {
	stopped := Observation{Outcome: Errored, Reason: Setup, Message: "the build tool does not start"}
	for _, c := range []struct {
		name string
		base Observation
		want int // observations of the unit on base
	}{
		{"base does not run it either", Observation{}, 1},
		{"base runs it", Observation{Outcome: Passed}, 0},
		{"a test of it fails on base by itself", Observation{Outcome: Failed, Reason: Assertion}, 0},
	} {
		r := &replay{m: &Matrix{Repeat: 1}, failed: map[string]map[StateName][]UnitFailure{"x": {}}}
		row := Row{ID: "u::test", Runner: "x", Unit: "u", File: "u"}
		r.m.See(Base, row)
		states := []StateName{BaseTests, Head}
		if c.base.Outcome == NotRun {
			states = append(states, Base)
		} else {
			r.m.Add(Base, row, c.base)
		}
		for _, name := range states {
			r.failed["x"][name] = []UnitFailure{{Unit: "u", Observation: stopped}}
		}
		r.spread("x")
		unit := Key{"x", "u"}
		if len(r.m.Cell(unit, Head)) != 1 || len(r.m.Cell(unit, Base)) != c.want {
			t.Errorf("%s: the unit has %v on head and %v on base", c.name, r.m.Cell(unit, Head), r.m.Cell(unit, Base))
		}
	}
}
