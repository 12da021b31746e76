package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/figures"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// numbersOptions say which numbers are made.
type numbersOptions struct {
	repository string
	level      float64
	budget     float64
	floor      float64
	largest    int
}

func (n *numbersOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&n.repository, "repository", "", "only this repository's records (owner/name)")
	flags.Float64Var(&n.level, "level", 0.95, "confidence of interval and bound")
	flags.Float64Var(&n.budget, "budget", 0.2, "share of always-full time that audits may take next")
	flags.Float64Var(&n.floor, "floor", 0, "least audit probability that the bound declares (default: what the ledger's first record declares)")
	flags.IntVar(&n.largest, "largest", 0, "largest group that one coin covers (default: what the ledger's first record declares)")
}

// summary reads the whole ledger.
func (n *numbersOptions) summary(ctx context.Context, s ledger.Store) (audit.Summary, error) {
	floor, err := audit.ParseProbability(n.floor)
	if err != nil || !(n.level > 0 && n.level < 1) || !(n.budget >= 0 && n.budget <= 1) || n.largest < 0 {
		return audit.Summary{}, &exit{exitUsage, fmt.Errorf("--floor %v, --level %v and --budget %v are shares between 0 and 1, and --largest %d is a number of attempts", n.floor, n.level, n.budget, n.largest)}
	}
	sheet := audit.NewSheet(floor, n.largest)
	err = ledger.Records(ctx, s, func(r *audit.Record) error {
		if n.repository == "" || strings.EqualFold(n.repository, r.Repository) {
			sheet.Add(r)
		}
		return nil
	}, nil)
	if err != nil {
		return audit.Summary{}, undecided(fmt.Errorf("%w: see touchstone audit verify", err))
	}
	return sheet.Summarise(n.level, n.budget), nil
}

func (a *App) auditReportCommand(o *auditOptions) *cobra.Command {
	var n numbersOptions
	var format string
	var outputs []string
	cmd := &cobra.Command{
		Use:     "report",
		Short:   "The numbers: how many flips selection lets through, with bounds, cost and what to do next",
		Example: "  touchstone audit report\n  touchstone audit report --output html=audit.html --output json=audit.json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, text := range append(outputs, format+"=-") {
				if name, path, ok := strings.Cut(text, "="); !ok || path == "" || !slices.Contains(figures.Formats(), name) {
					return &exit{exitUsage, fmt.Errorf("%q is not FORMAT=PATH with a format of %s", text, strings.Join(figures.Formats(), ", "))}
				}
			}
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				sum, err := n.summary(cmd.Context(), s)
				if err != nil {
					return err
				}
				for _, text := range outputs {
					name, path, _ := strings.Cut(text, "=")
					if err := writeNumbers(path, name, sum); err != nil {
						return undecided(err)
					}
				}
				return undecided(figures.Write(a.Stdout, format, sum))
			})
		},
	}
	n.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "what to print: "+strings.Join(figures.Formats(), ", "))
	cmd.Flags().StringArrayVar(&outputs, "output", nil, "write a report to a file too, as FORMAT=PATH (repeatable)")
	return cmd
}

func writeNumbers(path, format string, sum audit.Summary) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := figures.Write(file, format, sum); err != nil {
		file.Close()
		return fmt.Errorf("writing the report to %s: %w", path, err)
	}
	return file.Close()
}

func (a *App) auditRatesCommand(o *auditOptions) *cobra.Command {
	var n numbersOptions
	var json bool
	cmd := &cobra.Command{
		Use:     "rates",
		Short:   "Which audit rates to use next, under a budget of time",
		Example: "  touchstone audit rates --budget 0.15",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				sum, err := n.summary(cmd.Context(), s)
				if err != nil {
					return err
				}
				if json {
					return a.printJSON(sum.Next)
				}
				if sum.Next.Rate == nil {
					return undecided(fmt.Errorf("no rate can be advised: %s", sum.Next.WhyNot))
				}
				fmt.Fprintf(a.Stdout, "audit:\n  rate: %.3f\n  agents:\n", *sum.Next.Rate)
				for _, agent := range sum.Next.Agents {
					fmt.Fprintf(a.Stdout, "    %q: %.3f\n", agent.Agent, agent.Rate)
				}
				return nil
			})
		},
	}
	n.flags(cmd)
	cmd.Flags().BoolVar(&json, "json", false, "print JSON, not configuration")
	return cmd
}

func (a *App) auditRewardsCommand(o *auditOptions) *cobra.Command {
	var group, repository string
	var window int
	cmd := &cobra.Command{
		Use:   "rewards",
		Short: "Corrected rewards and advantages of a group, as JSON lines for training",
		Long: "The reward of an attempt is 1 if it passes the cheap check, less 1/p for an audited flip: on average what the full\n" +
			"suite would give. The advantage is reward less the group's mean. Do not divide it by the group's standard deviation:\n" +
			"that is computed from the same noisy rewards, and the quotient is biased.",
		Example: "  touchstone audit rewards --group issue/42",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if group == "" {
				return &exit{exitUsage, fmt.Errorf("say which group by --group")}
			}
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				return a.rewards(cmd.Context(), s, func(r *audit.Record) bool {
					return r.Group == group && (repository == "" || strings.EqualFold(repository, r.Repository)) && (window < 0 || r.Window == window)
				})
			})
		},
	}
	cmd.Flags().StringVar(&group, "group", "", "the group")
	cmd.Flags().StringVar(&repository, "repository", "", "owner/name, where the ledger has several")
	cmd.Flags().IntVar(&window, "window", -1, "only attempts of this window")
	return cmd
}

func (a *App) rewards(ctx context.Context, s ledger.Store, wanted func(*audit.Record) bool) error {
	var records []audit.Record
	err := ledger.Records(ctx, s, func(r *audit.Record) error {
		if wanted(r) {
			records = append(records, *r)
		}
		return nil
	}, nil)
	if err != nil {
		return undecided(err)
	}
	list, err := audit.GroupRewards(records)
	if err != nil {
		return &exit{exitUsage, fmt.Errorf("%w: name one by --repository", err)}
	}
	if len(list) == 0 {
		return undecided(fmt.Errorf("the ledger has no record of that group"))
	}
	for _, reward := range list {
		if err := a.printJSON(reward); err != nil {
			return err
		}
	}
	return nil
}
