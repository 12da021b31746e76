package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/github"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// maxChecks bounds the rows of a report that somebody else wrote.
const maxChecks = 200_000

func (a *App) publishCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "publish DIR/report.json",
		Short: "Post the report that another job wrote, after holding it to the event and to base's rules",
		Long: "The second of two jobs: the first runs the change's code and can post nothing, this one posts and runs\n" +
			"nothing. The report counts as written by the change's author: the pair of commits comes from the event, the\n" +
			"rules from the base commit, and the verdict is computed anew from the report's cells. One that contradicts\n" +
			"any of them, or itself, becomes a failing check that says so, and exit status 3.",
		Example: "  touchstone publish touchstone/report.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one report, as touchstone publish DIR/report.json (%d named)", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.publish(cmd.Context(), args[0]) },
	}
}

func (a *App) publish(ctx context.Context, path string) error {
	w, err := a.openWorkflow()
	if err != nil {
		return err
	}
	s, err := w.published(ctx)
	if err != nil || s == nil {
		return err
	}
	changed, err := w.remotePair(ctx, s)
	if err != nil {
		return w.broken(ctx, s, true, undecided(err))
	}
	if err := w.configure(s); err != nil {
		return w.broken(ctx, s, true, &exit{exitUsage, err})
	}
	if err := w.ownName(s, true); err != nil {
		return err
	}
	result := w.exempted(ctx, s)
	judged := result == nil
	if judged {
		if result, err = accept(path, s, changed); err != nil {
			return w.broken(ctx, s, true, undecided(err))
		}
	}
	w.sign(ctx, s, result)
	if err := report.Write(w.app.Stdout, "text", result, report.Options{}); err != nil {
		return undecided(err)
	}
	if err := w.record(result, filepath.Clean(path)); err != nil {
		return undecided(err)
	}
	w.post(ctx, s, result)
	if judged && w.audits() {
		if err := w.recordAudit(ctx, s, result, changed); err != nil {
			w.step.Error("", 0, "touchstone: the audit ledger was not written, and lacks this head: "+w.secrets.hide(err.Error()))
			if byVerdict(result) == nil {
				return err
			}
		}
	}
	return byVerdict(result)
}

// published finds the subject of an event in the job that only posts; nil when
// there is nothing to post on.
func (w *workflow) published(ctx context.Context) (*subject, error) {
	if w.event.Kind != github.WorkflowRun {
		return w.subject(ctx, true)
	}
	run := w.event.Run
	if run.Event != "pull_request" {
		return nil, &exit{exitUsage, fmt.Errorf("the workflow that ended was started by %q: only those of pull_request are published by workflow_run; publish others in a second job of their own workflow", run.Event)}
	}
	pull, err := w.client.PullOfRun(ctx, run)
	if errors.Is(err, github.ErrNoPull) {
		w.step.Notice(fmt.Sprintf("touchstone: %.12s is the head of no open pull request any more; nothing was posted", run.HeadSHA))
		return nil, nil
	}
	if err != nil {
		return nil, undecided(err)
	}
	return w.open(pull), nil
}

// remotePair takes the merge base, what changed since and the configuration
// from GitHub: this job has no clone.
func (w *workflow) remotePair(ctx context.Context, s *subject) (github.Comparison, error) {
	number := 0
	if s.pull != nil {
		number = s.pull.Number
	}
	changed, err := w.client.Compare(ctx, s.base, s.head, number)
	if err != nil {
		return changed, err
	}
	if s.pull != nil {
		s.base, s.baseWhy = changed.MergeBase, "merge base of the pull request's head and "+s.pull.BaseRef
	}
	// That the comparison was granted shows that a file that is not found is not
	// there, and not hidden.
	s.content, err = w.client.File(ctx, config.Path, s.base)
	return changed, err
}

// accept reads a report, holds it to the event and to base's rules, and puts
// the verdict that follows from its cells in place of its own.
func accept(path string, s *subject, changed github.Comparison) (*gate.Report, error) {
	content, err := readLimited(path, maxReport)
	if err != nil {
		return nil, fmt.Errorf("the job that runs the tests left no report: see its log: %w", err)
	}
	r, err := report.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the report is refused: %w", err)
	}
	if err := fits(r, s, changed); err != nil {
		return nil, fmt.Errorf("the report is refused, since it contradicts the event: %w", err)
	}
	verdict, err := gate.Recheck(r, s.settings.Gate())
	if err != nil {
		return nil, fmt.Errorf("the report is refused, since it contradicts itself or base's rules: %w", err)
	}
	r.Verdict = verdict
	r.Change.BaseWhy = s.baseWhy
	return r, nil
}

// fits holds a report to the pair of commits and to the paths that GitHub says
// changed between them.
func fits(r *gate.Report, s *subject, changed github.Comparison) error {
	switch {
	case r.Change.Head != s.head:
		return fmt.Errorf("it is about the head %.40q, not %s", r.Change.Head, s.head)
	case r.Change.Base != s.base:
		return fmt.Errorf("it is about the base %.40q, not %s", r.Change.Base, s.base)
	case len(r.Checks) > maxChecks:
		return fmt.Errorf("it has %d checks, more than %d", len(r.Checks), maxChecks)
	}
	told := make(map[string]bool)
	for _, entry := range r.Split {
		told[entry.Path] = true
		if changed.Complete && !slices.Contains(changed.Paths, entry.Path) {
			return fmt.Errorf("it says that %.200q changed, and it did not", entry.Path)
		}
		if entry.OldPath != nil {
			told[*entry.OldPath] = true
		}
	}
	for _, path := range changed.Paths {
		if !told[path] {
			return fmt.Errorf("it does not say that %.200q changed", path)
		}
	}
	return nil
}
