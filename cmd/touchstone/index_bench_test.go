package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// BenchmarkIndex runs the suite of a project of testdata/mutants plainly and under
// observation, both in the same state, and reports the processor time and the time
// on the clock of both. Each is asked twice: once with every build still to do (fresh,
// observed), once with it done (plain, again).
func BenchmarkIndex(b *testing.B) {
	dir := os.Getenv("TOUCHSTONE_MUTANTS")
	if dir == "" {
		b.Skip("needs prepared clones of public projects: set TOUCHSTONE_MUTANTS (testdata/mutants/README.md)")
	}
	only := os.Getenv("TOUCHSTONE_MUTANTS_ONLY")
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join(dir, entry.Name(), ".git")); err == nil && slices.Contains(strings.Split(only, ","), entry.Name()) {
			b.Run(entry.Name(), func(b *testing.B) { benchIndex(b, filepath.Join(dir, entry.Name())) })
		}
	}
}

func benchIndex(b *testing.B, dir string) {
	ctx := context.Background()
	prepared, err := prepareSelect(ctx, selectOptions{repo: dir, base: "HEAD", index: "build", mapFile: filepath.Join(b.TempDir(), "map")})
	if err != nil {
		b.Fatal(err)
	}
	defer prepared.Close()
	runner := prepared.runners.list[0]
	var fresh, plain, observed, again spent
	for b.Loop() {
		column, err := prepared.states.show(ctx, gate.Base, prepared.states.trees[gate.Base]) // with no build of a run before
		if err != nil {
			b.Fatal(err)
		}
		state := &metered{State: column}
		units, err := runner.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			b.Fatal(err)
		}
		plainly := func() {
			if _, err := runner.Run(ctx, state, gate.Batch{Units: units}); err != nil {
				b.Fatal(err)
			}
		}
		fresh.add(state, plainly)
		plain.add(state, plainly)
		watched := func() {
			if _, err := runner.(tracer).Trace(ctx, state, units, gate.Batch{}); err != nil {
				b.Fatal(err)
			}
		}
		observed.add(state, watched)
		again.add(state, watched)
	}
	n := float64(b.N)
	b.ReportMetric(fresh.cpu/n, "fresh-cpu-s")
	b.ReportMetric(plain.cpu/n, "plain-cpu-s")
	b.ReportMetric(observed.cpu/n, "observed-cpu-s")
	b.ReportMetric(again.cpu/n, "again-cpu-s")
	b.ReportMetric(observed.cpu/plain.cpu, "cpu-ratio")
	b.ReportMetric(again.cpu/plain.cpu, "cpu-ratio-again")
	b.ReportMetric(observed.cpu/fresh.cpu, "cpu-ratio-fresh")
	b.ReportMetric(observed.wall/plain.wall, "clock-ratio")
}

// spent is what calls took.
type spent struct{ cpu, wall float64 }

func (s *spent) add(state *metered, call func()) {
	began, before := time.Now(), state.cpu.Load()
	call()
	s.cpu += time.Duration(state.cpu.Load() - before).Seconds()
	s.wall += time.Since(began).Seconds()
}

// metered is a state that adds up the processor time of its commands.
type metered struct {
	gate.State
	cpu atomic.Int64
}

func (m *metered) Run(ctx context.Context, cmd gate.Command) (gate.Exit, error) {
	exit, err := m.State.Run(ctx, cmd)
	m.cpu.Add(int64(exit.CPU))
	return exit, err
}
