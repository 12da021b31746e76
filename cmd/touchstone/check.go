package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/report"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// checkOptions are the flags of check.
type checkOptions struct {
	repo, base, head string
	config           string
	runOptions
	advisory bool
	gold     string
	peers    []string
	budget   time.Duration
	audit    gate.Audit // what the coin says, with --full coin
	cache    string     // where observations are kept between runs; "" for nowhere
}

func (a *App) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Replay a change's tests on its base and on its head, and judge what they prove",
		Example: "  touchstone check                                  # the work tree, uncommitted work included\n" +
			"  touchstone check --base main --head feature\n" +
			"  touchstone check --format markdown --output json=../report.json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.repo, "repo", ".", "directory of the repository")
	flags.StringVar(&o.base, "base", "", "commit to compare with (default: the merge base with the default branch)")
	flags.StringVar(&o.head, "head", "", "commit to judge (default: the work tree, uncommitted work included)")
	flags.StringVar(&o.config, "config", "", "configuration file (default: "+config.Path+" of the base commit)")
	o.runOptions.add(flags)
	flags.StringVar(&o.gold, "gold", "", "commit, branch or pull request (#N, fetched from origin) of a reference fix: does each check accept it too?")
	flags.StringArrayVar(&o.peers, "peer", nil, "commit, branch or pull request (#N, fetched from origin) of another attempt at the same task: whose tests accept whose code? (repeatable)")
	flags.DurationVar(&o.budget, "budget", 0, "time for further questions: behind a bridge, without each hunk (default: twice the plain replay; -1s: none)")
	flags.BoolVar(&o.advisory, "advisory", false, "exit 0 whatever the verdict, and say so in the report")
	return cmd
}

// check is the main job: read the change, prepare the states, run the gate,
// report, exit by the verdict.
func (a *App) check(ctx context.Context, o checkOptions) error {
	outputs, err := o.check()
	if err != nil {
		return &exit{exitUsage, err}
	}
	if err := a.drawAudit(ctx, &o); err != nil {
		return err
	}
	o.cache = a.Cache
	progress := a.progress(o.printOptions)
	result, err := a.examine(ctx, o, progress)
	progress.Close()
	if err != nil {
		return err
	}
	if err := a.print(result, o.runOptions, outputs); err != nil {
		return err
	}
	return byVerdict(result)
}

// print shows a report and writes it wherever else it was asked for.
func (a *App) print(result *gate.Report, o runOptions, outputs []output) error {
	if !o.quiet {
		if err := report.Write(a.Stdout, o.format, result, a.reportOptions(o.printOptions)); err != nil {
			return undecided(fmt.Errorf("printing the report: %w", err))
		}
	}
	for _, out := range outputs {
		if err := writeReport(out.path, out.format, result, o.verbose); err != nil {
			return undecided(err)
		}
	}
	return nil
}

// byVerdict turns the verdict into the exit status.
func byVerdict(r *gate.Report) error {
	if r.Advisory {
		return nil
	}
	switch r.Verdict.Conclusion {
	case gate.Pass, gate.NotApplicable:
		return nil
	case gate.Fail:
		return &exit{code: exitFail}
	}
	return &exit{code: exitUndecided}
}

// writeReport writes a file whole or not at all.
func writeReport(path, format string, r *gate.Report, verbose bool) error {
	temporary := path + ".touchstone-tmp"
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	err = errors.Join(report.Write(file, format, r, report.Options{Verbose: verbose}), file.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary)
		return fmt.Errorf("writing the report to %s: %w", path, err)
	}
	return nil
}

func (a *App) reportOptions(o printOptions) report.Options {
	options := report.Options{Verbose: o.verbose}
	if file, ok := a.Stdout.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		options.Color = !o.noColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			options.Width = width
		}
	}
	return options
}

func (a *App) progress(o printOptions) *report.Progress {
	file, ok := a.Stderr.(*os.File)
	terminal := ok && term.IsTerminal(int(file.Fd())) && !o.quiet && a.Getenv("TERM") != "dumb"
	return report.NewProgress(a.Stderr, terminal, time.Now)
}

