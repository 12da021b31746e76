package gotest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// observe turns what a test binary said into answers, and says how it crashed,
// nil when it did not.
func (b *book) observe(run *packageRun, c *crash) {
	slices.SortFunc(run.ended, func(x, y endedTest) int { return cmp.Compare(x.order, y.order) })
	v := newVerdicts(b, run)
	for i := range run.ended {
		t := &run.ended[i]
		if !b.wants(t.name()) || c != nil && c.culprits[t.name()] {
			continue
		}
		if o, ok := v.of(t, c); ok {
			b.record(t.id, t.name(), o)
		}
	}
	if c == nil {
		return
	}
	for _, name := range sortedKeys(c.culprits) {
		b.blame(run, c, name)
	}
}

// blame records the culprit's own end, and that of the tests it is a part of.
func (b *book) blame(run *packageRun, c *crash, culprit string) {
	for name := culprit; name != ""; name = parentOf(name) {
		o := c.how
		if name != culprit {
			if run.open[name] == nil {
				continue
			}
			o.Message = gate.Message("subtest " + strings.TrimPrefix(culprit, name+"/") + ": " + o.Message)
		}
		if b.wants(name) {
			b.record(run.name+"."+name, name, o)
		}
	}
}

// verdicts reads the end events of one run. The package's verdict and the
// parent's outrank a part's: a leaf that fails inside a test that passes is an
// inner run meant to fail.
type verdicts struct {
	b      *book
	run    *packageRun
	passed map[string]bool   // tests with failing parts that passed all the same
	child  map[string]string // a failing part of each test that has one
	honest bool              // a test that the sources know failed
}

func newVerdicts(b *book, run *packageRun) *verdicts {
	v := &verdicts{b: b, run: run, passed: make(map[string]bool), child: make(map[string]string)}
	for i := range run.ended {
		t := &run.ended[i]
		if t.action != fail {
			continue
		}
		_, known := b.row(topOf(t.name()))
		v.honest = v.honest || known
		for above := parentOf(t.name()); above != ""; above = parentOf(above) {
			if _, known := v.child[above]; !known {
				v.child[above] = strings.TrimPrefix(t.name(), above+"/")
			}
		}
	}
	for i := range run.ended {
		if t := &run.ended[i]; t.action == pass && v.child[t.name()] != "" {
			v.passed[t.name()] = true
		}
	}
	return v
}

// of is what an end event says of its test; false when it says nothing.
func (v *verdicts) of(t *endedTest, c *crash) (gate.Observation, bool) {
	switch t.action {
	case pass:
		return gate.Observation{Outcome: gate.Passed, Duration: t.elapsed}, true
	case skip:
		o := v.b.told(t)
		o.Outcome, o.Reason = gate.Skipped, gate.NoReason
		return o, true
	}
	if v.inner(t.name()) {
		return gate.Observation{}, false
	}
	if v.run.action == "pass" {
		return gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: "the test failed and its package passed"}, true
	}
	o := v.b.told(t)
	if c != nil {
		if part := c.partOf(t.name()); part != "" {
			o.Outcome, o.Reason, o.Place = c.how.Outcome, c.how.Reason, c.how.Place
			o.Message = gate.Message("subtest " + strings.TrimPrefix(part, t.name()+"/") + ": " + c.how.Message)
			return o, true
		}
	}
	if part := v.child[t.name()]; part != "" && o.Message == "" {
		o.Message = gate.Message("subtest " + part + " failed")
	}
	return o, true
}

// inner tells whether a failed test is one that a test ran for itself.
func (v *verdicts) inner(name string) bool {
	for above := parentOf(name); above != ""; above = parentOf(above) {
		if v.passed[above] {
			return true
		}
	}
	_, known := v.b.row(topOf(name))
	known = known || v.b.elsewhere[topOf(name)]
	if v.run.action == "pass" {
		return !known || parentOf(name) != ""
	}
	return !known && v.honest
}

// told is a failure as the test itself explains it.
func (b *book) told(t *endedTest) gate.Observation {
	o := gate.Observation{Outcome: gate.Failed, Reason: gate.Assertion, Duration: t.elapsed, Message: t.why.message}
	if file := path.Join(b.dir, path.Base(t.why.file)); t.why.file != "" && slices.Contains(b.at.sources[b.dir], file) {
		o.Place = gate.Place{File: file, Line: t.why.line}
	}
	return o
}

func sortedKeys(set map[string]bool) []string {
	var list []string
	for key := range set {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}
