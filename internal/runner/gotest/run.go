package gotest

import (
	"context"

	"github.com/touchstone-gate/touchstone/gate"
)

// Run runs the units' rows, again and again without what did not compile or
// brought its binary down, until every row has an answer.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	s := r.session(state, batch)
	queue := s.plan()
	for len(queue) > 0 {
		said, exit, err := s.invoke(ctx, queue[0])
		if err != nil {
			return gate.Result{}, err
		}
		rest := s.absorb(queue[0], said, exit)
		s.reached(queue[0], said)
		queue = append(queue[1:], rest...)
	}
	if err := s.excuse(ctx); err != nil {
		return gate.Result{}, err
	}
	r.keep(state, s.left)
	return s.finish(), nil
}

// finish writes the result.
func (s *session) finish() gate.Result {
	for _, b := range s.books {
		for _, observed := range b.results(s.left, s.settings.filters) {
			observed.Row.Runner = s.Config.Name
			s.result.Rows = append(s.result.Rows, observed)
		}
		switch {
		case b.failed != nil:
			s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: b.dir, Observation: s.left.doubted(b.dir, *b.failed)})
		case len(b.broken) > 0:
			s.result.Units = append(s.result.Units, b.failures()...)
		}
	}
	return s.result
}
