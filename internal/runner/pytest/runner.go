package pytest

import (
	"fmt"
	"sync"
	"time"
)

// Config is one way to run pytest.
type Config struct {
	Name    string            // in reports; "" is "pytest"
	Dir     string            // repository-relative directory that pytest runs in; "" is the root
	Command []string          // as [python -m pytest]; empty: found in the state
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one run; default 10 minutes
	Added   []string          // files that the change brings, see company
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config

	mu          sync.Mutex
	interpreter string // the one that was found, "" before the first run
}

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = "pytest"
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

// Framework is pytest.
func (r *Runner) Framework() string { return "pytest" }

// MissingToolError says that a program the tests need is not there.
type MissingToolError struct {
	Tool  string // python, pytest, or the configured command
	Words string // what was looked for and what the state said
}

func (e *MissingToolError) Error() string {
	const name = "name the right one in runners: command: of .github/touchstone.yml"
	switch e.Tool {
	case "python":
		return fmt.Sprintf("no python was found (%s): install it, activate the virtual environment, or %s", e.Words, name)
	case "pytest":
		return fmt.Sprintf("the interpreter has no pytest (%s): install it there (python -m pip install pytest), or %s", e.Words, name)
	}
	return fmt.Sprintf("%s does not run (%s): install it, or %s", e.Tool, e.Words, name)
}
