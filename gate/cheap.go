package gate

import (
	"context"
	"slices"
)

// preselect runs what would have run without the audit, before the whole suite does:
// an audit tells what exactly that misses.
func (r *replay) preselect(ctx context.Context) {
	if r.in.Full != FullAudit || len(r.production) == 0 {
		return
	}
	if choice := r.choose(ctx); choice != nil && !choice.Everything {
		r.selected(ctx, choice)
		r.full = Selection{Strategy: "touched"}
	}
}

// cheapBy names how the rows beyond the change's own were chosen before everything
// ran.
func (r *replay) cheapBy() string {
	if r.choice != nil {
		return r.choice.Selection.Strategy
	}
	return "touched"
}

// cheap is the verdict as it would be without the rows that only the whole suite
// brought, and with only these doubts. It is computed from what was seen, so that
// it means the same for changes that were drawn for a full run and for others.
func (r *replay) cheap(doubts []string) Conclusion {
	world := newReplay(r.in)
	world.m = r.m.only(func(key Key) bool { return r.beforeFull(key) })
	world.doubts, world.choice = doubts, r.choice
	world.loaded, world.failed, world.touchedU = r.loaded, r.failed, r.touchedU
	world.unheard, world.forged, world.heirs, world.reads, world.commandOf = r.unheard, r.forged, r.heirs, r.reads, r.commandOf
	return Decide(read(world).facts, r.in.Policy).Conclusion
}

// beforeFull holds for rows that the change touches or that were selected.
func (r *replay) beforeFull(key Key) bool {
	if slices.ContainsFunc(r.chosenBy[key], func(why string) bool { return why != "full" }) {
		return true
	}
	for _, state := range []StateName{Head, Base} {
		row, known := r.m.Seen(key, state)
		if known && (slices.Contains(r.touchedU[key.Runner][state], row.Unit) || r.choice != nil && r.choice.has(row)) {
			return true
		}
	}
	return key.ID == selfCheckID
}

// only is the matrix with some of its rows.
func (m *Matrix) only(keep func(Key) bool) *Matrix {
	some := *m
	some.order = slices.DeleteFunc(slices.Clone(m.order), func(key Key) bool { return !keep(key) })
	some.rows = make(map[Key]*entry, len(some.order))
	for _, key := range some.order {
		some.rows[key] = m.rows[key]
	}
	return &some
}
