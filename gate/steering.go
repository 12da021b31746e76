package gate

import (
	"context"
	"sync"
)

// steering runs the change's proof on head with base's test set-up, where the
// change edits what decides which tests run or what is reported of them: hooks,
// plugins, options. A pass that needs such an edit is no proof by itself.
func (r *replay) steering(ctx context.Context) {
	if !r.m.Steered {
		return
	}
	r.phase("ask under base's test set-up")
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		all.Go(func() {
			for range r.in.Policy.Repeat {
				r.mu.Lock()
				rows := r.unsettled(runner.Name())
				r.mu.Unlock()
				if len(rows) == 0 {
					return
				}
				r.run(ctx, runner, HeadBaseInfra, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "")
				r.spread(runner.Name())
				r.unanswered(rows, HeadBaseInfra)
			}
		})
	}
	all.Wait()
	if r.costs[HeadBaseInfra] > 0 {
		r.checkState(ctx, HeadBaseInfra, r.in.Steering)
	}
}

// unsettled lists the tests that discriminate so far and that base's test set-up
// was not asked about often enough: once for a pass, as often as asked for a
// failure.
func (r *replay) unsettled(runner string) []Row {
	return passingEvidence(r.m, runner, func(key Key) bool {
		cell := r.m.Cell(key, HeadBaseInfra)
		open := len(cell) == 0 || len(cell) < r.in.Policy.Repeat && anyOf(cell, red)
		return open && anyOf(r.m.Cell(key, BaseTests), red)
	})
}

// steered reads what a discriminating row came to under base's test set-up. One
// that cannot be set up or found there is not comparable on that axis and blames
// nobody; one that nobody asked is not known to be proof.
func steered(cell []Observation) (Reading, bool) {
	switch {
	case len(cell) == 0:
		return Reading{NotComparable, NoReport, "was not asked with base's test set-up"}, true
	case agree(cell) && colour(cell[0]) == red:
		return Reading{NotComparable, ChangedInfrastructure, "passes on head only with the test set-up that this change edits"}, true
	}
	return Reading{}, false
}
