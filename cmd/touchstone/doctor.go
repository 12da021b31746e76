package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/report"
)

func (a *App) doctorCommand() *cobra.Command {
	var o selectOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say which tests of this repository can be run here, and prove it on one test of each runner",
		Long: "Doctor looks at the commit that is checked out as check would look at base: which runners its files ask for\n" +
			"and why, which programs and versions run them, in which sandbox. It lists the tests of each runner, runs one as\n" +
			"proof, and says what is missing and how to mend it. It exits 0 when every runner ran a test, else 3.",
		Example: "  touchstone doctor\n  touchstone doctor --repo ../shop --format json",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.repo, "repo", ".", "directory of the repository")
	flags.StringVar(&o.base, "base", "HEAD", "commit to look at")
	flags.StringVar(&o.config, "config", "", "configuration file (default: "+config.Path+" of the commit)")
	o.writeOptions.add(flags, "text", "json")
	flags.StringVar(&o.sandbox, "sandbox", "", "how states are made: "+strings.Join(config.SandboxKinds(), ", ")+" (default: the configuration's)")
	flags.DurationVar(&o.timeout, "timeout", 0, "limit of one test run (default: the runner's, 10m)")
	return cmd
}

// diagnosis is what doctor found, as its JSON says it.
type diagnosis struct {
	Schema  int           `json:"schema"`
	Tool    string        `json:"tool"`
	Commit  string        `json:"commit"`
	Sandbox sandboxFound  `json:"sandbox"`
	Runners []runnerFound `json:"runners"`
	Notes   []string      `json:"notes,omitempty"`
	OK      bool          `json:"ok"` // every runner ran a row
}

type sandboxFound struct {
	Kind   string   `json:"kind"`
	Why    string   `json:"why,omitempty"` // why not the one that was wished for
	Layers []string `json:"layers"`
}

type runnerFound struct {
	Name      string   `json:"name"`
	Framework string   `json:"framework"`
	Dir       string   `json:"dir"`
	Why       string   `json:"why"`     // what chose it
	Version   string   `json:"version"` // what its programs say of themselves, "" when they say nothing
	Units     int      `json:"units"`
	Rows      int      `json:"rows"`
	Command   []string `json:"command"` // that ran the proof
	Proof     *proof   `json:"proof"`   // nil when no row could be run
	Problems  []string `json:"problems,omitempty"`
}

