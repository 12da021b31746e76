package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// simulateOptions are the flags of audit simulate.
type simulateOptions struct {
	fromLedger  bool
	tasks       int
	attempts    int
	pass, flip  float64
	correlation float64
	streams     int
	json        bool
	audit.SimOptions
}

func (a *App) auditSimulateCommand(o *auditOptions) *cobra.Command {
	var s simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Compare ways of auditing at equal cost, on a known population",
		Long: "The population is the one of the published figures (248 tasks, 1,101 passing attempts, 49 flips), one drawn by\n" +
			"--tasks and its companions, or the ledger's groups with the flips that were found in them.",
		Example: "  touchstone audit simulate --share 0.1\n  touchstone audit simulate --tasks 500 --flip 0.02 --correlation 0.2\n  touchstone audit simulate --from-ledger",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.simulate(cmd.Context(), o, s) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&s.fromLedger, "from-ledger", false, "take the ledger's groups")
	flags.IntVar(&s.tasks, "tasks", 0, "draw a population of this many tasks")
	flags.IntVar(&s.attempts, "attempts", 10, "attempts of a drawn task")
	flags.Float64Var(&s.pass, "pass", 0.44, "share of drawn attempts that pass the cheap check")
	flags.Float64Var(&s.flip, "flip", 0.0445, "share of those that are flips")
	flags.Float64Var(&s.correlation, "correlation", 0.4, "correlation of flips within a drawn task")
	flags.Float64Var(&s.Share, "share", 0.2, "time that audits may take, of running the full suite on every passing attempt")
	flags.IntVar(&s.Runs, "runs", 20_000, "simulated runs of each policy")
	flags.Float64Var(&s.Spread, "spread", 1, "spread of suite times: standard deviation of their logarithm; 0 for equal ones, or the ledger's")
	flags.IntVar(&s.Prices, "prices", 200, "sets of suite times that the runs are spread over")
	flags.IntVar(&s.streams, "streams", 2000, "streams on which the bound is tried, for each kind of author")
	flags.Uint64Var(&s.Seed, "seed", 1, "seed of the random numbers")
	flags.BoolVar(&s.json, "json", false, "print JSON lines")
	return cmd
}

func (a *App) simulate(ctx context.Context, o *auditOptions, s simulateOptions) error {
	if !(s.Share > 0 && s.Share < 1) || s.Runs < 2 || s.Prices < 1 || s.tasks < 0 || s.attempts < 1 || !(s.correlation >= 0 && s.correlation < 1) {
		return &exit{exitUsage, fmt.Errorf("--share and --correlation are from 0 to below 1, --runs at least 2, --prices and --attempts at least 1")}
	}
	population, err := a.population(ctx, o, s)
	if err != nil {
		return err
	}
	if s.fromLedger {
		s.Spread = 0
	}
	attempts, passing, flips := population.Totals()
	if flips == 0 {
		return undecided(fmt.Errorf("the population has no flip (%d tasks, %d passing attempts): there is nothing to compare", len(population), passing))
	}
	if !s.json {
		fmt.Fprintf(a.Stdout, "%d tasks, %d attempts, %d pass, %d flips, correlation %.2f; audits take %.0f %% of running the full suite on all that pass\n\n",
			len(population), attempts, passing, flips, population.Correlation(), 100*s.Share)
		fmt.Fprintf(a.Stdout, "%-38s %6s %7s %9s %8s %16s %6s\n", "policy", "rate", "time", "noise", "of row 2", "flips estimated", "CV")
	}
	group := 0.0
	var results []audit.SimResult
	for _, policy := range audit.SimPolicies() {
		r := audit.Simulate(population, policy, s.SimOptions)
		if policy.Name == "group coins" {
			group = r.Noise
		}
		results = append(results, r)
	}
	for _, r := range results {
		if r.Ratio = 0; group > 0 {
			r.Ratio = r.Noise / group
		}
		if s.json {
			if err := a.printJSON(r); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.Stdout, "%-38s %6.3f %6.2f%% %9.2f %7.2f %8.2f ± %.2f %6.2f\n", r.Policy, r.Rate, 100*r.Share, r.Noise, r.Ratio, r.Flips, r.FlipsSE, r.Spread)
	}
	return a.simulateBounds(s)
}

// population is the one that the flags name.
func (a *App) population(ctx context.Context, o *auditOptions, s simulateOptions) (audit.Population, error) {
	if !s.fromLedger {
		if s.tasks == 0 {
			return audit.Published(), nil
		}
		return audit.Drawn(s.tasks, s.attempts, s.pass, s.flip, s.correlation, rand.New(rand.NewPCG(s.Seed, 4))), nil
	}
	var order []string
	tasks := make(map[string]*audit.Task)
	err := a.withLedger(ctx, o, func(store ledger.Store) error {
		return ledger.Records(ctx, store, func(r *audit.Record) error {
			name := r.Repository + "\x00" + r.Group
			if tasks[name] == nil {
				tasks[name] = &audit.Task{Suite: 1}
				order = append(order, name)
			}
			tasks[name].Add(r)
			return nil
		}, nil)
	})
	var population audit.Population
	for _, name := range order {
		population = append(population, *tasks[name])
	}
	return population, undecided(err)
}

// simulateBounds tries the anytime bound on authors that adapt to what they see.
func (a *App) simulateBounds(s simulateOptions) error {
	if s.streams == 0 {
		return nil
	}
	if !s.json {
		fmt.Fprintf(a.Stdout, "\nthe 95 %% bound, coins of 0.2 for single attempts, %d streams of 240: share of streams in which it held at every moment\n", s.streams)
	}
	for _, adversary := range audit.Adversaries() {
		share, err := audit.Coverage(adversary, 200_000, 1, 240, s.streams, s.Seed)
		if err != nil {
			return undecided(err)
		}
		if s.json {
			if err := a.printJSON(map[string]any{"author": adversary.Name, "coverage": share, "streams": s.streams}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.Stdout, "%-38s %.4f\n", adversary.Name, share)
	}
	return nil
}
