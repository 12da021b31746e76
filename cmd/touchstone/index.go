package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/coverage"
	"github.com/touchstone-gate/touchstone/rts"
)

// makeIndex runs base's suite under observation and writes the coverage map.
// With refresh only the rows run that what has changed since the last map may
// have made different.
func (s *selecting) makeIndex(ctx context.Context, words io.Writer) error {
	began := time.Now()
	if hasGo(s.runners.list) {
		for _, note := range fetchModules(ctx, s.change) {
			fmt.Fprintf(words, "touchstone: %s\n", note)
		}
	}
	now, err := environments(ctx, s.runners.list, s.states)
	if err != nil {
		return undecided(err)
	}
	kept, stale, err := s.refreshed(ctx)
	if err != nil {
		return err
	}
	traces, err := s.trace(ctx, stale)
	if err != nil {
		return undecided(err)
	}
	if kept != nil {
		traces = append(traces, *kept)
	}
	h := coverage.Header{Tool: "touchstone " + version, Commit: s.change.info.Base, Tree: s.change.baseTree, Environments: now, Made: time.Now().UTC()}
	if err := coverage.Write(s.mapFile, h, traces); err != nil {
		return undecided(err)
	}
	rows, failed, first := 0, 0, ""
	for _, t := range traces {
		rows, failed = rows+len(t.Rows), failed+len(t.Failed)
		for _, unit := range slices.Sorted(maps.Keys(t.Failed)) {
			first = cmp.Or(first, fmt.Sprintf("%s: %s", unit, t.Failed[unit]))
		}
	}
	fmt.Fprintf(words, "touchstone: the coverage map of %.12s holds %d tests", h.Commit, rows)
	if kept != nil {
		fmt.Fprintf(words, ", %d of them from the map before", len(kept.Rows))
	}
	if failed > 0 {
		fmt.Fprintf(words, "; nothing was observed of %d test files or packages, which will always be selected (%s)", failed, clean(first))
	}
	fmt.Fprintf(words, "; %s, %s\n", time.Since(began).Round(100*time.Millisecond), s.mapFile)
	return nil
}

// refreshed is what the map before keeps for base, and which units it says
// nothing of any more; all when there is nothing to keep.
func (s *selecting) refreshed(ctx context.Context) (kept *rts.Traces, stale func(runner, unit string) bool, err error) {
	all := func(string, string) bool { return true }
	if s.o.index != "refresh" {
		return nil, all, nil
	}
	onBase := *s.change
	onBase.head, onBase.headTree, onBase.files = onBase.base, onBase.baseTree, nil
	f, err := gatherFacts(ctx, &onBase, nil, s.runners.list, s.states, s.mapFile)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if f.stored == nil {
		return nil, all, nil
	}
	again := make(map[[2]string]bool)
	for _, row := range f.choose(s.settings, rts.Auto).Rows {
		again[[2]string{row.Runner, row.Unit}] = true
	}
	for _, row := range f.facts.Rows {
		if row.Gone {
			again[[2]string{row.Runner, row.Unit}] = true
		}
	}
	stale = func(runner, unit string) bool { return again[[2]string{runner, unit}] }
	traces, err := f.stored.Traces(func(row rts.Row) bool { return !stale(row.Runner, row.Unit) })
	if err != nil {
		return nil, nil, undecided(err)
	}
	traces.Failed = nil // they are always asked again
	return &traces, stale, nil
}

// trace runs the units of base that are stale.
func (s *selecting) trace(ctx context.Context, stale func(runner, unit string) bool) ([]rts.Traces, error) {
	state, err := s.states.Open(ctx, gate.Base)
	if err != nil {
		return nil, err
	}
	var all []rts.Traces
	for _, r := range s.runners.list {
		units, err := r.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			return nil, fmt.Errorf("%s: finding the tests of base: %w", r.Name(), err)
		}
		units = slices.DeleteFunc(slices.Clone(units), func(unit string) bool { return !stale(r.Name(), unit) })
		if len(units) == 0 {
			continue
		}
		traces, err := r.(tracer).Trace(ctx, state, units, gate.Batch{Timeout: s.o.timeout})
		if err != nil {
			return nil, fmt.Errorf("%s: observing the tests of base: %w", r.Name(), err)
		}
		all = append(all, traces)
	}
	return all, nil
}
