package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// batchOptions are the flags of audit batch.
type batchOptions struct {
	auditRunOptions
	base  string
	size  int
	draws string
}

// auditRunOptions are the flags of the commands that run audits themselves.
type auditRunOptions struct {
	suiteOptions
	repository string
	output     string
	format     string
	record     bool
}

func (o *auditRunOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.repository, "repository", "", "owner/name (default: $GITHUB_REPOSITORY, else the remote's)")
	flags.StringVar(&o.config, "config", "", "configuration file (default: "+config.Path+" of base)")
	flags.StringVar(&o.sandbox, "sandbox", "", "how states are made: "+strings.Join(config.SandboxKinds(), ", ")+" (default: the configuration's)")
	flags.DurationVar(&o.timeout, "timeout", 0, "limit of one test run (default: the runner's, 10m)")
	flags.StringVar(&o.output, "output", "", "leave the outcomes in this file, for audit record --outcomes in a job that runs no code of the changes")
	flags.StringVar(&o.format, "format", "text", "what to print: text or json")
	flags.BoolVar(&o.record, "record", false, "put the outcomes into the ledger from here: only where the changes' code is trusted")
}

// check refuses flags that cannot be meant.
func (o *auditRunOptions) check() error {
	switch {
	case o.format != "text" && o.format != "json":
		return &exit{exitUsage, fmt.Errorf("--format: %q is not text or json", o.format)}
	case o.sandbox != "" && !slices.Contains(config.SandboxKinds(), o.sandbox):
		return &exit{exitUsage, fmt.Errorf("--sandbox: %q is not one of %s", o.sandbox, strings.Join(config.SandboxKinds(), ", "))}
	case o.timeout < 0:
		return &exit{exitUsage, fmt.Errorf("--timeout: %s is not a limit", o.timeout)}
	}
	return nil
}

func (a *App) auditBatchCommand(o *auditOptions) *cobra.Command {
	var b batchOptions
	cmd := &cobra.Command{
		Use:   "batch CHANGE...",
		Short: "Audit a queue's passing changes together: one full run over the merge of several",
		Long: "A CHANGE that passed its cheap check is NUMBER=REV (a pull request and its commit), or the report.json of that\n" +
			"check. They are merged onto base, some at a time, and the whole suite runs once. What fails is run again with each\n" +
			"change alone, and halved by full runs where it fails in the full run only. A merge that conflicts is cut in two.\n" +
			"Without --draws all of them count as run anyway (probability 1); with it, only those whose coin shows heads run.",
		Example: "  touchstone audit batch --base main 12=feature-a 13=feature-b --output batch.json\n" +
			"  touchstone audit batch --base main reports/*.json --draws draws.jsonl --record\n" +
			"  touchstone audit record --outcomes batch.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the changes, each as NUMBER=REV or the report.json of its cheap check")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.auditBatch(cmd.Context(), o, b, args) },
	}
	b.flags(cmd)
	cmd.Flags().StringVar(&b.base, "base", "", "commit to merge onto (default: the default branch)")
	cmd.Flags().IntVar(&b.size, "size", 8, "most changes of one full run")
	cmd.Flags().StringVar(&b.draws, "draws", "", "file of what audit coin --format json printed for the changes, one a line (- for standard input)")
	return cmd
}

func (a *App) auditBatch(ctx context.Context, o *auditOptions, b batchOptions, args []string) error {
	if err := b.check(); err != nil {
		return err
	}
	if b.size < 1 {
		return &exit{exitUsage, fmt.Errorf("--size: %d is less than 1", b.size)}
	}
	repo, err := git.Open(ctx, o.repo)
	if err != nil {
		return &exit{exitUsage, err}
	}
	defer repo.Close()
	out, err := a.batchOf(ctx, repo, b, args)
	if err != nil {
		return err
	}
	var coins draws
	if b.draws != "" {
		if coins, err = a.readDraws(b.draws); err != nil {
			return err
		}
	}
	run, err := out.drawn(coins)
	if err != nil {
		return &exit{exitUsage, err}
	}
	if err := a.runBatches(ctx, repo, b, out, run); err != nil {
		return err
	}
	return a.finish(ctx, o, b.auditRunOptions, out, coins, false)
}

