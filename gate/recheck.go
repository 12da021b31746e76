package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Recheck reads the matrix of a report that somebody else wrote and decides
// anew, by the policy given. Nothing that the report concludes is taken from it:
// origins, roles, flips, lost rows, counts and the verdict are computed from its
// cells, and an error says where the report claims something else.
//
// What a report says it observed cannot be checked here; that its conclusions
// follow from it can.
func Recheck(r *Report, p Policy) (Verdict, error) {
	world, err := rebuild(r, p)
	if err != nil {
		return Verdict{}, err
	}
	out := read(world)
	verdict := Decide(out.facts, p)
	if err := contradicts(r, world, out, verdict); err != nil {
		return Verdict{}, err
	}
	return verdict, nil
}

// addedName stands in a rebuilt matrix for every name that, as the report says,
// only the production part adds.
const addedName = "\x00added"

// rebuild makes the matrix that a report was projected from.
func rebuild(r *Report, p Policy) (*replay, error) {
	same, untested := r.States[BaseTests].SameAs == Head, r.NoOldTests
	world := newReplay(Inputs{
		Change: r.Change, Split: r.Split, Inert: r.Change.Inert, Policy: p, Doubts: r.Doubts,
		SameTree: func(a, b StateName) bool {
			return same && alike(a, b) || untested && a == HeadBaseTests && b == Head
		},
		Introduced: func(m Missing) bool { return m.Name == addedName },
		Gone:       func(m Missing) bool { return m.Name == addedName },
		Code:       r.Code, Reverts: r.Change.Reverts, Steering: r.Steering, Further: Further{Gold: r.Change.Gold != nil},
	})
	world.ranFull, world.heirs, world.support, world.forsakes = r.Audit.RanFull, make(map[Key]Key), r.Support, make(map[Key]bool)
	maps.Copy(world.unheard, r.Unheard)
	maps.Copy(world.forged, r.Forged)
	maps.Copy(world.replaced, r.Replaced)
	for runner, units := range r.Touched {
		world.touchedU[runner] = map[StateName][]string{Base: units}
	}
	if same && len(world.production) > 0 {
		return nil, fmt.Errorf("base+tests is said to equal head, yet %q is production code", world.production[0])
	}
	for _, runner := range r.Loaded {
		world.loaded[runner] = map[StateName][]Loaded{Head: {{Subject: "changed"}}}
	}
	known := make(map[Key]bool)
	for i, c := range r.Checks {
		key := Key{c.Runner, c.ID}
		if known[key] {
			return nil, fmt.Errorf("checks[%d]: %q stands there twice", i, c.ID)
		}
		known[key] = true
		if err := restore(world.m, c, same); err != nil {
			return nil, fmt.Errorf("checks[%d], %q: %w", i, c.ID, err)
		}
		if c.Heir != "" {
			world.heirs[key] = Key{c.Runner, c.Heir}
		}
		if c.Forsakes {
			world.forsakes[key] = true
		}
		if c.ReadsNew {
			world.reads[key] = true
		}
	}
	return world, selfChecked(r, world.m)
}

// alike holds for the two pairs of states that are equal when nothing but tests
// changed.
func alike(a, b StateName) bool {
	head := func(name StateName) bool { return name == Head || name == BaseTests }
	return head(a) == head(b)
}

// restore puts one row back into the matrix.
func restore(m *Matrix, c Check, same bool) error {
	row := Row{ID: c.ID, Runner: c.Runner, Name: c.Name, File: c.File, Line: c.Line, Parent: c.Parent, Unit: cmp.Or(c.Unit, c.File)}
	for state, digest := range c.Sources {
		row.Digest = digest
		m.See(state, row)
	}
	for state, cells := range c.Cells {
		if same && (state == BaseTests || state == HeadBaseTests) {
			continue // another state's cells stand for it
		}
		if _, seen := c.Sources[state]; !seen && len(cells) > 0 && c.ID != selfCheckID {
			return fmt.Errorf("it was observed on %s, which does not know it", state)
		}
		row.Digest = c.Sources[state]
		for _, cell := range cells {
			m.Add(state, row, restored(cell, state, c.Origin))
		}
	}
	return nil
}

