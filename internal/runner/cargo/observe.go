package cargo

import (
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	panicked    = lazyregexp.New(`(?m)^thread .* panicked at (.+?):(\d+):(?:\d+):$`)
	panickedOld = lazyregexp.New(`(?ms)^thread .*? panicked at '(.*?)', ([^'\n]+?):(\d+)(?::\d+)?$`)
	assertion   = lazyregexp.New(`^(?:assertion|Assertion|snapshot assertion|assert_|expected .* to |proptest: Test failed|Test failed: assertion|\[quickcheck\])`)
	noPanic     = lazyregexp.New(`note: test did not panic as expected(?: at (.+?):(\d+))?`)
	docError    = lazyregexp.New(`(?m)^error(?:\[(E\d+)\])?: (.+)$`)
)

// observation is what a test came to by what the harness printed of it.
func (c *crate) outcomeOf(r *result) gate.Observation {
	switch r.outcome {
	case "ok":
		return gate.Observation{Outcome: gate.Passed}
	case "ignored":
		return gate.Observation{Outcome: gate.Skipped, Message: gate.Message(r.words)}
	}
	said := r.said.String()
	if c.doc != "" && (strings.Contains(said, "Couldn't compile the test") || strings.Contains(said, "some tests failed to compile")) {
		return c.uncompiled(said)
	}
	return c.failure(said)
}

// failure reads the words of a test that failed.
func (c *crate) failure(said string) gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception}
	message := ""
	if m := panicked.FindStringSubmatchIndex(said); m != nil {
		o.Place = c.relative(said[m[2]:m[3]], said[m[4]:m[5]])
		message, _, _ = strings.Cut(strings.TrimLeft(said[m[1]:], "\n"), "\nnote: run with")
		message, _, _ = strings.Cut(message, "\nstack backtrace:")
	} else if m := panickedOld.FindStringSubmatch(said); m != nil {
		o.Place, message = c.relative(m[2], m[3]), m[1]
	}
	if m := noPanic.FindStringSubmatch(said); m != nil {
		o.Reason, message = gate.Assertion, "test did not panic as expected"
		o.Place = c.relative(m[1], m[2])
	} else if strings.Contains(said, "note: panic did not contain expected string") {
		_, rest, _ := strings.Cut(said, "note: panic did not contain expected string")
		o.Reason, message = gate.Assertion, "panic did not contain expected string "+rest
	}
	if message == "" {
		message = own(said, 3)
	}
	if assertion.MatchString(strings.TrimSpace(message)) || strings.Contains(message, "assertion failed") || strings.Contains(message, "assertion `left") {
		o.Reason = gate.Assertion
	}
	o.Message = gate.Message(message)
	return o
}

// relative makes a place that a panic names one of the repository, when it lies
// in the target or beside it.
func (c *crate) relative(file, line string) gate.Place {
	if file == "" {
		return gate.Place{}
	}
	if m := c.sourceOf(strings.TrimPrefix(file, "./")); m != nil {
		return gate.Place{File: m.file, Line: number(line)}
	}
	for dir := c.dir; ; dir = parent(dir) {
		if at := strings.TrimPrefix(dir+"/"+file, "./"); c.has(at) {
			return gate.Place{File: at, Line: number(line)}
		}
		if dir == "." {
			return gate.Place{}
		}
	}
}

func parent(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		return dir[:i]
	}
	return "."
}

// uncompiled is a documentation test whose code did not compile.
func (c *crate) uncompiled(said string) gate.Observation {
	var errors []compileError
	for _, m := range docError.FindAllStringSubmatch(said, -1) {
		if !strings.HasPrefix(m[2], "aborting due to") {
			errors = append(errors, compileError{code: m[1], text: m[2]})
		}
	}
	if len(errors) == 0 {
		return gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message(said)}
	}
	return c.observation(errors)
}