// batchOf reads what is asked: the base and the changes.
func (a *App) batchOf(ctx context.Context, repo *git.Repo, b batchOptions, args []string) (*outcomes, error) {
	out := &outcomes{Schema: 1, Tool: "touchstone " + version, Together: []company{}}
	out.Repository = cmp.Or(b.repository, a.Getenv("GITHUB_REPOSITORY"), repo.RepositoryName(ctx))
	if out.Repository == "" {
		return nil, &exit{exitUsage, errors.New("no repository is named: say --repository owner/name")}
	}
	base, err := b.base, error(nil)
	if base == "" {
		if base, _, err = repo.DefaultBranch(ctx); err != nil {
			return nil, &exit{exitUsage, err}
		}
	}
	if out.Base, err = repo.Resolve(ctx, base); err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("--base: %w", err)}
	}
	for _, arg := range args {
		attempt, err := a.readChangeArgument(ctx, repo, out, arg)
		if err != nil {
			return nil, &exit{exitUsage, err}
		}
		if attempt == nil {
			continue
		}
		for _, other := range out.Attempts {
			if other.Head == attempt.Head || other.Group == attempt.Group && other.Member == attempt.Member {
				return nil, &exit{exitUsage, fmt.Errorf("%q is there twice: %s has the head %.12s already", arg, other.Member, other.Head)}
			}
		}
		out.Attempts = append(out.Attempts, *attempt)
	}
	return out, nil
}

// readChangeArgument reads one CHANGE; nil for one that does not pass its cheap check.
func (a *App) readChangeArgument(ctx context.Context, repo *git.Repo, out *outcomes, arg string) (*outcome, error) {
	if number, rev, ok := strings.Cut(arg, "="); ok {
		n, err := strconv.Atoi(strings.TrimPrefix(number, "#"))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: %q is no pull request's number: write NUMBER=REV, as 12=feature", arg, number)
		}
		head, err := repo.Resolve(ctx, rev)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", arg, err)
		}
		return &outcome{PullRequest: n, Group: audit.GroupOf(out.Repository, n, ""), Member: audit.MemberOf(n), Head: head}, nil
	}
	if info, err := os.Stat(arg); err != nil || info.IsDir() {
		return nil, fmt.Errorf("%q is neither NUMBER=REV, as 12=feature, nor the report.json of a cheap check", arg)
	}
	result, err := a.readReport(arg)
	if err != nil {
		return nil, err
	}
	r := recordOptions{}
	r.fill(result)
	switch {
	case result.Repository != "" && !strings.EqualFold(result.Repository, out.Repository):
		return nil, fmt.Errorf("%s is of the repository %s, not of %s", arg, result.Repository, out.Repository)
	case r.group == "" && r.pr == 0:
		return nil, fmt.Errorf("%s names no pull request: give the change as NUMBER=REV", arg)
	case cheapVerdict(result) != "pass":
		out.Notes = append(out.Notes, fmt.Sprintf("%s is left out: its cheap check says %s", arg, cheapVerdict(result)))
		return nil, nil
	}
	head, err := repo.Resolve(ctx, result.Change.Head)
	if err != nil {
		return nil, fmt.Errorf("%s judged the head %q: %w", arg, result.Change.Head, err)
	}
	selected, _ := testSeconds(result)
	return &outcome{
		PullRequest: r.pr, Group: cmp.Or(result.Audit.Group, r.group, audit.GroupOf(out.Repository, r.pr, "")), Member: cmp.Or(r.member, audit.MemberOf(r.pr)), Head: head, Agent: r.agent,
		Strategy: cheapStrategy(result), SelectedSeconds: selected,
	}, nil
}

