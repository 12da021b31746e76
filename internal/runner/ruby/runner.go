package ruby

import (
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// The frameworks, by the names that configurations use.
const (
	RSpec    = "rspec"
	Minitest = "minitest"
)

// Config is one way to run a framework.
type Config struct {
	Framework string            // RSpec or Minitest
	Name      string            // in reports; "" is the framework's
	Dir       string            // repository-relative directory that holds spec or test; "" is the root
	Command   []string          // as [bundle, exec, rspec] or [ruby, -Itest]; empty: rspec or ruby, by bundler where its gems are there
	Env       map[string]string // added to the environment
	Timeout   time.Duration     // of one process; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct{ Config }

var _ gate.Runner = (*Runner)(nil)

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Framework == "" {
		c.Framework = RSpec
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
	return &Runner{c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is rspec or minitest.
func (r *Runner) Framework() string { return r.Config.Framework }

// words are those that start the framework, before its files.
func (r *Runner) words() []string {
	words := slices.Clone(r.Command)
	if r.Config.Framework == RSpec {
		if len(words) == 0 {
			words = []string{"rspec"}
		}
		return append(words, "--require", "{aux}/reporter.rb", "--no-color", "--no-fail-fast", "--no-profile")
	}
	if len(words) == 0 {
		words = []string{"ruby", "-Ilib", "-Itest", "-I."}
	}
	return append(words, "{aux}/reporter.rb")
}
