package gotest

import (
	"fmt"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Config is one way to run the tests of one module or workspace.
type Config struct {
	Name    string            // in reports; "" is "gotest"
	Dir     string            // repository-relative directory of the module or workspace; "" is the root
	Command []string          // default: go test; may carry flags such as -race or -tags=x
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one test binary; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called from several
// goroutines.
type Runner struct {
	Config
	settings settings

	mu   sync.Mutex
	left map[gate.StateName]*leftOut // what was isolated on a state, for the next run there
}

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = "gotest"
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if len(c.Command) == 0 {
		c.Command = []string{"go", "test"}
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	return &Runner{Config: c, settings: readSettings(c), left: make(map[gate.StateName]*leftOut)}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is gotest.
func (r *Runner) Framework() string { return "gotest" }

// MissingToolError says that a program the tests need is not there.
type MissingToolError struct {
	Tool  string
	Words string // what the state said
}

func (e *MissingToolError) Error() string {
	return fmt.Sprintf("%s does not run (%s): install it and have it in PATH, or name it in runners: command: of .github/touchstone.yml", e.Tool, e.Words)
}