// restored undoes what the projection did to a cell. A missing symbol took the
// place of the reason that came with the outcome.
func restored(c Cell, state StateName, origin Origin) Observation {
	o := Observation{Outcome: c.Outcome, Reason: c.Reason, Message: c.Message, Place: Place{c.File, c.Line}, Duration: time.Duration(c.Seconds * float64(time.Second))}
	if c.Reason == MissingSymbol && slices.Contains([]StateName{BaseTests, HeadBaseTests, Bridge, GoldTests}, state) && (state != Bridge || c.Outcome == Failed) {
		o.Missing = []Missing{{Name: addedName}}
		switch {
		case c.Outcome == Failed:
			o.Reason = Exception
		case origin == Affected && state == BaseTests:
			o.Reason = Setup
		default:
			o.Reason = Import
		}
	}
	return o
}

// selfChecked holds a report to its own self-checks: a state that failed one has
// nothing to say, and base+tests must have passed one to say anything.
func selfChecked(r *Report, m *Matrix) error {
	checked := make(map[string]bool)
	for _, c := range r.Checks {
		if c.ID != selfCheckID {
			continue
		}
		checked[c.Runner] = len(c.Cells[BaseTests]) > 0
		for state, cells := range c.Cells {
			if len(cells) > 0 && !restoredGreen(cells) && len(r.Doubts) == 0 {
				return fmt.Errorf("the self-check of %s failed on %s, yet no doubt is named", c.Runner, state)
			}
		}
	}
	for _, c := range r.Checks {
		if c.Role.proves() && !checked[c.Runner] {
			return fmt.Errorf("%q is said to discriminate, yet no self-check shows that %s ran on base+tests", c.ID, c.Runner)
		}
	}
	return nil
}

func restoredGreen(cells []Cell) bool {
	return !slices.ContainsFunc(cells, func(c Cell) bool { return c.Outcome != Passed })
}

// contradicts compares what a report concludes with what follows from its cells.
func contradicts(r *Report, world *replay, out reading, verdict Verdict) error {
	read := make(map[Key]readRow)
	for _, row := range out.rows {
		read[row.key] = row
	}
	for _, c := range r.Checks {
		row, ok := read[Key{c.Runner, c.ID}]
		if !ok {
			continue // a self-check
		}
		if c.Origin != row.origin {
			return fmt.Errorf("%q is said to be %s and its states make it %s", c.ID, c.Origin, row.origin)
		}
		if c.Role != row.read.Role {
			return fmt.Errorf("%q is said to be %s and its cells make it %s", c.ID, cmp.Or(c.Role, "no evidence"), cmp.Or(row.read.Role, "no evidence"))
		}
	}
	switch {
	case !equalSets(flipNames(r.Flips), flipNames(out.flips)):
		return fmt.Errorf("its flips (%d) do not follow from its cells (%d)", len(r.Flips), len(out.flips))
	case !equalSets(lostNames(r.Lost), lostNames(out.lost)):
		return fmt.Errorf("its lost tests (%d) do not follow from its cells (%d)", len(r.Lost), len(out.lost))
	case r.Summary != out.summary:
		return errors.New("its summary does not follow from its checks")
	case r.Verdict.Conclusion != verdict.Conclusion:
		return fmt.Errorf("its verdict is %s and base's policy makes it %s: %s", r.Verdict.Conclusion, verdict.Conclusion, strings.Join(verdict.Reasons, "; "))
	}
	return nil
}

func flipNames(flips []Flip) []string {
	names := make([]string, len(flips))
	for i, f := range flips {
		names[i] = string(f.Kind) + " " + f.ID
	}
	return names
}

// lostNames leaves out how a row was taken out: whether its text still stands on
// head is not in the cells.
func lostNames(lost []Lost) []string {
	names := make([]string, len(lost))
	for i, l := range lost {
		names[i] = l.OnHead + " " + l.ID
	}
	return names
}

func equalSets(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
