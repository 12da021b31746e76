package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
)

// named finds tests that a ledger knows by id and directory among base's. It gives
// none when not all are found: then only the whole suite tells.
func (s *suites) named(ctx context.Context, flips []audit.RecordedFlip) (names []string, err error) {
	state, err := s.state(ctx, nil)
	if err != nil {
		return nil, err
	}
	left := make(map[string]bool)
	for _, flip := range flips {
		left[flip.ID] = true
	}
	for _, runner := range s.runners {
		units, err := runner.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			return nil, fmt.Errorf("%s: finding the tests: %w", runner.Name(), err)
		}
		units = slices.DeleteFunc(units, func(unit string) bool {
			return !slices.ContainsFunc(flips, func(f audit.RecordedFlip) bool { return unit == f.Dir || path.Dir(unit) == f.Dir })
		})
		if len(units) == 0 {
			continue
		}
		result, err := runner.List(ctx, state, units)
		if err != nil {
			return nil, fmt.Errorf("%s: listing the tests: %w", runner.Name(), err)
		}
		add := func(t test, id string) {
			for _, flip := range flips {
				if flip.ID == id || strings.HasPrefix(flip.ID, id+"/") { // a part of it
					t.runner = runner.Name()
					name := t.runner + "\x00" + id
					s.tests[name] = t
					names = append(names, name)
					delete(left, flip.ID)
				}
			}
		}
		for _, observed := range result.Rows {
			if observed.Row.Parent == "" {
				add(test{row: observed.Row}, observed.Row.ID)
			}
		}
		for _, unit := range units {
			add(test{row: gate.Row{ID: unit, Unit: unit, File: unit}, whole: true}, unit)
		}
	}
	if len(left) > 0 {
		return nil, nil
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
