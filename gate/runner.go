package gate

import (
	"context"
	"io"
	"time"
)

// Tree is a state's content, read as data: nothing of it is run.
// Paths are repository-relative with forward slashes.
type Tree interface {
	// ReadFile returns a regular file's content. A missing path is an error
	// that satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(path string) ([]byte, error)
	// Paths lists every file of the tree, sorted. Callers do not modify it.
	Paths() []string
}

// State is one column made ready: its tree shown at the path of the original
// work tree, in which commands run.
type State interface {
	Name() StateName
	Tree() Tree
	// Run runs one command in a fresh copy of the state: writes of former
	// commands to the tree and to the temporary directory are gone, the private
	// home (build caches) stays. An error means that the command could not be
	// run at all; how it ended is in Exit.
	Run(ctx context.Context, cmd Command) (Exit, error)
	// Digest returns the hex SHA-256 of each file's content as a process inside
	// the state reads it at the work tree's path; "" for a missing file.
	Digest(ctx context.Context, paths []string) (map[string]string, error)
}

// Command is one invocation inside a state.
type Command struct {
	Argv []string          // Argv[0] is looked up in the state's PATH
	Dir  string            // repository-relative working directory, "" or "." for the root
	Env  map[string]string // added to the allow-listed environment
	// Files are put into a read-only directory outside the tree before the
	// start. "{aux}" in Argv, Env and these files stands for that directory's path.
	Files map[string]string

	Stdout io.Writer // may be nil; written while the command runs
	Stderr io.Writer
	// Report, when not nil, receives what the command writes to the path given
	// to it in the environment variable TOUCHSTONE_REPORT.
	Report io.Writer

	Timeout time.Duration // 0: the sandbox's own limit
}

// Exit says how a command ended and what it used.
type Exit struct {
	Code     int    // exit status, -1 when a signal ended it
	Signal   string // "SIGSEGV", "" when it exited by itself
	TimedOut bool   // we ended it: wall-clock limit
	Limit    string // we ended it: which other limit ("memory", "processes", "disk"), else ""
	Wall     time.Duration
	CPU      time.Duration
	MaxRSS   int64 // bytes, the largest single process
}

// Runner is one configured test framework of the repository.
type Runner interface {
	Name() string      // the name in reports: the configured one or the framework's
	Framework() string // pytest, gotest

	// Units lists the units (test files, package directories) of a tree whose
	// rows the given test-part paths may have added, modified or affected. all
	// asks for every unit of the runner.
	Units(ctx context.Context, tree Tree, paths []string, all bool) ([]string, error)

	// List returns the rows of the units without running any test. Rows that only
	// a run can name (Go subtests, generated cases) may be missing.
	List(ctx context.Context, state State, units []string) (Result, error)

	// Run runs the rows of the units, or only batch.Rows of them.
	Run(ctx context.Context, state State, batch Batch) (Result, error)
}

// Selective is a Runner that leaves some test files out by their own say (build
// constraints): it tells why those of a file do not run, "" when they do.
type Selective interface {
	Unheard(tree Tree, path string) string
}

// Blind is a Runner that cannot tell which code its tests load: that they pass
// says of a change without tests of its own only that nobody knows.
type Blind interface{ Blind() }

// Canarian is a Runner that can tell when a test process reports something else
// than what happened in it: it runs the batch once more beside a check that must
// fail, and names the units where that came out otherwise in Result.Forged.
// Where none of the changed paths could make a process do so, nothing is run.
// Runners that have such a check in every run need no second one.
type Canarian interface {
	Canary(ctx context.Context, state State, batch Batch, changed []string) (Result, error)
}

// Batch is what one call of Runner.Run runs.
type Batch struct {
	Units []string // units that exist on the state
	Rows  []string // ids; empty means every row of the units
	// Subjects are the production paths of the change. A runner that can tell
	// from where the tests loaded them says so in Result.Loaded.
	Subjects []string
	Timeout  time.Duration
	// Seen, when not nil, is called as rows end, from any goroutine.
	Seen func(id string, outcome Outcome)
}

// Result is everything one run said. Rows of one id may have several
// observations when the framework itself ran it again.
type Result struct {
	Rows   []Observed
	Units  []UnitFailure // units that could not be loaded or died
	Loaded []Loaded
	// Built is a file that a test process loaded though the tree does not hold it
	// and something made it before the run, of sources that are not known; "" for
	// none. It matters where the tests loaded no changed file.
	Built    string
	Forged   []string   // units in which a check that must fail came out passed
	Replaced []string   // parts of the test framework that the tree's code took the place of
	Commands [][]string // the commands as a person would paste them, in order
	Wall     time.Duration
}

// Observed is a row and what was observed of it in this run, in order; none
// when it was only listed.
type Observed struct {
	Row          Row
	Observations []Observation
}

// UnitFailure says why a unit gave no rows, or not all of them. A row that is
// expected in the unit and has no observation takes this one.
type UnitFailure struct {
	Unit        string
	Observation Observation
}

// Loaded says which file a test process loaded for a production path.
type Loaded struct {
	Subject string // repository-relative path of the changed file
	File    string // absolute path that was loaded in its place
	SHA256  string // hex digest of that file's content as the process saw it, "" when unreadable
	InTree  bool   // File is Subject at the work tree's path
}
