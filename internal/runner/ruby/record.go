package ruby

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// record is one line of the reporter.
type record struct {
	Kind    string  `json:"kind"` // row, begin, end, outside, loaded, close
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	End     int     `json:"end"`
	Outcome string  `json:"outcome"`
	Took    float64 `json:"took"` // seconds
	Words   string  `json:"words"`
	Context string  `json:"context"`
	Chosen  bool    `json:"chosen"`  // the row is one that was asked for
	Dropped bool    `json:"dropped"` // the suite's own filters leave it out
	InTree  bool    `json:"in_tree"` // what was loaded is the tree's own file
	Error   *raised `json:"error"`
}

// raised is an exception.
type raised struct {
	Class     string   `json:"class"`
	Ancestors []string `json:"ancestors"`
	Message   string   `json:"message"`
	Name      string   `json:"name"`  // what a NameError or a LoadError is about
	Owner     string   `json:"owner"` // what it was looked up on
	Frames    []frame  `json:"frames"`
}

// frame is one call of a backtrace.
type frame struct {
	File string `json:"file"` // "" outside of the repository
	Line int    `json:"line"`
	Name string `json:"name"`
}

var (
	assertion = lazyregexp.New(`^(?:RSpec::Expectations::|RSpec::Mocks::|RSpec::Core::Pending|RSpec::Core::MultipleExceptionError|Minitest::Assertion|Test::Unit::Assertion|Mocha::)`)
	timedOut  = lazyregexp.New(`^(?:Timeout::Error|Timeout::ExitException)$`)
	arity     = lazyregexp.New(`^(?:wrong number of arguments|missing keyword|unknown keyword)`)
	keywords  = lazyregexp.New(`^unknown keywords?: (.+)`)
	keyword   = lazyregexp.New(`:(\w+[?!]?)`)
	notFound  = lazyregexp.New(`cannot load such file -- (\S+)`)
	unknownAt = lazyregexp.New(`undefined (?:local variable or )?method [` + "`" + `']([\w?!=]+)'`)
)

func (r raised) is(class string) bool { return slices.Contains(r.Ancestors, class) }

// place is the first frame in the repository, and whether it stands in a test.
func (r raised) place() (gate.Place, bool) {
	for _, f := range r.Frames {
		if f.File != "" {
			return gate.Place{File: f.File, Line: f.Line}, isTest(f.File)
		}
	}
	return gate.Place{}, true
}

func isTest(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(part string) bool { return part == "spec" || part == "test" || part == "tests" })
}

// missing are the names that an exception says are not there.
func (r raised) missing() []gate.Missing {
	_, inTest := r.place()
	switch {
	case r.is("LoadError"):
		if m := notFound.FindStringSubmatch(r.Message); m != nil {
			return []gate.Missing{{Name: path.Base(m[1]), FromProduction: !inTest}}
		}
	case r.is("NameError"):
		name := r.Name
		if m := unknownAt.FindStringSubmatch(r.Message); name == "" && m != nil {
			name = m[1]
		}
		if name != "" {
			return []gate.Missing{{Name: name, Owner: simple(r.Owner), FromProduction: !inTest}}
		}
	case r.is("ArgumentError") && arity.MatchString(r.Message):
		return r.shape()
	}
	return nil
}

// shape is a call that the method does not take: its own frame is the first, the
// call's the second.
func (r raised) shape() []gate.Missing {
	var found []gate.Missing
	inTest := len(r.Frames) < 2 || r.Frames[1].File == "" || isTest(r.Frames[1].File)
	if len(r.Frames) > 0 && r.Frames[0].Name != "" {
		found = append(found, gate.Missing{Name: r.Frames[0].Name, Signature: true, FromProduction: !inTest})
	}
	if m := keywords.FindStringSubmatch(r.Message); m != nil {
		for _, k := range keyword.FindAllStringSubmatch(m[1], -1) {
			found = append(found, gate.Missing{Name: k[1], FromProduction: !inTest})
		}
	}
	return found
}

func simple(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// failure is the observation of a row that raised.
func (r raised) failure(row gate.Row) gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message(r.Class + ": " + r.Message), Missing: r.missing()}
	inTest := true
	o.Place, inTest = r.place()
	switch {
	case slices.ContainsFunc(r.Ancestors, assertion.MatchString):
		o.Reason, o.Missing = gate.Assertion, nil
		return o
	case slices.ContainsFunc(r.Ancestors, timedOut.MatchString):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
		return o
	case r.is("LoadError") && inTest:
		o.Outcome, o.Reason = gate.Errored, gate.Import
		return o
	}
	within := slices.ContainsFunc(r.Frames, func(f frame) bool {
		return f.File == row.File && f.Line >= row.Line && f.Line <= row.End
	})
	switch {
	case within || row.Line == 0:
	case inTest:
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	default: // set-up asked the code under test, and that is how it answered
		o.Message = gate.Message("in set-up: " + o.Message)
	}
	return o
}

// unloaded is the observation of a file that could not be loaded.
func (r raised) unloaded() gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(r.Class + ": " + r.Message), Missing: r.missing()}
	o.Place, _ = r.place()
	switch {
	case r.is("SyntaxError"):
		o.Reason = gate.Compile
	case len(o.Missing) > 0:
		o.Reason = gate.Import
	}
	return o
}

// observation is what a row's end says.
func (r record) observation(row gate.Row) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "its end left no outcome"}
	switch {
	case r.Outcome == "passed":
		o = gate.Observation{Outcome: gate.Passed}
	case r.Outcome == "skipped":
		o = gate.Observation{Outcome: gate.Skipped, Message: gate.Message(r.Words)}
	case r.Outcome == "failed" && r.Error != nil:
		o = r.Error.failure(row)
	}
	o.Duration = time.Duration(r.Took * float64(time.Second))
	return o
}
