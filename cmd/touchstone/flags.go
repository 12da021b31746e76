package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// runOptions are the flags of every command that runs the gate.
type runOptions struct {
	sandbox      string
	jobs, repeat int
	timeout      time.Duration
	full         string
	fresh        bool
	format       string
	outputs      []string
	printOptions
}

// printOptions are the flags of every command that prints for people.
type printOptions struct{ quiet, verbose, noColor bool }

// unset is the number of a flag that was not given.
const unset = -1

func (o *runOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.format, "format", "text", "what to print: "+strings.Join(report.Formats(), ", "))
	flags.StringArrayVar(&o.outputs, "output", nil, "write a report to a file too, as FORMAT=PATH (repeatable)")
	flags.StringVar(&o.sandbox, "sandbox", "", "how states are made: "+strings.Join(config.SandboxKinds(), ", ")+" (default: the configuration's)")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "states that run tests side by side")
	flags.IntVar(&o.repeat, "repeat", unset, "observations of each deciding cell (default: the configuration's, 2)")
	flags.Lookup("repeat").DefValue = "0" // which help does not show
	flags.DurationVar(&o.timeout, "timeout", 0, "limit of one test run (default: the runner's, 10m)")
	flags.StringVar(&o.full, "full", "auto", "run the whole suite on head: auto (when it is cheap), always, never, coin (when this change is drawn for an audit)")
	flags.BoolVar(&o.fresh, "fresh", false, "ask base again, even where an earlier run of the same tree with the same tools has answered")
	o.printOptions.add(flags)
}

func (o *printOptions) add(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing and show no progress, only set the exit status")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "print every file, row and command")
	flags.BoolVar(&o.noColor, "no-color", false, "print without colour")
}

// override lets flags outrank the configuration.
func (o *runOptions) override(c *config.Config) {
	if o.sandbox != "" {
		c.Sandbox.Kind = config.SandboxKind(o.sandbox)
	}
	if o.repeat > 0 {
		c.Repeat = config.Count(o.repeat)
	}
}

// fullModes are the values of --full.
var fullModes = []string{"auto", "always", "never", "coin"}

type output struct{ format, path string }

// check refuses values that mean nothing, and reads where reports go.
func (o *runOptions) check() ([]output, error) {
	if !slices.Contains(report.Formats(), o.format) {
		return nil, fmt.Errorf("--format: %q is not one of %s", o.format, strings.Join(report.Formats(), ", "))
	}
	outputs, err := readOutputs(o.outputs, report.Formats())
	if err != nil {
		return nil, err
	}
	switch {
	case !slices.Contains(fullModes, o.full):
		return nil, fmt.Errorf("--full: %q is not auto, always, never or coin", o.full)
	case o.sandbox != "" && !slices.Contains(config.SandboxKinds(), o.sandbox):
		return nil, fmt.Errorf("--sandbox: %q is not one of %s", o.sandbox, strings.Join(config.SandboxKinds(), ", "))
	case o.jobs < 1:
		return nil, fmt.Errorf("--jobs: %d is less than 1", o.jobs)
	case o.repeat != unset && o.repeat < 1:
		return nil, fmt.Errorf("--repeat: %d is less than 1", o.repeat)
	case o.timeout < 0:
		return nil, fmt.Errorf("--timeout: %s is not a limit", o.timeout)
	}
	return outputs, nil
}

// readOutputs reads FORMAT=PATH.
func readOutputs(texts, formats []string) ([]output, error) {
	var outputs []output
	for _, text := range texts {
		format, path, ok := strings.Cut(text, "=")
		if !ok || path == "" || !slices.Contains(formats, format) {
			return nil, fmt.Errorf("--output: %q is not FORMAT=PATH with a format of %s", text, strings.Join(formats, ", "))
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--output: %q is no directory: make it first", filepath.Dir(path))
		}
		outputs = append(outputs, output{format, path})
	}
	return outputs, nil
}

// writeOptions are the flags of commands that print something else than a report.
type writeOptions struct {
	format  string
	formats []string // that the command knows
	outputs []string
	printOptions
}

func (o *writeOptions) add(flags *pflag.FlagSet, formats ...string) {
	o.formats = formats
	flags.StringVar(&o.format, "format", formats[0], "what to print: "+strings.Join(formats, ", "))
	flags.StringArrayVar(&o.outputs, "output", nil, "write it to a file too, as FORMAT=PATH (repeatable)")
	o.printOptions.add(flags)
}

func (o *writeOptions) check() error {
	if !slices.Contains(o.formats, o.format) {
		return fmt.Errorf("--format: %q is not one of %s", o.format, strings.Join(o.formats, ", "))
	}
	_, err := readOutputs(o.outputs, o.formats)
	return err
}

// write prints in the format that was asked for, and into the files.
func (o *writeOptions) write(stdout io.Writer, print func(w io.Writer, format string) error) error {
	if !o.quiet {
		if err := print(stdout, o.format); err != nil {
			return undecided(err)
		}
	}
	outputs, err := readOutputs(o.outputs, o.formats)
	for _, out := range outputs {
		var text bytes.Buffer
		if err = errors.Join(err, print(&text, out.format)); err == nil {
			err = os.WriteFile(out.path, text.Bytes(), 0o644)
		}
	}
	return undecided(err)
}
