package cargo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Framework is the one that this package runs.
const Framework = "cargo"

// buildTime is what a build may take on top of the limit of one run.
const buildTime = 20 * time.Minute

// Config is one way to run cargo.
type Config struct {
	Name    string            // in reports; "" is the framework's
	Dir     string            // repository-relative directory whose packages it runs; "" is the root
	Command []string          // as [cargo, +stable, test, --all-features]; empty: cargo
	Env     map[string]string // added to the environment
	Timeout time.Duration     // of one target's run; default 10 minutes
}

// Runner implements gate.Runner. Its methods may be called at once.
type Runner struct {
	Config
	tool     []string // cargo, with what stands before its subcommand
	options  []string // for every build and run
	testArgs []string // for every test program

	mu   sync.Mutex
	left map[gate.StateName]*leftOut
}

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
	r := &Runner{Config: c, left: make(map[gate.StateName]*leftOut)}
	r.readCommand()
	return r
}

// Name is the runner's name in reports.
func (r *Runner) Name() string { return r.Config.Name }

// Framework is cargo.
func (r *Runner) Framework() string { return Framework }

// selectors are options that choose targets or what is done with them, which
// this package does itself; the value tells whether a word of their own follows.
var selectors = map[string]bool{
	"--lib": false, "--bins": false, "--tests": false, "--doc": false, "--all-targets": false, "--workspace": false, "--all": false, "--examples": false,
	"--benches": false, "--no-fail-fast": false, "--no-run": false, "--offline": false, "-q": false, "--quiet": false, "-v": false, "--verbose": false,
	"-p": true, "--package": true, "--exclude": true, "--test": true, "--bin": true, "--example": true, "--bench": true, "--manifest-path": true, "--message-format": true,
	"--target-dir": true,
}

// readCommand takes the configured command apart: what starts cargo, the options
// of every build, and the arguments of every test program.
func (r *Runner) readCommand() {
	words := r.Command
	if len(words) == 0 {
		words = []string{"cargo"}
	}
	if i := slices.Index(words, "--"); i >= 0 {
		words, r.testArgs = words[:i], words[i+1:]
	}
	at := slices.IndexFunc(words, func(word string) bool { return word == "test" || word == "t" || word == "nextest" })
	if at < 0 {
		r.tool = words
		return
	}
	r.tool = words[:at]
	for i := at + 1; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		follows, known := selectors[name]
		switch {
		case known && follows && !joined:
			i++
		case known, words[at] == "nextest" && i == at+1:
		default:
			r.options = append(r.options, words[i])
		}
	}
}

// MissingToolError says that cargo is not there.
type MissingToolError struct {
	Tool  string
	Words string // what the state said
}

func (e *MissingToolError) Error() string {
	return fmt.Sprintf("no %s was found (%s): install Rust, or name a command in runners: command: of .github/touchstone.yml", e.Tool, e.Words)
}

// MissingToolchainError says that rustup has not installed the toolchain that
// the work tree or the configured command asks for.
type MissingToolchainError struct{ Toolchain string }

// noToolchain is what rustup says in cargo's place.
var noToolchain = lazyregexp.New(`(?m)^error: toolchain '([^'\n]+)' is not installed`)

func (e *MissingToolchainError) Error() string {
	return fmt.Sprintf("the Rust toolchain %s is not installed, and the work tree (rust-toolchain.toml, rust-toolchain) or the command asks for it: "+
		"run rustup toolchain install %[1]s first, or name one that is there in runners: command: [cargo, +stable, test] of .github/touchstone.yml", gate.Message(e.Toolchain))
}
