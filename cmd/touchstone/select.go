package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
	"github.com/touchstone-gate/touchstone/patchsplit"
	"github.com/touchstone-gate/touchstone/rts"
)

// selectOptions are the flags of select.
type selectOptions struct {
	repo, base, head string
	config           string
	strategy         string
	index            string
	mapFile          string
	sandbox          string
	budget           time.Duration
	ledger           string
	timeout          time.Duration
	writeOptions
}

var (
	selectFormats = []string{"text", "json", "args"}
	indexModes    = []string{"off", "build", "refresh"}
)

func (a *App) selectCommand() *cobra.Command {
	var o selectOptions
	cmd := &cobra.Command{
		Use:   "select",
		Short: "Print the tests that a change can break, each with its reasons",
		Long: "Select chooses the tests that a change can break, from what they were observed to execute and read\n" +
			"(--index build records that, on base) and from who imports whom. What it cannot tell it selects, and says why.",
		Example: "  touchstone select --index build                  # once, and now and then: run base's suite and keep what it does\n" +
			"  touchstone select                                # the work tree against the default branch\n" +
			"  pytest $(touchstone select --format args)",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.selectRows(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.repo, "repo", ".", "directory of the repository")
	flags.StringVar(&o.base, "base", "", "commit to compare with (default: the merge base with the default branch)")
	flags.StringVar(&o.head, "head", "", "commit to select for (default: the work tree, uncommitted work included)")
	flags.StringVar(&o.config, "config", "", "configuration file (default: "+config.Path+" of the base commit)")
	flags.StringVar(&o.strategy, "strategy", "", "how to select: "+joined(rts.Strategies())+" (default: the configuration's, auto)")
	o.writeOptions.add(flags, selectFormats...)
	flags.StringVar(&o.index, "index", "off", "make the coverage map of base: build, refresh (only what has changed since), off")
	flags.StringVar(&o.mapFile, "map", "", "file of the coverage map (default: one for the repository in the user's cache directory)")
	flags.StringVar(&o.sandbox, "sandbox", "", "how states are made: "+strings.Join(config.SandboxKinds(), ", ")+" (default: the configuration's)")
	flags.DurationVar(&o.budget, "budget", 0, "select the likeliest to fail that fit in this time, and say what is left out")
	flags.StringVar(&o.ledger, "ledger", "", "within the budget, tests that failed in earlier changes come first: where the audit ledger is that knows\nof them (default: $"+auditLedgerVariable+", else none)")
	flags.DurationVar(&o.timeout, "timeout", 0, "limit of one test run (default: the runner's, 10m)")
	return cmd
}

func joined(list []rts.Strategy) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

func (o *selectOptions) check() error {
	switch {
	case o.strategy != "" && !slices.Contains(rts.Strategies(), rts.Strategy(o.strategy)):
		return fmt.Errorf("--strategy: %q is not one of %s", o.strategy, joined(rts.Strategies()))
	case !slices.Contains(indexModes, o.index):
		return fmt.Errorf("--index: %q is not one of %s", o.index, strings.Join(indexModes, ", "))
	case o.budget < 0:
		return fmt.Errorf("--budget: %s is not a time", o.budget)
	case o.timeout < 0:
		return fmt.Errorf("--timeout: %s is not a limit", o.timeout)
	}
	return o.writeOptions.check()
}

// selectRows is the command: prepare, index if asked to, select, print.
func (a *App) selectRows(ctx context.Context, o selectOptions) error {
	if err := o.check(); err != nil {
		return &exit{exitUsage, err}
	}
	s, err := prepareSelect(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.index != "off" {
		if err := s.makeIndex(ctx, a.Stderr); err != nil || o.format == "text" {
			return err
		}
	}
	facts, err := gatherFacts(ctx, s.change, s.parts, s.runners.list, s.states, s.mapFile)
	if err != nil {
		return err
	}
	defer facts.Close()
	chosen := facts.choose(s.settings, cmp.Or(rts.Strategy(o.strategy), rts.Strategy(s.settings.Select.Strategy)))
	var left []rts.Selected
	if o.budget > 0 {
		past, err := a.history(ctx, o.ledger, s.change)
		if err != nil {
			return err
		}
		chosen.Rows, left = rts.Within(rts.Rank(chosen.Rows, past), o.budget)
	}
	return o.write(a.Stdout, func(w io.Writer, format string) error {
		return printSelection(w, a.Stderr, format, printed{chosen, left, s.runners.list, s.change.head})
	})
}

// choose selects. A map that turned out to be damaged on the way is not
// believed.
func (f *selectorFacts) choose(settings config.Config, strategy rts.Strategy) rts.Selection {
	o := rts.Options{Strategy: strategy, Always: anyGlob(settings.Select.Always), AllIfChanged: anyGlob(settings.Select.AllIfChanged)}
	chosen := rts.Select(f.change, f.facts, o)
	if f.stored != nil && f.stored.Err() != nil {
		o.Strategy = rts.Everything
		chosen = rts.Select(f.change, f.facts, o)
		chosen.Strategy, chosen.Fallback = strategy, f.stored.Err().Error()
	}
	return chosen
}

// anyGlob holds for paths that one of the patterns matches; nil for no patterns.
// A pattern that is none matches everything: the rows it was to keep are kept.
func anyGlob(patterns []string) func(string) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(path string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := doublestar.Match(pattern, path)
			return ok || err != nil
		})
	}
}

