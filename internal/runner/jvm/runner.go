package jvm

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// The build tools, by the names that configurations use.
const (
	Maven  = "maven"
	Gradle = "gradle"
)

// Config is one build.
type Config struct {
	Framework string            // Maven or Gradle; "" is Maven
	Name      string            // in reports; "" is the framework's
	Dir       string            // repository-relative directory of the outermost build file; "" is the root
	Command   []string          // the tool with options, as [./mvnw, -Pfast]; empty: mvn, or the tree's gradlew, or gradle
	Env       map[string]string // added to the environment
	Timeout   time.Duration     // of one run, its build included; default 20 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config
	tool       tool
	ownProgram bool // no command is configured

	left braces.States[kept]

	mu    sync.Mutex
	exact bool // the tool has shown that it takes methods of several classes

	forgetful atomic.Bool // homes do not stay between runs here
}

// New returns a runner with the defaults filled in.
func New(c Config) *Runner {
	if c.Framework == "" {
		c.Framework = Maven
	}
	if c.Name == "" {
		c.Name = c.Framework
	}
	if c.Dir == "" {
		c.Dir = "."
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Minute
	}
	r := &Runner{Config: c, tool: toolOf(c.Framework), ownProgram: len(c.Command) == 0}
	if len(r.Command) == 0 {
		r.Command = []string{r.tool.program()}
	}
	r.Command = withoutGoals(r.Command)
	return r
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is maven or gradle.
func (r *Runner) Framework() string { return r.Config.Framework }

// goals are the words of a command that say what to do, which this package says
// itself.
var goals = []string{"test", "verify", "install", "package", "integration-test", "clean", "check", "build", "-o", "--offline", "-q", "-B", "--batch-mode"}

func withoutGoals(command []string) []string {
	return slices.DeleteFunc(slices.Clone(command), func(word string) bool { return slices.Contains(goals, word) })
}

func (r *Runner) knowsExact() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exact
}

func (r *Runner) learnExact() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exact = true
}

// Blind: reports say nothing of what a test loads.
func (r *Runner) Blind() {}
