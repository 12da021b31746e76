package dotnet

import (
	"context"
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// Framework is the name that configurations use.
const Framework = "dotnet"

// Config is the test projects of one directory.
type Config struct {
	Name    string            // in reports; "" is the framework's
	Dir     string            // repository-relative directory above the projects; "" is the root
	Command []string          // as [dotnet, test, -c, Release]; empty: dotnet test
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one project, its build included; default 20 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config

	left braces.States[struct{}]
}

var _ gate.Runner = (*Runner)(nil)

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = Framework
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Minute
	}
	if len(c.Command) == 0 {
		c.Command = []string{"dotnet", "test"}
	}
	c.Command = slices.DeleteFunc(slices.Clone(c.Command), func(word string) bool { return word == "--no-build" })
	return &Runner{Config: c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is dotnet.
func (r *Runner) Framework() string { return Framework }

// Version is the command that tells the SDK's version.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: []string{r.Command[0], "--version"}, Env: r.Env}
}

// Blind: reports say nothing of what a test loads.
func (r *Runner) Blind() {}

// List names the rows of the units as their sources declare them; nothing runs.
func (r *Runner) List(_ context.Context, state gate.State, units []string) (gate.Result, error) {
	p := newProjects(state.Tree(), r.Dir)
	var result gate.Result
	for _, unit := range units {
		for _, d := range p.declared(unit) {
			d.row.Runner = r.Name()
			result.Rows = append(result.Rows, gate.Observed{Row: d.row})
		}
	}
	return result, nil
}
