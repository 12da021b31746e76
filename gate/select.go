package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Choice is what regression test selection chose.
type Choice struct {
	Selection Selection
	// Everything is set when nothing less than the whole suite will do.
	Everything bool
	// Rows are what was chosen, by runner, the likeliest to fail first.
	Rows  map[string][]Chosen
	Notes []string // what a reader must know of how they were chosen
}

// Chosen is one row that was selected, or all rows of a unit.
type Chosen struct {
	Unit    string
	ID      string // "" for all rows of the unit
	Reasons []string
}

// instead runs the selected rows where the whole suite takes too long, as far
// as less than the whole suite can be selected.
func (r *replay) instead(ctx context.Context) {
	if choice := r.choose(ctx); choice != nil && !choice.Everything {
		r.selected(ctx, choice)
		return
	} else if choice != nil {
		r.full.Fallback = "; nothing less could be selected: " + choice.Selection.Fallback
	}
	r.full.Fallback = fmt.Sprintf("the whole suite takes longer than %s, so only what the change touches was run (audit.full_when_under, --full always)%s", r.in.FullWhenUnder, r.full.Fallback)
}

// choose asks for the selection. Without one the run goes on with the touched
// rows; that is said where it matters, in the report's selection.
func (r *replay) choose(ctx context.Context) *Choice {
	if r.in.Select == nil {
		return nil
	}
	r.phase("select regression tests")
	choice, err := r.in.Select(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.mu.Lock()
			r.notes = append(r.notes, "no rows were selected beyond the change's own: "+err.Error())
			r.mu.Unlock()
		}
		return nil
	}
	for _, note := range choice.Notes {
		r.remark("%s", note)
	}
	return choice
}

// selected runs the chosen rows on head, lists their units on base, and asks
// base about what is red.
func (r *replay) selected(ctx context.Context, choice *Choice) {
	r.phase("run the selected tests")
	r.choice = choice
	r.full.Strategy, r.full.Fallback = choice.Selection.Strategy, choice.Selection.Fallback
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		all.Go(func() { r.selectedBy(ctx, runner, choice.Rows[runner.Name()]) })
	}
	all.Wait()
	for _, runner := range r.in.Runners {
		r.spread(runner.Name())
	}
	r.askBase(ctx, func(key Key) bool {
		base, _ := r.m.Seen(key, Base)
		return choice.has(base)
	})
}

// has tells whether a row was chosen, alone or with its unit.
func (c *Choice) has(row Row) bool {
	return slices.ContainsFunc(c.Rows[row.Runner], func(chosen Chosen) bool {
		return chosen.Unit == row.Unit && (chosen.ID == "" || chosen.ID == row.ID)
	})
}

// selectedBy runs the units that were chosen as a whole, and the chosen rows of
// the others. Units that the change touches have run.
func (r *replay) selectedBy(ctx context.Context, runner Runner, chosen []Chosen) {
	var units, rows, of []string
	r.mu.Lock()
	touched := r.touchedU[runner.Name()][Head]
	for _, c := range chosen {
		if slices.Contains(touched, c.Unit) {
			continue
		}
		if c.ID == "" {
			units = append(units, c.Unit)
		} else {
			rows, of = append(rows, c.ID), append(of, c.Unit)
		}
	}
	r.mu.Unlock()
	slices.Sort(units)
	slices.Sort(of)
	of = slices.DeleteFunc(slices.Compact(of), func(unit string) bool { return slices.Contains(units, unit) })
	r.run(ctx, runner, Head, Batch{Units: units}, "")
	if len(rows) > 0 {
		r.run(ctx, runner, Head, Batch{Units: of, Rows: rows}, "")
	}
	r.listKnown(ctx, runner, append(units, of...))
	r.explain(runner.Name(), chosen)
}

// listKnown lists on base the chosen rows of the units that base has, so that
// they are compared.
func (r *replay) listKnown(ctx context.Context, runner Runner, units []string) {
	state, err := r.open(ctx, Base)
	if err != nil {
		r.doubt("the state %s could not be made: %v", Base, err)
		return
	}
	known, err := runner.Units(ctx, state.Tree(), nil, true)
	if err != nil {
		r.doubt("%s: the selected tests could not be found on %s: %v", runner.Name(), Base, err)
		return
	}
	units = slices.DeleteFunc(units, func(unit string) bool { return !slices.Contains(known, unit) })
	r.invoke(ctx, runner, Base, units, "", func(state State) (Result, error) {
		result, err := runner.List(ctx, state, units)
		result.Rows = slices.DeleteFunc(result.Rows, func(o Observed) bool {
			row := o.Row
			row.Runner = runner.Name()
			return !r.choice.has(row)
		})
		return result, err
	})
}

// explain gives the rows that ran the reasons for which they were chosen.
func (r *replay) explain(runner string, chosen []Chosen) {
	byID, byUnit := make(map[string][]string), make(map[string][]string)
	for _, c := range chosen {
		if c.ID == "" {
			byUnit[c.Unit] = c.Reasons
		} else {
			byID[c.ID] = c.Reasons
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.m.Keys() {
		row, ok := r.m.Seen(key, Head)
		if !ok || key.Runner != runner {
			continue
		}
		reasons := byID[row.ID]
		if row.Parent != "" && reasons == nil {
			reasons = byID[topOf(r.m, row, Head).ID]
		}
		if reasons == nil {
			reasons = byUnit[row.Unit]
		}
		for _, reason := range reasons {
			if !slices.Contains(r.chosenBy[key], reason) {
				r.chosenBy[key] = append(r.chosenBy[key], reason)
			}
		}
	}
}
