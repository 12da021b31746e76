package pytest

import (
	"fmt"
	"sync"
	"time"
)

// The frameworks, by the names that configurations use.
const (
	Pytest   = "pytest"
	Unittest = "unittest"
	Django   = "django"
)

// Config is one way to run a framework.
type Config struct {
	Framework string            // Pytest, Unittest or Django; "" is Pytest
	Name      string            // in reports; "" is the framework's
	Dir       string            // repository-relative directory that it runs in; "" is the root
	Command   []string          // as [python -m pytest]; empty: found in the state
	Env       map[string]string // added to the environment
	Timeout   time.Duration     // of one run; default 10 minutes
	Added     []string          // files that the change brings, see company
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config

	mu          sync.Mutex
	interpreter string // the one that was found, "" before the first run
}

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Framework == "" {
		c.Framework = Pytest
	}
	if c.Name == "" {
		c.Name = c.Framework
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	return &Runner{Config: c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is pytest, unittest or django.
func (r *Runner) Framework() string { return r.Config.Framework }

// MissingToolError says that a program the tests need is not there.
type MissingToolError struct {
	Tool  string // python, pytest, django, or the configured command
	Words string // what was looked for and what the state said
}

func (e *MissingToolError) Error() string {
	const name = "name the right one in runners: command: of .github/touchstone.yml"
	switch e.Tool {
	case "python":
		return fmt.Sprintf("no python was found (%s): install it, activate the virtual environment, or %s", e.Words, name)
	case Pytest, Django:
		return fmt.Sprintf("the interpreter has no %s (%s): install it there (python -m pip install %s), or %s", e.Tool, e.Words, e.Tool, name)
	}
	return fmt.Sprintf("%s does not run (%s): install it, or %s", e.Tool, e.Words, name)
}
