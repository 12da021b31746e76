package javascript

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// The frameworks that this package runs.
const (
	Jest   = "jest"
	Vitest = "vitest"
	Mocha  = "mocha"
	Node   = "node" // node:test
	Ava    = "ava"
)

// Frameworks lists them.
func Frameworks() []string { return []string{Jest, Vitest, Mocha, Node, Ava} }

// Config is one way to run one framework.
type Config struct {
	Framework string
	Name      string            // in reports; "" is the framework's
	Dir       string            // repository-relative directory that it runs in; "" is the root
	Command   []string          // as [npx, jest]; empty: the one in node_modules, as package.json's script starts it
	Env       map[string]string // added to the environment
	Timeout   time.Duration     // of one run; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config

	mu   sync.Mutex
	rows map[string]knownRow              // by id: every row that any run named
	read map[[sha256.Size]byte]readSource // by extension and content
}

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
	return &Runner{Config: c}
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is one of Frameworks.
func (r *Runner) Framework() string { return r.Config.Framework }

// MissingToolError says that a program the tests need is not there.
type MissingToolError struct {
	Tool  string // node, or the framework
	Words string // what was looked for and what the state said
}

func (e *MissingToolError) Error() string {
	if e.Tool == "node" {
		return fmt.Sprintf("no node was found (%s): install Node.js, or name a command in runners: command: of .github/touchstone.yml", e.Words)
	}
	return fmt.Sprintf("%s is not installed (%s): install the repository's packages first (npm ci, pnpm install, yarn or bun install), or name the right program in runners: command: of .github/touchstone.yml", e.Tool, e.Words)
}
