package gate

import (
	"context"
	"slices"
)

// Most flips that hunks are taken away for, and most hunks that one is laid to.
const (
	mostBlamed = 20
	mostHunks  = 3
)

// blame takes every hunk group of the production part away in turn and asks
// whether the flips pass again without it. It ends with the time for further
// questions and changes no verdict.
func (r *replay) blame(ctx context.Context) {
	r.culprits = make(map[Key][]Span)
	rows := r.toBlame()
	if r.in.Further.Budget < 0 || len(r.in.Further.Groups) == 0 || len(rows) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	r.phase("look for the hunk that broke them")
	groups := slices.Clone(r.in.Further.Groups)
	groups = slices.DeleteFunc(groups, func(g Group) bool { return g.Inert != "" })
	slices.SortStableFunc(groups, func(a, b Group) int { return b.Lines - a.Lines })
	queue := make([]int, len(groups))
	for i, g := range groups {
		queue[i] = i
		r.states[Without(g.ID)] = &opened{}
	}
	mended := make([][]Key, len(groups))
	r.eachOf(queue, func(i int) {
		mended[i] = r.mendedWithout(limited, Without(groups[i].ID), rows)
		r.release(Without(groups[i].ID))
	})
	for i, keys := range mended {
		for _, key := range keys {
			if len(r.culprits[key]) < mostHunks {
				r.culprits[key] = append(r.culprits[key], groups[i].Places...)
			}
		}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		r.remark("the time budget ended before every hunk was asked whether it broke %s (--budget)", rows[0].ID)
	}
}

// toBlame lists the confirmed flips that a run of theirs alone, or after their
// polluters, shows.
func (r *replay) toBlame() (rows []Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.m.Keys() {
		head := r.m.Cell(key, Head)
		row, onHead := r.m.Seen(key, Head)
		if !onHead || len(rows) == mostBlamed || key.ID == selfCheckID || !flipped(r.m, key) || len(head) < 2 || slices.ContainsFunc(head, func(o Observation) bool { return !broken(o) }) {
			continue
		}
		if len(r.m.Cell(key, HeadAlone)) == 0 || len(r.polluters[key]) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// mendedWithout are the rows that pass on a state.
func (r *replay) mendedWithout(ctx context.Context, name StateName, rows []Row) (keys []Key) {
	for _, runner := range r.in.Runners {
		var asked []Row
		r.mu.Lock()
		for _, row := range rows {
			if row.Runner != runner.Name() {
				continue
			}
			for _, id := range r.polluters[row.Key()] {
				if polluter, ok := r.m.Seen(Key{row.Runner, id}, Head); ok {
					asked = append(asked, polluter)
				}
			}
			asked = append(asked, row)
		}
		asked = topsOf(r.m, asked)
		r.mu.Unlock()
		result, ok := r.probe(ctx, runner, name, Batch{Units: unitsOf(asked), Rows: ids(asked)})
		if !ok {
			continue
		}
		for _, row := range rows {
			if o, answered := result.of(row.ID); row.Runner == runner.Name() && answered && colour(o) == green {
				keys = append(keys, row.Key())
			}
		}
	}
	return keys
}
