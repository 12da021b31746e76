package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// escalateOptions are the flags of audit escalate.
type escalateOptions struct {
	auditRunOptions
	group  string
	window int
	few    bool
}

func (a *App) auditEscalateCommand(o *auditOptions) *cobra.Command {
	var e escalateOptions
	cmd := &cobra.Command{
		Use:   "escalate",
		Short: "Audit the siblings of a found flip: the other attempts of its group",
		Long: "Where a coin found a flip, the attempts of the same group that passed their cheap check and were not audited run too:\n" +
			"the whole suite, or with --failing-tests only the tests that failed, and the whole suite where one of them fails.\n" +
			"In a sealed group (audit record --sealed) all flips then count together in the estimates, each by 1/(1-(1-p)^k). In an\n" +
			"open stream it protects and estimates nothing: only each attempt's own coin counts, since an author may stop when caught.",
		Example: "  touchstone audit escalate --group issue/42 --record\n" +
			"  touchstone audit escalate --group step/7 --window 0 --failing-tests --output escalation.json\n" +
			"  touchstone audit record --outcomes escalation.json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.auditEscalate(cmd.Context(), o, e) },
	}
	e.flags(cmd)
	cmd.Flags().StringVar(&e.group, "group", "", "the group, as issue/42")
	cmd.Flags().IntVar(&e.window, "window", -1, "the window (default: of a sealed group all of them; of an open one each member's newest attempt)")
	cmd.Flags().BoolVar(&e.few, "failing-tests", false, "run only the tests that failed on a sibling, and the whole suite where one fails: assumes that siblings break the same tests")
	return cmd
}

func (a *App) auditEscalate(ctx context.Context, o *auditOptions, e escalateOptions) error {
	if err := e.check(); err != nil {
		return err
	}
	if e.group == "" {
		return &exit{exitUsage, errors.New("say which group by --group, as issue/42")}
	}
	var found family
	err := a.withLedger(ctx, o, func(s ledger.Store) (err error) {
		found, err = e.family(ctx, a, s)
		return err
	})
	if err != nil {
		return err
	}
	out := &outcomes{Schema: 1, Tool: "touchstone " + version, Repository: found.repository, Together: []company{}, Attempts: []outcome{}}
	switch {
	case len(found.flips) == 0:
		out.Notes = append(out.Notes, "no coin found a flip in the group: there is nothing to escalate")
	case len(found.siblings) == 0:
		out.Notes = append(out.Notes, "every passing sibling has been audited: there is nothing left to run")
	default:
		repo, err := git.Open(ctx, o.repo)
		if err != nil {
			return &exit{exitUsage, err}
		}
		defer repo.Close()
		if err := found.run(ctx, repo, e, out); err != nil {
			return err
		}
	}
	return a.finish(ctx, o, e.auditRunOptions, out, nil, false)
}

// family is a group as the ledger knows it.
type family struct {
	repository string
	sealed     bool
	flips      []audit.RecordedFlip // of attempts that a coin drew
	siblings   []audit.Record       // that pass and were not audited
}

// family reads the group off the ledger.
func (e *escalateOptions) family(ctx context.Context, a *App, s ledger.Store) (f family, err error) {
	wanted := e.repository
	if wanted == "" {
		wanted = a.Getenv("GITHUB_REPOSITORY")
	}
	var records []audit.Record
	names := make(map[string]bool)
	err = ledger.Records(ctx, s, func(r *audit.Record) error {
		if r.Group == e.group && (wanted == "" || strings.EqualFold(wanted, r.Repository)) && (e.window < 0 || r.Window == e.window) {
			records = append(records, *r)
			names[r.Repository] = true
		}
		return nil
	}, nil)
	switch {
	case err != nil:
		return f, undecided(fmt.Errorf("%w: see touchstone audit verify", err))
	case len(records) == 0:
		return f, &exit{exitUsage, fmt.Errorf("the ledger has no record of the group %q: record its attempts first (touchstone audit record)", e.group)}
	case len(names) > 1:
		return f, &exit{exitUsage, fmt.Errorf("the group %q is in several repositories (%s): name one by --repository", e.group, strings.Join(slices.Sorted(maps.Keys(names)), ", "))}
	}
	f.repository = records[0].Repository
	f.read(audit.Fold(records))
	return f, nil
}

// read tells what was found from what is open. The flip of a sealed group's window
// escalates to that window; in an open stream, to the newest attempt of each member.
func (f *family) read(records []audit.Record) {
	caught := make(map[int]bool) // windows of sealed attempts in which a coin found a flip
	newest := make(map[string]string)
	for _, r := range records {
		f.sealed = f.sealed || r.Sealed
		newest[r.Member] = r.ID
		if r.Full == audit.Flipped && r.Drawn {
			caught[r.Window] = true
			f.flips = append(f.flips, r.Flips...)
		}
	}
	for _, r := range records {
		if !r.Passing() || r.Drawn || r.Full != audit.NotRun {
			continue
		}
		if r.Sealed && caught[r.Window] || !r.Sealed && newest[r.Member] == r.ID {
			f.siblings = append(f.siblings, r)
		}
	}
}

// run audits the siblings, each on its own base.
func (f *family) run(ctx context.Context, repo *git.Repo, e escalateOptions, out *outcomes) error {
	bases := make(map[string][]audit.Record)
	for _, r := range f.siblings {
		for what, rev := range map[string]string{"base": r.Base, "head": r.Head} {
			if _, err := repo.Resolve(ctx, rev); err != nil {
				return &exit{exitUsage, fmt.Errorf("the %s of the sibling %s: %w", what, r.Member, err)}
			}
		}
		bases[r.Base] = append(bases[r.Base], r)
	}
	for _, base := range slices.Sorted(maps.Keys(bases)) {
		out.Base = base
		if err := f.runOn(ctx, repo, e, base, bases[base], out); err != nil {
			return err
		}
	}
	return nil
}

func (f *family) runOn(ctx context.Context, repo *git.Repo, e escalateOptions, base string, siblings []audit.Record, out *outcomes) error {
	var heads []string
	for _, r := range siblings {
		heads = append(heads, r.Head)
	}
	s, err := openSuites(ctx, repo, base, heads, e.suiteOptions)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, r := range siblings {
		one := outcome{PullRequest: r.PullRequest, Group: r.Group, Member: r.Member, Head: r.Head, Agent: r.Agent, Strategy: r.Strategy, Amends: r.ID}
		before := s.seconds
		result, err := f.audit(ctx, s, i, e.few)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		one.SpentSeconds = s.seconds - before
		one.conclude(s, i, result, err)
		out.Attempts = append(out.Attempts, one)
		out.FullRuns, out.FewRuns, out.Seconds = out.FullRuns+result.Full, out.FewRuns+result.Again, out.Seconds+one.SpentSeconds
	}
	out.Notes = append(out.Notes, s.notes...)
	return nil
}

// audit runs one sibling: everything, or first the tests that failed elsewhere in
// the group.
func (f *family) audit(ctx context.Context, s *suites, i int, few bool) (result audit.BatchAudit, err error) {
	var names []string
	if few {
		if names, err = s.named(ctx, f.flips); err != nil {
			return result, err
		}
	}
	return audit.AuditSibling(i, names, s.runs(ctx))
}
