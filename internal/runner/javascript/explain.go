package javascript

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// frame is one place of a stack, in the repository.
type frame struct {
	file         string // repository-relative
	line, column int
}

// reader reads failures against the tree that they happened in.
type reader struct {
	*suite
	root string // the work tree's path inside the state
}

var at = lazyregexp.New(`(?:\(|at |^\s*|async )((?:file://)?/[^()\n]*?|[A-Za-z]:\\[^()\n]*?):(\d+):(\d+)\)?\s*$`)

// frames returns the repository's places of a stack, innermost first.
func (r reader) frames(stack string) []frame {
	var found []frame
	for line := range strings.Lines(stack) {
		m := at.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		file, ok := r.relative(m[1])
		if !ok {
			continue
		}
		number, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		found = append(found, frame{file, number, column})
	}
	return found
}

// relative names a path from the root of the repository; paths of packages and
// of elsewhere are not its own.
func (r reader) relative(file string) (string, bool) {
	if bare, isURL := strings.CutPrefix(file, "file://"); isURL {
		if unescaped, err := url.PathUnescape(bare); err == nil {
			bare = unescaped
		}
		file = bare
	}
	file, _, _ = strings.Cut(file, "?")
	name, ok := strings.CutPrefix(path.Clean(file), r.root+"/")
	if !ok || r.root == "" || strings.Contains("/"+name, "/node_modules/") {
		return "", false
	}
	return name, true
}

// place is where a failure stands, and whether that is in the code under test.
func (r reader) place(f failure) (p gate.Place, fromProduction bool) {
	found := r.frames(f.Stack)
	if len(found) == 0 {
		return gate.Place{}, false
	}
	return gate.Place{File: found[0].file, Line: found[0].line}, !r.isTest(found[0].file)
}

// strongest picks the failure that says most about the code: one that the
// check's own assertion made comes before one that needs a missing name, and
// both before what only follows from others.
func strongest(errors []failure) failure {
	var best failure
	most := -1
	for _, f := range errors {
		weight := 1
		switch {
		case f.Cancelled, f.Subtests:
			weight = 0
		case f.Assertion:
			weight = 2
		}
		if weight > most {
			best, most = f, weight
		}
	}
	return best
}

// observe reads a row that did not pass.
func (r reader) observe(unit string, s *span, errors []failure) gate.Observation {
	f := strongest(errors)
	place, production := r.place(f)
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message(describe(f)), Place: place}
	o.Missing = r.missing(f, production)
	switch {
	case f.Timeout:
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case r.uninstalled(f):
		o.Outcome, o.Reason = gate.Errored, gate.Import
	case f.Hook != "" || r.inHook(unit, s, f):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case f.Cancelled && !strings.Contains(f.Message, "still pending"):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case notFound(f) && !production:
		o.Outcome, o.Reason = gate.Errored, gate.Import
	case f.Assertion:
		o.Reason = gate.Assertion
	}
	return o
}

// inHook tells whether a failure came out of a hook and not out of the test: its
// places in the test file are in hooks only.
func (r reader) inHook(unit string, s *span, f failure) bool {
	hooked := false
	for _, frame := range r.frames(f.Stack) {
		if frame.file != unit {
			continue
		}
		if s != nil && s.line <= frame.line && frame.line <= s.end {
			return false
		}
		hooked = hooked || r.outline(unit).inHook(frame.line)
	}
	return hooked
}

// notLoaded is the observation of a file that could not be loaded.
func (r reader) notLoaded(unit string, errors []failure) gate.Observation {
	f := strongest(errors)
	for f.Cause != nil && f.Stack == "" {
		f = *f.Cause
	}
	place, production := r.place(f)
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(describe(f)), Place: place, Missing: r.missing(f, production)}
	switch {
	case f.Timeout:
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case strings.Contains(f.Message, "must contain at least one test"), strings.Contains(f.Message, "No test suite found"):
		o.Reason = gate.NoReport
	case exportMissing.MatchString(f.Message), notFound(f):
		o.Reason = gate.Import
	case f.Name == "SyntaxError", typeErrors.MatchString(f.Message), strings.Contains(f.Message, "SyntaxError"), strings.Contains(f.Message, "Transform failed"), strings.Contains(f.Message, "Failed to parse source"):
		o.Reason = gate.Compile
	case len(o.Missing) > 0:
		o.Reason = gate.Import
	}
	return o
}

// describe says what a failure said.
func describe(f failure) string {
	message := f.Message
	if f.Name != "" && f.Name != "Error" && !strings.HasPrefix(message, f.Name) && !f.Assertion {
		message = f.Name + ": " + message
	}
	if f.Hook != "" && f.Hook != "hook" {
		message = "in " + f.Hook + ": " + message
	}
	return message
}
