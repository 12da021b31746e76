package template

import (
	"slices"
	"strings"
	"time"
)

// The report formats.
const (
	JUnit = "junit"
	TAP   = "tap"
)

// Config is one command and where its report is.
type Config struct {
	Framework string            // JUnit or TAP
	Name      string            // in reports; "" is the framework's
	Dir       string            // repository-relative directory; "" is the root
	Command   []string          // with {files} and {rows}; for TAP empty means: node, on each file
	Report    string            // glob relative to Dir; "-" or, for TAP, "" is standard output
	Env       map[string]string // added to the environment
	Timeout   time.Duration     // of one run; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct{ Config }

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Name == "" {
		c.Name = c.Framework
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	if c.Framework == TAP && len(c.Command) == 0 {
		c.Command = []string{"node", "{files}"}
	}
	if c.Report == "" {
		c.Report = "-"
		if c.Framework == JUnit {
			c.Report = "**/*.xml"
		}
	}
	return &Runner{c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is JUnit or TAP.
func (r *Runner) Framework() string { return r.Config.Framework }

// byFile tells whether the command can be asked for single files.
func (r *Runner) byFile() bool { return r.takes("{files}") }

func (r *Runner) takes(hole string) bool {
	return slices.ContainsFunc(r.Command, func(word string) bool { return strings.Contains(word, hole) })
}

// Blind: reports say nothing of what a test loads.
func (r *Runner) Blind() {}
