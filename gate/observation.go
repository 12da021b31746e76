package gate

import (
	"fmt"
	"time"
)

// Outcome is what one run of one check came to. The zero value is NotRun:
// a cell nobody filled never reads as a pass.
type Outcome uint8

const (
	NotRun   Outcome = iota // no observation was made
	Passed                  // the check ran to its end and held
	Failed                  // the check ran and did not hold
	Errored                 // the check could not be evaluated
	Skipped                 // the framework left it out, or it failed as expected (xfail)
	TimedOut                // it was still running when its time was up
	Crashed                 // its process died under it
)

var outcomeNames = [...]string{"not_run", "passed", "failed", "errored", "skipped", "timed_out", "crashed"}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText makes an Outcome its contract name in report.json.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText accepts only the contract's names.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", text)
}

// Reason says why an outcome is not Passed. It is empty for a pass.
type Reason string

const (
	NoReason      Reason = ""
	Assertion     Reason = "assertion"      // the check's own assertion did not hold
	Exception     Reason = "exception"      // an exception or panic came out of the code under test
	MissingSymbol Reason = "missing_symbol" // a name was needed that only the production part adds
	Import        Reason = "import"         // a module could not be imported
	Compile       Reason = "compile"        // the unit did not compile
	Setup         Reason = "setup"          // a fixture, set-up or tear-down step failed
	Timeout       Reason = "timeout"        // the time limit was reached
	Crash         Reason = "crash"          // the process died
	NoReport      Reason = "no_report"      // the run left no record of the check
	Inconsistent  Reason = "inconsistent"   // channels that must agree did not
	Deselected    Reason = "deselected"     // the framework was told to leave it out

	// ChangedInfrastructure is why a pass on head is no proof: it needs the test
	// set-up (hooks, plugins, options) that the change edits. It stands in readings
	// only, never in an observation.
	ChangedInfrastructure Reason = "changed_infrastructure"
)

// Place is a position in the code: a path relative to the repository's root
// and a line counted from 1 (0 when unknown).
type Place struct {
	File string
	Line int
}

// Observation is one run of one row on one state.
type Observation struct {
	Outcome  Outcome
	Reason   Reason
	Message  string // short, one paragraph, without control characters
	Place    Place  // where in the code the outcome came from, when known
	Duration time.Duration

	// Missing holds the names the failure says do not exist: attributes,
	// functions, modules, keyword arguments, fixtures. The runner reports what
	// it saw; whether a name is one that only the production part adds is
	// decided by the reader of the matrix (see Names).
	Missing []Missing

	// Reached is the stand-in of the bridge that ended the check, "F()" for one
	// that was called; "" for none.
	Reached string
}

// Missing is one name that a check needed and did not find.
type Missing struct {
	Name string // the bare name: "parse_v2", "pkg.sub", "NewReader"
	// Owner is what the name was looked up on, when the failure says so: a
	// module, a type or a package. Empty when unknown.
	Owner string
	// FromProduction is set when the look-up stood in the code under test, not
	// in the check: then a failure is the code's own, unless the name is new to
	// the whole repository.
	FromProduction bool
	// Signature is set when the name exists but was called in a way that its
	// base declaration does not accept.
	Signature bool
}

// Evaluable reports whether the observation says something about the code:
// the check loaded, ran and either held or failed.
func (o Observation) Evaluable() bool {
	switch o.Outcome {
	case Passed:
		return true
	case Failed:
		return o.Reason == Assertion || o.Reason == Exception
	case TimedOut, Crashed:
		return true // red; whether head stays well under the limit is read elsewhere
	}
	return false
}
