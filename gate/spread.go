package gate

import (
	"maps"
	"slices"
)

// spread gives the rows of a unit that failed as a whole the unit's own
// observation, on the state where it failed: every row that head or base knows
// in that unit and that has no observation of its own. A unit that no state has
// rows for stands in the matrix as a row itself.
func (r *replay) spread(runner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.failed[runner])) {
		for _, failure := range r.failed[runner][name] {
			r.spreadUnit(runner, name, failure)
		}
		r.failed[runner][name] = nil
	}
	for _, key := range r.m.Keys() {
		if key.Runner == runner {
			r.share(key)
			r.wholeOnBase(key)
		}
	}
}

// share gives a part (a Go subtest) what its whole test came to on a state
// where that could not even be loaded: the part has no other answer there.
func (r *replay) share(key Key) {
	part := r.m.Row(key)
	if part.Parent == "" {
		return
	}
	whole := Key{key.Runner, part.Parent}
	for _, name := range []StateName{Base, BaseTests, HeadBaseTests, HeadBaseInfra} {
		above, own := r.m.Cell(whole, name), r.m.Cell(key, name)
		if _, ok := r.expected(key, name); !ok || len(own) >= len(above) || !unitLevel(above) || !unitLevel(own) {
			continue
		}
		for _, o := range above[len(own):] {
			r.m.Add(name, part, o)
		}
	}
}

func (r *replay) spreadUnit(runner string, name StateName, failure UnitFailure) {
	known := false
	for _, key := range r.m.Keys() {
		row, ok := r.expected(key, name)
		if !ok || key.Runner != runner || row.Unit != failure.Unit {
			continue
		}
		known = true
		if cell := r.m.Cell(key, name); len(cell) == 0 || unitLevel(cell) {
			r.m.Add(name, row, failure.Observation)
		}
	}
	if !known {
		r.m.Add(name, Row{ID: failure.Unit, Runner: runner, Name: failure.Unit, Unit: failure.Unit, File: failure.Unit}, failure.Observation)
	}
}

// wholeOnBase gives a unit that stands as a row, since head could not even list it,
// what base said of it, where base gave none of its rows a result of its own: then
// it is not the change that keeps them from running.
func (r *replay) wholeOnBase(key Key) {
	unit := r.m.Row(key)
	if unit.ID != unit.Unit || len(r.m.Cell(key, Base)) > 0 {
		return
	}
	var said []Observation
	for _, other := range r.m.Keys() {
		row, seen := r.m.Seen(other, Base)
		if !seen || other.Runner != key.Runner || row.Unit != unit.Unit {
			continue
		}
		if said = r.m.Cell(other, Base); len(said) == 0 || !unitLevel(said) {
			return
		}
	}
	for _, o := range said {
		r.m.Add(Base, unit, o)
	}
}

// expected returns the row when the state should have it: the test code of
// base+tests is head's, that of head+base-tests is base's.
func (r *replay) expected(key Key, name StateName) (Row, bool) {
	from := name
	switch name {
	case BaseTests, Head, HeadBaseInfra:
		from = Head
	case HeadBaseTests:
		from = Base
	}
	if row, ok := r.m.Seen(key, from); ok {
		return row, true
	}
	return r.m.Seen(key, name)
}

// unitLevel holds for a cell that only unit failures filled: a repeat that
// fails the same way adds to it.
func unitLevel(cell []Observation) bool {
	for _, o := range cell {
		switch o.Reason {
		case Import, Compile, MissingSymbol, NoReport, Setup, Inconsistent:
		default:
			return false
		}
	}
	return true
}
