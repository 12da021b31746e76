package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
)

// runs are the suites as an audit of several changes asks for them.
func (s *suites) runs(ctx context.Context) audit.BatchRuns {
	return audit.BatchRuns{
		Full:  func(changes []int) ([]string, error) { return s.full(ctx, changes) },
		Again: func(changes []int, tests []string) ([]string, error) { return s.again(ctx, changes, tests) },
	}
}

// full runs everything and returns what does not pass.
func (s *suites) full(ctx context.Context, changes []int) (failing []string, err error) {
	state, err := s.state(ctx, changes)
	if err != nil {
		return nil, err
	}
	seen := 0
	for _, runner := range s.runners {
		units, err := runner.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			return nil, fmt.Errorf("%s: finding the whole suite: %w", runner.Name(), err)
		}
		if len(units) == 0 {
			continue
		}
		result, err := s.run(ctx, runner, state, gate.Batch{Units: units})
		if err != nil {
			return nil, err
		}
		seen += len(result.Rows) + len(result.Units)
		failing = append(failing, s.red(runner, result)...)
	}
	if seen == 0 {
		return nil, errors.New("the whole suite has no test: nothing can be audited")
	}
	return failing, nil
}

func (s *suites) run(ctx context.Context, runner gate.Runner, state gate.State, batch gate.Batch) (gate.Result, error) {
	batch.Timeout = s.timeout
	result, err := runner.Run(ctx, state, batch)
	if err != nil {
		return result, fmt.Errorf("%s could not run: %w", runner.Name(), err)
	}
	for _, observed := range result.Rows {
		if observed.Row.Parent == "" {
			for _, o := range observed.Observations {
				s.seconds += o.Duration.Seconds()
			}
		}
	}
	return result, ctx.Err()
}

// red are the tests that do not pass, parts through their whole test, and the units
// that could not be loaded.
func (s *suites) red(runner gate.Runner, result gate.Result) (names []string) {
	add := func(t test) {
		t.runner = runner.Name()
		name := t.runner + "\x00" + t.row.ID
		if s.tests[name] = t; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, observed := range result.Rows {
		if observed.Row.Parent != "" {
			continue
		}
		for _, o := range observed.Observations {
			if fails(o) {
				add(test{row: observed.Row, message: o.Message})
			}
		}
	}
	for _, failure := range result.Units {
		if fails(failure.Observation) {
			add(test{row: gate.Row{ID: failure.Unit, Unit: failure.Unit, File: failure.Unit}, whole: true, message: failure.Observation.Message})
		}
	}
	return names
}

// fails holds for what an audit takes as not passed: a timeout too, for base is
// asked the same.
func fails(o gate.Observation) bool {
	switch o.Outcome {
	case gate.Failed, gate.Errored, gate.TimedOut, gate.Crashed:
		return true
	}
	return false
}

// again runs only some tests and returns those that do not pass. One that the
// state does not have is not among them; one whose unit cannot be loaded is.
func (s *suites) again(ctx context.Context, changes []int, tests []string) (failing []string, err error) {
	state, err := s.state(ctx, changes)
	if err != nil {
		return nil, err
	}
	for _, runner := range s.runners {
		known, err := runner.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			return nil, fmt.Errorf("%s: finding the tests: %w", runner.Name(), err)
		}
		var some, whole gate.Batch
		for _, name := range tests {
			t := s.tests[name]
			switch {
			case t.runner != runner.Name() || !slices.Contains(known, t.row.Unit):
			case t.whole:
				whole.Units = append(whole.Units, t.row.Unit)
			default:
				some.Units, some.Rows = append(some.Units, t.row.Unit), append(some.Rows, t.row.ID)
			}
		}
		for _, batch := range []gate.Batch{some, whole} {
			if len(batch.Units) == 0 {
				continue
			}
			slices.Sort(batch.Units)
			batch.Units = slices.Compact(batch.Units)
			result, err := s.run(ctx, runner, state, batch)
			if err != nil {
				return nil, err
			}
			failing = append(failing, s.among(tests, s.red(runner, result))...)
		}
	}
	return failing, nil
}

// among are the asked tests that failed, by themselves or with their unit.
func (s *suites) among(asked, red []string) []string {
	units := make(map[string]bool)
	for _, name := range red {
		if t := s.tests[name]; t.whole {
			units[t.runner+"\x00"+t.row.Unit] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(asked), func(name string) bool {
		t := s.tests[name]
		return !slices.Contains(red, name) && !units[t.runner+"\x00"+t.row.Unit]
	})
}
