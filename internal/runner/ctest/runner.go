package ctest

import (
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// Framework is the name that configurations use.
const Framework = "ctest"

// buildTime is what a build may take on top of the limit of the tests.
const buildTime = 30 * time.Minute

// Config is one CMake project.
type Config struct {
	Name    string            // in reports; "" is the framework's
	Dir     string            // repository-relative directory of the outermost CMakeLists.txt; "" is the root
	Command []string          // as [cmake, -DBUILD_TESTING=ON]; empty: cmake
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one test; default 10 minutes
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
		c.Timeout = 10 * time.Minute
	}
	if len(c.Command) == 0 || c.Command[0] == "ctest" {
		c.Command = []string{"cmake"}
	}
	c.Command = slices.Clone(c.Command)
	return &Runner{Config: c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is ctest.
func (r *Runner) Framework() string { return Framework }

// Blind: reports say nothing of what a test loads.
func (r *Runner) Blind() {}