// examine runs the gate on a repository's change.
func (a *App) examine(ctx context.Context, o checkOptions, progress gate.Progress) (*gate.Report, error) {
	git.Sweep("git", "files") // of runs that were killed
	repo, err := git.Open(ctx, o.repo)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	defer repo.Close()
	progress.Phase("read the change")
	change, err := readChange(ctx, repo, o.base, o.head)
	if err != nil {
		return nil, err
	}
	settings, err := readConfig(change, o.config)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	o.override(&settings)
	classifier, err := change.classifier(settings)
	if err != nil {
		return nil, err
	}
	parts := patchsplit.Split(change.fileChanges(), classifier)
	change.info.Kind, change.info.KindEvidence = kindOf(change, parts)

	runners, err := findRunners(change, settings, parts)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	runners.doubts = append(runners.doubts, brokenConfig(change)...)
	box, err := openBox(ctx, change, settings, runners)
	if err != nil {
		return nil, undecided(err)
	}
	defer box.Close()
	facts := append(notes(change, box), runners.absent()...)
	if hasGo(runners.list) && box.Kind() != "docker" { // a container has modules from its image or by set-up
		progress.Phase("fetch modules")
		facts = append(facts, fetchModules(ctx, change)...)
	}
	others, err := readAttempts(ctx, change, rulesOf(settings), o.gold, o.peers)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	steering := steeringParts(change, parts)
	columns, err := newStates(ctx, change, parts, steering, box, others...)
	if err != nil {
		return nil, undecided(err)
	}
	defer columns.Close()
	further, err := columns.furtherOf(ctx, o, parts, runners, others)
	if err != nil {
		return nil, undecided(err)
	}
	columns.setups = newSetups(settings.Runners)
	facts = append(facts, columns.setups.skipped(box)...)
	facts = append(facts, sharedPackages(change, columns.setups)...)

	names := readNames(ctx, change, classifier, parts)
	in := gate.Inputs{
		Tool: "touchstone " + version, Repository: repo.RepositoryName(ctx),
		Change: change.info, Split: splitEntries(parts), Inert: inert(change, parts),
		Runners: runners.list, Open: columns.Open, SameTree: columns.SameTree(parts),
		Steering:   pathsOf(steering),
		Introduced: names.introduced, Gone: names.gone, Declared: names.stands, Reverts: takesBack(ctx, change, classifier),
		Memory: o.memory(ctx, columns, settings, runners.added),
		Select: a.selection(change, parts, settings, runners.list, columns), SuiteTime: suiteTime(repo.Root()),
		Policy: settings.Gate(), Full: fullMode(o.full), Audit: o.audit, FullWhenUnder: time.Duration(settings.Audit.FullWhenUnder),
		Timeout: o.timeout, Jobs: o.jobs, Progress: progress, Further: further,
		Tells:  readTells(ctx, change, parts),
		Code:   changedCode(change, parts),
		Doubts: slices.Concat(runners.doubts, abandons(change, runners.list)), Notes: facts,
	}
	result, err := gate.Run(ctx, in)
	if err != nil {
		return nil, undecided(err)
	}
	result.Advisory = o.advisory || settings.Mode == "advisory"
	return result, nil
}

// readConfig takes the configuration from base, so that a change cannot loosen
// the rules it is judged by, unless the user names a file.
func readConfig(c *change, path string) (config.Config, error) {
	if path != "" {
		content, err := os.ReadFile(path)
		if err != nil {
			return config.Config{}, fmt.Errorf("--config: %w", err)
		}
		return config.Parse(path, content)
	}
	content, err := c.base.ReadFile(config.Path)
	if errors.Is(err, os.ErrNotExist) {
		return config.Default(), nil
	}
	if err != nil {
		return config.Config{}, fmt.Errorf("reading %s of the base commit: %w", config.Path, err)
	}
	settings, err := config.Parse(config.Path, content)
	if err != nil {
		return settings, fmt.Errorf("%w (as it stands on base, %.12s; to judge a change that mends it, give the mended file by --config)", err, c.info.Base)
	}
	return settings, nil
}

func fullMode(text string) gate.FullMode {
	return map[string]gate.FullMode{"auto": gate.FullAuto, "always": gate.FullAlways, "never": gate.FullNever, "audit": gate.FullAudit}[text]
}

// brokenConfig says so when the change leaves a configuration that cannot be
// read: it does not count yet, but once merged every later change would stop at it.
func brokenConfig(c *change) []string {
	content, err := c.head.ReadFile(config.Path)
	if err != nil || !slices.ContainsFunc(c.files, func(file git.Change) bool { return file.Path == config.Path }) {
		return nil
	}
	if _, err := config.Parse(config.Path, content); err != nil {
		return []string{fmt.Sprintf("this change leaves a configuration that cannot be read, by which no later change could be judged: %v", err)}
	}
	return nil
}

// notes are facts about this run that a reader of the report must know.
func notes(c *change, box *sandbox.Sandbox) []string {
	var notes []string
	if reason := box.Reason(); reason != "" {
		notes = append(notes, reason)
	}
	for _, file := range c.files {
		if file.OldMode == git.ModeSubmodule || file.NewMode == git.ModeSubmodule {
			notes = append(notes, fmt.Sprintf("the submodule %q changes; every state shows it as it is in the work tree", file.Path))
		}
		if file.Path == config.Path {
			notes = append(notes, "this change edits "+config.Path+"; it is judged by base's version")
		}
	}
	return notes
}
