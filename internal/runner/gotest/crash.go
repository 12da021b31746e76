package gotest

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// crash is how a test binary came to its end before its time, and under which
// tests.
type crash struct {
	culprits map[string]bool // the innermost tests that brought it down; empty when unknown
	how      gate.Observation
}

var (
	panicked = lazyregexp.New(`(?m)^panic: (.*)$`)
	fatal    = lazyregexp.New(`(?m)^fatal error: (.*)$`)
	timedOut = lazyregexp.New(`(?m)^panic: test timed out after (\S+)$`)
	killed   = lazyregexp.New(`\*\*\* Test killed.*ran too long \(([^)]+)\)`)
	running  = lazyregexp.New(`(?m)^\t\t(\S.*) \([\d.a-zµ]+\)$`)
	frame    = lazyregexp.New(`(?m)^(?:created by )?([^\s(]+(?:\(\*?\w+(?:\[\.\.\.\])?\)[^\s(]*)?)(?:\(.*\))?(?: in goroutine \d+)?
	(.+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	recovery = lazyregexp.New(` \[recovered[^\]]*\]$`)
)

// crashOf tells how a package ended; nil when its binary ended in order.
func (p *packageRun) crashOf(b *book, exit gate.Exit) *crash {
	if p.action == "pass" || p.action == "skip" || p.orderly && len(p.open) == 0 {
		return nil
	}
	words := p.crash.String()
	limit := timedOut.FindStringSubmatch(words)
	if limit == nil {
		limit = killed.FindStringSubmatch(words)
	}
	switch {
	case limit != nil:
		return p.timeOut(words, limit[1])
	case exit.TimedOut:
		return p.timeOut(words, exit.Wall.Round(time.Second).String())
	case exit.Limit != "":
		return p.died(gate.Crashed, "ended at the limit on "+exit.Limit)
	case fatal.MatchString(words):
		c := p.died(gate.Crashed, "fatal error: "+fatal.FindStringSubmatch(words)[1])
		c.how.Place = b.place(words)
		return c
	case panicked.MatchString(words):
		return p.panicked(b, words)
	case exit.Signal != "":
		return p.died(gate.Crashed, "ended by "+exit.Signal)
	}
	message := "the test binary ended before the test did"
	if last := lastLine(p.out.String()); last != "" {
		message += ": " + last
	}
	return p.died(gate.Crashed, message)
}

// timeOut blames the tests that the dump says were running.
func (p *packageRun) timeOut(words, limit string) *crash {
	c := &crash{culprits: make(map[string]bool)}
	c.how = gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "still running after " + limit}
	c.how.Duration, _ = time.ParseDuration(limit)
	for _, found := range running.FindAllStringSubmatch(words, -1) {
		if p.open[found[1]] != nil || slices.ContainsFunc(p.ended, func(t endedTest) bool { return t.name() == found[1] }) {
			c.culprits[found[1]] = true
		}
	}
	if len(c.culprits) == 0 {
		c.culprits = p.runningNow()
	}
	c.keepInnermost()
	return c
}

// died blames the tests that were running at the end.
func (p *packageRun) died(outcome gate.Outcome, message string) *crash {
	c := &crash{culprits: p.runningNow(), how: gate.Observation{Outcome: outcome, Reason: gate.Crash, Message: gate.Message(message)}}
	c.keepInnermost()
	return c
}

// panicked blames the test that a panic came out of: the innermost of those
// that failed just before, else the running one. Where several ran and none
// says so, the panic may be any one's.
func (p *packageRun) panicked(b *book, words string) *crash {
	text := recovery.ReplaceAllString(panicked.FindStringSubmatch(words)[1], "")
	how := gate.Observation{Outcome: gate.Failed, Reason: gate.Exception, Message: gate.Message("panic: " + text), Place: b.place(words)}
	if n := len(p.chain); n > 0 && p.chain[n-1] == p.crashedIn {
		return &crash{map[string]bool{p.chain[0]: true}, how}
	}
	c := &crash{p.runningNow(), how}
	c.keepInnermost()
	if len(c.culprits) > 1 {
		named := make(map[string]bool)
		for name := range c.culprits {
			if strings.Contains(words, "."+topOf(name)+".func") || strings.Contains(words, "."+topOf(name)+"(") || strings.Contains(words, "."+topOf(name)+" in goroutine") {
				named[name] = true
			}
		}
		if len(named) == 1 {
			c.culprits = named
			return c
		}
		c.how.Outcome, c.how.Reason = gate.Crashed, gate.Crash
	}
	return c
}

func (p *packageRun) runningNow() map[string]bool {
	now := make(map[string]bool)
	for name, t := range p.open {
		if !t.paused {
			now[name] = true
		}
	}
	return now
}

// keepInnermost drops the tests of which a part is guilty too.
func (c *crash) keepInnermost() {
	var outer []string
	for name := range c.culprits {
		for above := parentOf(name); above != ""; above = parentOf(above) {
			outer = append(outer, above)
		}
	}
	for _, name := range outer {
		delete(c.culprits, name)
	}
}

// partOf returns the culprit that is a part of a test, "" for none.
func (c *crash) partOf(name string) string {
	found := ""
	for culprit := range c.culprits {
		if strings.HasPrefix(culprit, name+"/") && (found == "" || culprit < found) {
			found = culprit
		}
	}
	return found
}

// place is the innermost frame of a dump whose function is of a package of the
// tree. Frames name files as the build saw them, so the package tells where.
func (b *book) place(dump string) gate.Place {
	for _, f := range frame.FindAllStringSubmatch(dump, -1) {
		slash := strings.LastIndexByte(f[1], '/') + 1
		name, _, _ := strings.Cut(f[1][slash:], ".")
		name, err := url.PathUnescape(f[1][:slash] + name)
		if err != nil {
			continue
		}
		for _, dir := range b.at.directories(strings.TrimSuffix(name, "_test")) {
			file := path.Join(dir, path.Base(f[2]))
			if slices.Contains(b.at.sources[dir], file) {
				line, _ := strconv.Atoi(f[3])
				return gate.Place{File: file, Line: line}
			}
		}
	}
	return gate.Place{}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := lines[len(lines)-1]
	if strings.HasPrefix(last, "FAIL\t") && len(lines) > 1 {
		last = lines[len(lines)-2]
	}
	if strings.HasPrefix(last, "FAIL\t") {
		return ""
	}
	return last
}

// unowned is the observation of what no test in particular is to blame for.
func (c *crash) unowned() *gate.Observation {
	o := c.how
	if o.Outcome == gate.Failed {
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
	}
	return &o
}

// beforeAny is the observation of a package that ended before its first test:
// by a panic on the way there, or by its own set-up's will.
func (p *packageRun) beforeAny(c *crash) *gate.Observation {
	if c != nil && (p.crash != nil || c.how.Outcome == gate.TimedOut || strings.Contains(c.how.Message, "ended by") || strings.Contains(c.how.Message, "limit on")) {
		return c.unowned()
	}
	return &gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message("the package's set-up ended it before any test: " + lastLine(p.out.String()))}
}

// failedTest tells whether any test failed, wanted or not.
func (p *packageRun) failedTest() bool {
	return slices.ContainsFunc(p.ended, func(t endedTest) bool { return t.action == fail })
}