// proof is the row that was run.
type proof struct {
	ID      string  `json:"id"`
	Outcome string  `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	Message string  `json:"message,omitempty"`
	Seconds float64 `json:"seconds"`
}

// versioned is a runner whose programs say which they are.
type versioned interface{ Version() gate.Command }

func (a *App) doctor(ctx context.Context, o selectOptions) error {
	if err := o.writeOptions.check(); err != nil {
		return &exit{exitUsage, err}
	}
	o.head, o.index = o.base, "off"
	s, err := prepareSelect(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := s.diagnose(ctx)
	if err != nil {
		return undecided(err)
	}
	err = o.write(a.Stdout, func(w io.Writer, format string) error {
		if format == "json" {
			return writeIndented(w, d)
		}
		return d.writeText(w, a.reportOptions(printOptions{}).Width)
	})
	if err != nil {
		return err
	}
	if !d.OK {
		return &exit{exitUndecided, nil}
	}
	return nil
}

// diagnose asks every runner for its rows and for one proof.
func (s *selecting) diagnose(ctx context.Context) (*diagnosis, error) {
	d := &diagnosis{
		Schema: 1, Tool: "touchstone " + version, Commit: s.change.info.Base, OK: true, Runners: []runnerFound{},
		Sandbox: sandboxFound{s.box.Kind(), s.box.Reason(), s.box.Layers()},
	}
	if hasGo(s.runners.list) && s.box.Kind() != "docker" {
		d.Notes = append(d.Notes, fetchModules(ctx, s.change)...)
	}
	d.Notes = append(d.Notes, unreadConfig(s.change, s.o.config)...)
	s.states.setups = newSetups(s.settings.Runners)
	d.Notes = append(d.Notes, s.states.setups.skipped(s.box)...)
	state, err := s.states.Open(ctx, gate.Base)
	if err != nil {
		return nil, err
	}
	for i, r := range s.runners.list {
		found := runnerFound{Name: r.Name(), Framework: r.Framework(), Dir: s.runners.dirs[i], Why: s.runners.why[i]}
		if err := found.examine(ctx, state, r, s.o); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			found.Problems = append(found.Problems, err.Error())
		}
		d.OK = d.OK && found.Proof != nil
		d.Runners = append(d.Runners, found)
	}
	return d, nil
}

// unreadConfig says so when the work tree's configuration is not the one that
// was read, as for somebody who is just writing it.
func unreadConfig(c *change, given string) []string {
	if given != "" {
		return nil
	}
	path := filepath.Join(c.repo.Root(), filepath.FromSlash(config.Path))
	here, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	if there, err := c.base.ReadFile(config.Path); err == nil && bytes.Equal(here, there) {
		return nil
	}
	return []string{fmt.Sprintf("%s of the work tree is not what commit %.12s holds, and was not read: commit it, or give it by --config %s", config.Path, c.info.Base, report.Shell([]string{path}))}
}

// examine fills in what a runner says in a state.
func (f *runnerFound) examine(ctx context.Context, state gate.State, r gate.Runner, o selectOptions) error {
	f.Version = versionOf(ctx, state, r)
	units, err := r.Units(ctx, state.Tree(), nil, true)
	if err != nil {
		return fmt.Errorf("finding its tests: %w", err)
	}
	if f.Units = len(units); len(units) == 0 {
		return errors.New("no test file was found: is dir: right, and does the framework's own configuration name the files?")
	}
	listed, err := r.List(ctx, state, units)
	if err != nil {
		return fmt.Errorf("listing its tests: %w", err)
	}
	f.Rows = len(listed.Rows)
	f.failures(listed.Units)
	return f.prove(ctx, state, r, units, listed, o)
}

// tries is how many rows are run until one passes: a first row that is skipped
// or red proves that the runner runs, but a green one says more.
const tries = 3

func (f *runnerFound) prove(ctx context.Context, state gate.State, r gate.Runner, units []string, listed gate.Result, o selectOptions) error {
	batches := []gate.Batch{{Units: units[:1], Timeout: o.timeout}} // what cannot be listed is run by its unit
	if len(listed.Rows) > 0 {
		batches = nil
		for _, row := range listed.Rows[:min(tries, len(listed.Rows))] {
			batches = append(batches, gate.Batch{Units: []string{row.Row.Unit}, Rows: []string{row.Row.ID}, Timeout: o.timeout})
		}
	}
	for _, batch := range batches {
		ran, err := r.Run(ctx, state, batch)
		if err != nil {
			return fmt.Errorf("running %s: %w", strings.Join(slices.Concat(batch.Rows, batch.Units)[:1], ""), err)
		}
		if len(ran.Commands) > 0 {
			f.Command = ran.Commands[len(ran.Commands)-1]
		}
		for _, row := range ran.Rows {
			if n := len(row.Observations); n > 0 && (f.Proof == nil || row.Observations[n-1].Outcome == gate.Passed) {
				last := row.Observations[n-1]
				f.Proof = &proof{row.Row.ID, last.Outcome.String(), string(last.Reason), last.Message, last.Duration.Seconds()}
			}
		}
		if f.Rows == 0 {
			f.Rows = len(ran.Rows)
		}
		if f.Proof != nil && f.Proof.Outcome == gate.Passed.String() {
			return nil
		}
		if f.Proof == nil && len(listed.Units) == 0 {
			f.failures(ran.Units)
		}
	}
	if f.Proof == nil && len(f.Problems) == 0 {
		f.Problems = append(f.Problems, "the command ended without a result for any test")
	}
	return nil
}

// failures says of units that did not load why, once for each reason, and what
// to do.
func (f *runnerFound) failures(units []gate.UnitFailure) {
	var order []gate.Observation
	named := make(map[string][]string)
	for _, u := range units {
		if named[u.Observation.Message] == nil {
			order = append(order, u.Observation)
		}
		named[u.Observation.Message] = append(named[u.Observation.Message], u.Unit)
	}
	advised := false
	for _, o := range order {
		affected := named[o.Message]
		what := affected[0] + " does not load"
		if more := len(affected) - 1; more > 0 {
			what = fmt.Sprintf("%s and %d more do not load", affected[0], more)
		}
		f.Problems = append(f.Problems, fmt.Sprintf("%s (%s): %s", what, o.Reason, o.Message))
		advised = advised || o.Reason == gate.Import || o.Reason == gate.MissingSymbol
	}
	if advice := remedies[f.Framework]; advised && advice != "" {
		f.Problems = append(f.Problems, advice)
	}
}

const pythonRemedy = "if a dependency is missing: install it where this interpreter looks (python -m pip install ...); if the tests find another copy of this repository's own package: " +
	"install this one (python -m pip install -e .) or set env: {PYTHONPATH: src} for the runner"

// remedies say by framework what helps when a dependency is not found: states
// have no network, so it has to be there before.
var remedies = map[string]string{
	"pytest": pythonRemedy, "unittest": pythonRemedy, "django": pythonRemedy,
	"gotest": "if a module is missing: go mod download",
	"dotnet": "if a package is missing: dotnet restore, or setup: [[dotnet, restore]] for the runner",
	"cargo":  "if a package is missing: cargo fetch, or setup: [[cargo, fetch]] for the runner",
	"jest":   nodeRemedy,
	"vitest": nodeRemedy,
	"mocha":  nodeRemedy,
	"ava":    nodeRemedy,
	"node":   nodeRemedy,
}

const nodeRemedy = "if a module is missing: install the repository's packages (npm ci, pnpm install, yarn or bun install), or name that under setup: for the runner"

// versionOf asks a runner's programs which they are, on one line.
func versionOf(ctx context.Context, state gate.State, r gate.Runner) string {
	v, ok := r.(versioned)
	if !ok {
		return ""
	}
	command := v.Version()
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out // old pytests answer on standard error
	if exit, err := state.Run(ctx, command); err != nil || exit.Code != 0 {
		return ""
	}
	return strings.Join(strings.Fields(out.String()), " ")
}
