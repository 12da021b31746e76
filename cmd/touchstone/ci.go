package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/github"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// ciOptions are the flags of ci.
type ciOptions struct {
	repo      string
	noPublish bool
	outputDir string
	runOptions
}

func (a *App) ciCommand() *cobra.Command {
	var o ciOptions
	cmd := &cobra.Command{
		Use:   "ci",
		Short: "What the action runs: the event's change, checked and published",
		Long: "Takes the change from the CI system's environment: a GitHub event, a GitLab merge request, a Buildkite\n" +
			"build, or TOUCHSTONE_BASE and TOUCHSTONE_HEAD. On GitHub it posts a check run and a comment, unless\n" +
			"--no-publish leaves that to 'touchstone publish' in a job that runs no code of the change.",
		Example: "  touchstone ci                                  # in a workflow, with GITHUB_TOKEN\n  touchstone ci --no-publish --output-dir out    # the first of two jobs",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.ci(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.repo, "repo", ".", "directory of the repository")
	flags.BoolVar(&o.noPublish, "no-publish", false, "post nothing; leave report.json for 'touchstone publish'")
	flags.StringVar(&o.outputDir, "output-dir", "", "where report.json goes (default: a new directory)")
	o.runOptions.add(flags)
	flags.Lookup("full").Usage = "run the whole suite on head: auto (when it is cheap), always, never, coin (when $" + auditDrawVariable + " says so; in a merge queue always)"
	return cmd
}

func (a *App) ci(ctx context.Context, o ciOptions) error {
	outputs, err := o.check()
	if err != nil {
		return &exit{exitUsage, err}
	}
	if a.Getenv("GITHUB_EVENT_NAME") == "" {
		return a.ciElsewhere(ctx, o, outputs)
	}
	w, err := a.openWorkflow()
	if err != nil {
		return err
	}
	if w.event.Kind == github.Refresh {
		return w.refresh(ctx, o.repo)
	}
	s, err := w.subject(ctx, o.noPublish)
	if err != nil || s == nil {
		return err
	}
	if o.outputDir, err = outputDirectory(o.outputDir); err != nil {
		return err
	}
	if err := w.pair(ctx, o.repo, s); err != nil {
		return w.broken(ctx, s, !o.noPublish, undecided(err))
	}
	if err := w.configure(s); err != nil {
		return w.broken(ctx, s, !o.noPublish, &exit{exitUsage, err})
	}
	if err := w.ownName(s, !o.noPublish); err != nil {
		return err
	}
	result, err := w.judge(ctx, o, s)
	if err != nil {
		return w.broken(ctx, s, !o.noPublish, err)
	}
	return w.deliver(ctx, s, result, o, append(outputs, output{"json", filepath.Join(o.outputDir, "report.json")}))
}

// judge runs the gate, or says why the question does not arise.
func (w *workflow) judge(ctx context.Context, o ciOptions, s *subject) (*gate.Report, error) {
	if result := w.exempted(ctx, s); result != nil {
		return result, nil
	}
	options := checkOptions{repo: o.repo, base: s.base, head: s.head, runOptions: o.runOptions, cache: w.app.Cache}
	if s.pull == nil && o.full == "coin" { // a merge queue runs everything
		options.take(draw{Draw: audit.Draw{Probability: audit.Certain, Heads: true}})
	}
	if err := w.app.drawCI(&options, func(d draw) error { return d.belongs(w.context.Repository, s.number()) }); err != nil {
		return nil, err
	}
	if !o.noPublish {
		w.begin(ctx, s)
	}
	w.step.Group("touchstone: replay")
	progress := report.NewProgress(w.app.Stdout, false, time.Now)
	progress.Lines()
	result, err := w.app.examine(ctx, options, progress)
	progress.Close()
	w.step.EndGroup()
	if err != nil {
		return nil, err
	}
	result.Change.BaseWhy = s.baseWhy
	return result, nil
}

// deliver writes the report where the workflow looks for it (the last of the
// outputs) and wherever else it was asked for, posts it, and exits by the verdict.
func (w *workflow) deliver(ctx context.Context, s *subject, result *gate.Report, o ciOptions, outputs []output) error {
	w.sign(ctx, s, result)
	if err := w.app.print(result, o.runOptions, outputs); err != nil {
		return err
	}
	if err := w.record(result, outputs[len(outputs)-1].path); err != nil {
		return undecided(err)
	}
	if !o.noPublish {
		w.post(ctx, s, result)
	}
	return byVerdict(result)
}

// sign adds to a report what the event knows, and takes secrets out of it.
func (w *workflow) sign(ctx context.Context, s *subject, result *gate.Report) {
	result.Repository = w.context.Repository
	result.Advisory = s.settings.Mode == "advisory"
	if s.pull != nil {
		result.PullRequest = s.pull.Number
		result.Change.Agent = w.agent(ctx, s)
	}
	result.Notes = append(result.Notes, w.notes...)
	w.secrets.scrub(result)
}

// agent says whose change it looks like. Commits that cannot be read leave the
// signs of the pull request itself.
func (w *workflow) agent(ctx context.Context, s *subject) gate.Agent {
	if !s.commitsRead {
		s.commitsRead = true
		if s.commits, s.commitsErr = w.client.Commits(ctx, s.pull.Number); s.commitsErr != nil {
			w.note("the commits of the pull request could not be read, so an agent's addresses in them are not seen: %v", s.commitsErr)
		}
	}
	name, signals := github.AgentOf(s.pull, s.commits)
	return gate.Agent{Likely: name != "", Name: name, Signals: signals}
}

// record writes the job summary and the step's outputs.
func (w *workflow) record(result *gate.Report, path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	var summary summaryText
	err = errors.Join(report.Write(&summary, "markdown", result, report.Options{}), w.step.Summary("## "+w.name+"\n\n"+string(summary)))
	for _, output := range [][2]string{
		{"verdict", result.Verdict.Conclusion.String()},
		{"report", full},
		{"discriminating", strconv.Itoa(result.Summary.Discriminating)},
		{"vacuous", strconv.Itoa(result.Summary.RegressionOnly)},
		{"not_comparable", strconv.Itoa(result.Summary.NotComparable)},
		{"flips", strconv.Itoa(result.Summary.Flips)},
		{"lost", strconv.Itoa(result.Summary.Lost)},
	} {
		err = errors.Join(err, w.step.Output(output[0], output[1]))
	}
	return err
}

type summaryText []byte

func (t *summaryText) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	return len(p), nil
}

func outputDirectory(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "touchstone-report-")
		return made, undecided(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", &exit{exitUsage, fmt.Errorf("--output-dir: %w", err)}
	}
	return dir, nil
}