// drawn are the numbers of the attempts that run.
func (o *outcomes) drawn(coins draws) (run []int, err error) {
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if coins != nil {
			a.regroup(coins)
			d, ok := coins.of(*a)
			if !ok {
				return nil, fmt.Errorf("--draws has no coin of %s %s", a.Group, a.Member)
			}
			if !d.Heads {
				continue
			}
		}
		run = append(run, i)
	}
	return run, nil
}

// regroup takes the group from the only draw of the attempt's member: a trusted job
// found the issue that the pull request closes.
func (a *outcome) regroup(coins draws) {
	group, found := "", 0
	for key := range coins {
		if key[1] == a.Member {
			group = key[0]
			found++
		}
	}
	if _, own := coins[[2]string{a.Group, a.Member}]; !own && found == 1 {
		a.Group = group
	}
}

// runBatches audits the attempts of the given numbers, some at a time.
func (a *App) runBatches(ctx context.Context, repo *git.Repo, b batchOptions, out *outcomes, run []int) error {
	if len(run) == 0 {
		return nil
	}
	heads := make([]string, len(out.Attempts))
	for i, attempt := range out.Attempts {
		heads[i] = attempt.Head
	}
	s, err := openSuites(ctx, repo, out.Base, heads, b.suiteOptions)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, i := range run {
		if why := s.barred[i]; why != nil {
			out.Attempts[i].Full, out.Attempts[i].Why = audit.Missing, fmt.Sprintf("it does not merge with base %.12s: %v", out.Base, conflictOf(why))
		}
	}
	run = slices.DeleteFunc(run, func(i int) bool { return s.barred[i] != nil })
	for chunk := range slices.Chunk(run, b.size) {
		fmt.Fprintf(a.Stderr, "touchstone: the whole suite on the merge of %d changes\n", len(chunk))
		if err := out.runBatch(ctx, s, chunk); err != nil {
			return err
		}
	}
	out.Notes = append(out.Notes, s.notes...)
	return nil
}

// conflictOf is the part of an error that names the paths.
func conflictOf(err error) error {
	var conflict *git.ConflictError
	if errors.As(err, &conflict) {
		return conflict
	}
	return err
}

// runBatch audits one batch.
func (o *outcomes) runBatch(ctx context.Context, s *suites, chunk []int) error {
	before, suite := s.seconds, 0.0
	runs := s.runs(ctx)
	full := runs.Full
	runs.Full = func(changes []int) ([]string, error) {
		began := s.seconds
		red, err := full(changes)
		suite = max(suite, s.seconds-began)
		return red, err
	}
	result, err := audit.AuditBatch(chunk, runs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o.FullRuns, o.FewRuns = o.FullRuns+result.Full, o.FewRuns+result.Again
	spent := s.seconds - before
	o.Seconds += spent
	for _, i := range chunk {
		a := &o.Attempts[i]
		a.SpentSeconds, a.SuiteSeconds = spent/float64(len(chunk)), suite
		a.conclude(s, i, result, err)
	}
	for _, together := range result.Together {
		var c company
		for _, i := range together.Changes {
			c.PullRequests = append(c.PullRequests, o.Attempts[i].PullRequest)
		}
		for _, name := range together.Tests {
			c.Tests = append(c.Tests, s.tests[name].row.ID)
		}
		o.Together = append(o.Together, c)
	}
	return nil
}

// finish prints, writes and records outcomes, and exits by them.
func (a *App) finish(ctx context.Context, o *auditOptions, r auditRunOptions, out *outcomes, coins draws, sealed bool) error {
	if r.output != "" {
		if err := writeOutcomes(r.output, out); err != nil {
			return err
		}
	}
	if r.format == "json" {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		out.print(a.Stdout)
	}
	if r.record {
		err := a.withLedger(ctx, o, func(s ledger.Store) error { return a.recordOutcomes(ctx, s, out, coins, sealed) })
		if err != nil {
			return err
		}
	}
	return out.exit()
}