// selecting is what the command works on.
type selecting struct {
	o        selectOptions
	repo     *git.Repo
	change   *change
	settings config.Config
	parts    []patchsplit.FilePart
	runners  *runners
	states   *states
	box      *sandbox.Sandbox
	mapFile  string
}

func (s *selecting) Close() {
	if s.states != nil {
		s.states.Close()
	}
	if s.box != nil {
		s.box.Close()
	}
	s.repo.Close()
}

// prepareSelect reads the change and makes its states ready.
func prepareSelect(ctx context.Context, o selectOptions) (_ *selecting, err error) {
	s := &selecting{o: o}
	if s.repo, err = git.Open(ctx, o.repo); err != nil {
		return nil, &exit{exitUsage, err}
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	base := o.base
	if s.change, err = readChange(ctx, s.repo, base, o.head); err != nil && o.index != "off" && base == "" {
		s.change, err = readChange(ctx, s.repo, "HEAD", o.head) // on the default branch itself
	}
	if err != nil {
		return nil, err
	}
	if s.settings, err = readConfig(s.change, o.config); err != nil {
		return nil, &exit{exitUsage, err}
	}
	if o.sandbox != "" {
		s.settings.Sandbox.Kind = config.SandboxKind(o.sandbox)
	}
	split := s.settings.Split
	classifier, err := patchsplit.NewClassifier(patchsplit.Rules{Test: split.Test, Production: split.Production, Neutral: split.Neutral}, s.change.base, s.change.head)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	s.parts = patchsplit.Split(s.change.fileChanges(), classifier)
	if s.runners, err = findRunners(s.change, s.settings, s.parts); err != nil {
		return nil, &exit{exitUsage, err}
	}
	if len(s.runners.list) == 0 {
		return nil, &exit{exitUsage, errNoRunner}
	}
	box, err := openBox(ctx, s.change, s.settings, s.runners)
	if err != nil {
		return nil, undecided(err)
	}
	s.box = box
	if s.states, err = newStates(ctx, s.change, s.parts, nil, box); err != nil {
		return nil, undecided(err)
	}
	s.mapFile, err = mapPath(o.mapFile, s.repo.Root())
	return s, err
}

// mapPath is where the map of a repository lies: never inside it.
func mapPath(named, root string) (string, error) {
	if named != "" {
		return named, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", &exit{exitUsage, fmt.Errorf("no place for the coverage map: %w: name one by --map", err)}
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(cache, "touchstone", filepath.Base(root)+"-"+hex.EncodeToString(sum[:6])+".map"), nil
}
