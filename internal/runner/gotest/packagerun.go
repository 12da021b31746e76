package gotest

import (
	"fmt"
	"strings"
	"time"
)

// packageRun is what one test binary said.
type packageRun struct {
	name        string
	open        map[string]*openTest
	ended       []endedTest
	started     int            // how many tests, open and ended
	times       map[string]int // how often a top-level name was run
	action      string         // pass, fail, skip; "" while it runs or when it died
	failedBuild string
	orderly     bool // the testing package wrote its last word
	out         capture
	crash       *capture // from the words of a panic to the end of the binary
	crashedIn   string   // the test whose output those words stand in, "" for none
	chain       []string // the last tests that failed one right after another, from a part to its parents
	elapsed     time.Duration
}

// openTest is a test or a part of one that has not ended.
type openTest struct {
	id     string // import path and name, of which name is a part
	order  int
	paused bool
	out    *capture
}

// endedTest is one that has.
type endedTest struct {
	id      string
	order   int32
	skip    int32 // length of the id before the name
	action  action
	elapsed time.Duration
	why     *account // nil for a pass
}

func (t *endedTest) name() string { return t.id[t.skip:] }

type action uint8

const (
	pass action = iota + 1
	fail
	skip
)

var actions = map[string]action{"pass": pass, "fail": fail, "skip": skip}

// take reads an event of the package itself.
func (p *packageRun) take(e event) {
	switch e.Action {
	case "output":
		if e.Output == "PASS\n" || e.Output == "FAIL\n" {
			p.orderly = true
		}
		p.out.add(e.Output)
		p.watch("", e.Output)
	case "pass", "fail", "skip":
		p.action, p.failedBuild, p.elapsed = e.Action, e.FailedBuild, seconds(e.Elapsed)
	}
}

// test reads an event of a test.
func (p *packageRun) test(e event, ended func(id, action string)) {
	name := p.numbered(e)
	t := p.open[name]
	if t == nil && (e.Action == "run" || actions[e.Action] != 0) {
		id := p.name + "." + name
		name = id[len(p.name)+1:]
		t = &openTest{id: id, order: p.started}
		p.open[name] = t
		p.started++
	}
	switch e.Action {
	case "output":
		if t == nil {
			p.out.add(e.Output)
		} else if t.out == nil {
			t.out = &capture{}
		}
		if t != nil {
			t.out.add(e.Output)
		}
		p.watch(name, e.Output)
		return
	case "pause":
		if t != nil {
			t.paused = true
		}
	case "cont":
		if t != nil {
			t.paused = false
		}
	case "pass", "fail", "skip":
		p.end(name, t, e)
		if ended != nil {
			ended(t.id, e.Action)
		}
	}
	if e.Action != "fail" {
		p.chain, p.crash, p.crashedIn = p.chain[:0], nil, "" // it goes on: what looked like a panic was none
	}
}

// end moves a test to the ended ones.
func (p *packageRun) end(name string, t *openTest, e event) {
	over := endedTest{id: t.id, order: int32(t.order), skip: int32(len(p.name) + 1), action: actions[e.Action], elapsed: seconds(e.Elapsed)}
	if over.action != pass {
		over.why = explain(t.out.String())
	}
	if over.action == fail {
		if n := len(p.chain); n > 0 && !strings.HasPrefix(p.chain[n-1], name+"/") {
			p.chain = p.chain[:0]
		}
		p.chain = append(p.chain, name)
	}
	p.ended = append(p.ended, over)
	delete(p.open, name)
}

// watch keeps what a dying binary says last.
func (p *packageRun) watch(test, output string) {
	if p.crash == nil {
		at := strings.Index(output, "panic: ")
		if at < 0 {
			at = strings.Index(output, "fatal error: ")
		}
		if at < 0 {
			at = strings.Index(output, "*** Test killed")
		}
		if at < 0 {
			return
		}
		p.crash, p.crashedIn, output = &capture{}, test, output[at:]
	}
	p.crash.add(output)
}

// numbered is an event's test name, with "#2" after the name of a test that the
// package has for a second time (in its external test package).
func (p *packageRun) numbered(e event) string {
	top, part, nested := strings.Cut(e.Test, "/")
	if e.Action == "run" && !nested {
		p.times[top]++
	}
	if n := p.times[top]; n > 1 {
		top = fmt.Sprintf("%s#%d", top, n)
		if !nested {
			return top
		}
		return top + "/" + part
	}
	return e.Test
}

// parentOf is the test that a subtest is a part of, "" for a test.
func parentOf(test string) string {
	i := strings.LastIndexByte(test, '/')
	if i < 0 {
		return ""
	}
	return test[:i]
}

// topOf is the test that a subtest belongs to.
func topOf(test string) string {
	top, _, _ := strings.Cut(test, "/")
	return top
}
