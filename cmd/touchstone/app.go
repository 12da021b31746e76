package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// The exit codes of every command.
const (
	exitPass        = 0 // pass or not applicable
	exitFail        = 1
	exitUsage       = 2 // usage or configuration error
	exitUndecided   = 3 // it could not find out
	exitInterrupted = 130
)

// version is what reports call the tool's version.
const version = "0.1.0"

// App is the command with everything that it takes from its surroundings.
type App struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	Cache  string // where observations are kept between runs; "" for nowhere

	now   func() time.Time                           // nil: the real clock
	sleep func(context.Context, time.Duration) error // nil: real waiting
}

// exit is an error that carries its exit code. A nil cause means that all has
// been said.
type exit struct {
	code  int
	cause error
}

func (e *exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func (e *exit) Unwrap() error { return e.cause }

// undecided wraps what kept the tool from finding out.
func undecided(err error) error {
	if err == nil {
		return nil
	}
	return &exit{exitUndecided, err}
}

// Main runs one command line and returns its exit code.
func (a *App) Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if ctx.Err() != nil {
		fmt.Fprintln(a.Stderr, "touchstone: interrupted; nothing was left behind")
		return exitInterrupted
	}
	var e *exit
	switch {
	case err == nil:
		return exitPass
	case !errors.As(err, &e):
		fmt.Fprintf(a.Stderr, "touchstone: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
		return exitUsage
	case e.cause != nil:
		fmt.Fprintf(a.Stderr, "touchstone: %v\n", e.cause)
	}
	return e.code
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "touchstone",
		Short: "Tells what the green of a change proves",
		Long: "Touchstone replays the tests of a change on its base commit and on its head, and tells which of them\n" +
			"would have caught the bug, which pass either way, and what the change broke elsewhere.",
		Example:       "  touchstone check                       # the work tree against the default branch\n  touchstone check --base v1.2 --head HEAD\n  touchstone demo",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.checkCommand(), a.demoCommand(), a.splitCommand(), a.doctorCommand(), a.selectCommand(), a.auditCommand(), a.ciCommand(), a.publishCommand())
	return root
}

// knownCommand refuses what is no command, and names those that may be meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// noArguments refuses words that are no flags. Revisions are often given as git
// takes them: how they are given here is said.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("base") != nil && cmd.Flags().Lookup("head") != nil {
		return fmt.Errorf("%q is no flag, and this command takes nothing else: revisions are given by --base and --head", args[0])
	}
	return fmt.Errorf("%q is no flag, and this command takes nothing else", args[0])
}
