package gotest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// Brakes on one package, in runs of it.
const (
	maxBuilds   = 20 // without what did not compile
	maxReruns   = 20 // without what brought the binary down
	maxTimeouts = 3  // without what never ended
)

// absorb takes in what one invocation said and returns what is to be run next:
// packages to build again without what did not compile, and tests that a
// culprit kept from running.
func (s *session) absorb(j job, said *stream, exit gate.Exit) []job {
	rebuild, unstarted := job{run: j.run, skip: j.skip}, job{run: j.run, skip: j.skip}
	var next []job
	agreed := channelsAgree(j, said, exit)
	for _, b := range j.books {
		run := said.packages[b.importPath]
		switch {
		case len(j.books) > 1 && run == nil && cutShort(exit):
			unstarted.books = append(unstarted.books, b)
		case len(j.books) > 1 && run != nil && run.action == "" && cutShort(exit):
			next = append(next, job{books: []*book{b}, run: j.run, skip: j.skip}) // alone it shows whose fault that was
		case run == nil:
			b.failed = silent(said, exit)
		case !agreed:
			b.failed = &gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: fmt.Sprintf("go test exited with %d, which its events contradict", exit.Code)}
		case run.unbuilt():
			if s.isolate(b, said, run) {
				rebuild.books = append(rebuild.books, b)
			}
		default:
			next = append(next, s.take(b, run, exit))
		}
	}
	next = append(next, rebuild)
	if len(unstarted.books) < len(j.books) {
		next = append(next, unstarted)
	} else {
		for _, b := range j.books {
			b.failed = silent(said, exit)
		}
	}
	return slices.DeleteFunc(next, func(j job) bool { return len(j.books) == 0 })
}

// cutShort tells whether the whole invocation was ended from outside, so that
// one package may have taken others with it.
func cutShort(exit gate.Exit) bool { return exit.Limit != "" || exit.TimedOut || exit.Signal != "" }

// channelsAgree holds the exit status against the events.
func channelsAgree(j job, said *stream, exit gate.Exit) bool {
	failed, complete := false, true
	for _, b := range j.books {
		run := said.packages[b.importPath]
		complete = complete && run != nil && run.action != ""
		failed = failed || run != nil && run.action == "fail"
	}
	if exit.Code == 0 {
		return !failed && complete
	}
	return !complete || failed || exit.Code < 0
}

// silent is the observation of a package of which no event came.
func silent(said *stream, exit gate.Exit) *gate.Observation {
	words := said.words()
	o := &gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message("go test said nothing about it: " + words)}
	switch {
	case exit.TimedOut:
		*o = gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "did not end within " + exit.Wall.Round(time.Second).String(), Duration: exit.Wall}
	case exit.Limit != "":
		*o = gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: "ended at the limit on " + exit.Limit}
	case noModule(words):
		o.Reason, o.Message = gate.Import, gate.Message(words+" (run go mod download first)")
	case strings.Contains(words, "go: "):
		o.Reason, o.Message = gate.Setup, gate.Message(words)
	}
	return o
}

// noModule tells whether the go command misses a module that it would have to
// download.
func noModule(words string) bool {
	return strings.Contains(words, "GOPROXY=off") || strings.Contains(words, "missing go.sum entry") || strings.Contains(words, "no required module provides")
}

func (p *packageRun) unbuilt() bool {
	out := p.out.String()
	return p.failedBuild != "" || p.started == 0 && (strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"))
}

// take turns a test binary's events into answers and returns the rest: what a
// culprit kept from running, to be run without it.
func (s *session) take(b *book, run *packageRun, exit gate.Exit) job {
	c := run.crashOf(b, exit)
	before := len(b.answers)
	b.observe(run, c)
	switch rest := s.rest(b, run, c); {
	case run.action == "pass", run.action == "skip":
	case run.started == 0:
		b.failed = run.beforeAny(c)
	case len(rest) > 0:
		return b.again(c, rest, len(b.answers) > before)
	case c != nil && len(c.culprits) == 0:
		b.blamePackage(*c.unowned())
	case c == nil && !run.failedTest():
		b.blamePackage(gate.Observation{Outcome: gate.Failed, Reason: gate.Assertion, Message: gate.Message("every test passed and the test binary failed: " + lastLine(run.out.String()))})
	}
	return job{}
}

// again runs the rest of a package, unless that leads nowhere or too far.
func (b *book) again(c *crash, rest []string, progress bool) job {
	b.reruns++
	if c.how.Outcome == gate.TimedOut {
		b.timeouts++
	}
	if progress && b.reruns <= maxReruns && b.timeouts <= maxTimeouts {
		return job{books: []*book{b}, run: alternatives(rest), skip: alternatives(b.culprits)}
	}
	b.failed = c.unowned()
	b.failed.Message = gate.Message(fmt.Sprintf("not reached in %d runs that others brought down, the last: %s", b.reruns, b.failed.Message))
	return job{}
}

// rest lists the tests to run again: those without an answer, and those that
// have a culprit among their parts, for their other parts.
func (s *session) rest(b *book, run *packageRun, c *crash) []string {
	for _, t := range run.ended {
		if c == nil || c.partOf(t.name()) == "" {
			delete(b.pending, t.name())
		}
	}
	if c == nil {
		return nil
	}
	for _, name := range sortedKeys(c.culprits) {
		if top := topOf(name); top != name && b.wants(name) {
			b.pending[top], b.culprits = true, append(b.culprits, name)
		}
	}
	tests := sortedKeys(b.pending)
	for _, row := range b.expected() {
		if _, out := s.left.row(row); !out && !b.seen[row.Name] {
			tests = append(tests, row.Name)
		}
	}
	return tests
}
