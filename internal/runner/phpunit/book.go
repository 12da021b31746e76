package phpunit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// unitBook is one file in one call.
type unitBook struct {
	*session
	unit     string
	declared []declared
	answered map[string]bool
}

// names are the tests that the batch's rows ask of the file, without data sets.
func (u *unitBook) names(rows []string) []string {
	classes := make(map[string]bool)
	for _, d := range u.declared {
		class, _, _ := strings.Cut(d.row.ID, "::")
		classes[class] = true
	}
	var names []string
	for _, id := range rows {
		class, _, _ := strings.Cut(id, "::")
		name, _, _ := strings.Cut(id, " with data set ")
		if classes[class] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// absorb takes in what one process said: methods with several cases become a row
// with parts.
func (u *unitBook) absorb(h *heard, killer string) {
	groups := make(map[string][]junit.Case)
	var order []string
	for _, c := range h.cases {
		if c.Class == "" { // a word about data sets that could not be made, or about the file
			var ok bool
			if c.Class, c.Name, ok = strings.Cut(c.Suite, "::"); !ok {
				continue
			}
		}
		name, _, _ := strings.Cut(c.Name, " with data set ")
		id := strings.ReplaceAll(c.Class, ".", `\`) + "::" + name
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], c)
	}
	for _, id := range order {
		row := u.row(id)
		if len(groups[id]) == 1 && groups[id][0].Name == row.Name {
			o := u.observation(groups[id][0], row)
			h.red = h.red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			u.add(row, o)
			continue
		}
		total := gate.Observation{Outcome: gate.Skipped}
		var parts []gate.Observed
		for _, c := range groups[id] {
			part := row
			part.ID, part.Name, part.Parent = strings.TrimSuffix(id, row.Name)+c.Name, c.Name, id
			o := u.observation(c, part)
			h.red = h.red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			if o.Outcome != gate.Skipped && (total.Outcome == gate.Skipped || total.Outcome == gate.Passed) {
				total = o
			}
			parts = append(parts, gate.Observed{Row: part, Observations: []gate.Observation{o}})
		}
		u.add(row, total)
		for _, part := range parts {
			u.add(part.Row, part.Observations...)
		}
	}
	if killer != "" {
		name, _, many := strings.Cut(killer, " with data set ")
		row := u.row(name)
		if many {
			part := row
			part.ID, part.Name, part.Parent = killer, killer[strings.Index(killer, "::")+2:], row.ID
			u.add(part, h.death())
		}
		u.add(row, h.death())
	}
}

func (u *unitBook) row(id string) gate.Row {
	for _, d := range u.declared {
		if d.row.ID == id {
			return d.row
		}
	}
	_, name, _ := strings.Cut(id, "::")
	return gate.Row{ID: id, Runner: u.Name(), Name: name, Unit: u.unit, File: u.unit}
}

// settle speaks of what no process told of, and holds the exit status against
// the rows.
func (u *unitBook) settle(h *heard) {
	some := len(u.answered) > 0
	if h.whole && h.code >= 0 && some && (h.code == 0) == h.red {
		for i := range u.result.Rows {
			if o := &u.result.Rows[i]; o.Row.Unit == u.unit {
				o.Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("phpunit exited with %d, which its report does not bear out (%s)", h.code, h.tail))}}
			}
		}
		return
	}
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message("phpunit ran no test of it: " + h.tail), Missing: junit.Missing(h.tail)}
	switch {
	case h.exit.TimedOut:
		o = h.death()
	case strings.Contains(h.tail, "ParseError") || strings.Contains(h.tail, "Parse error") || strings.Contains(h.tail, "syntax error") || refused.MatchString(h.fatal):
		o.Reason = gate.Compile
	case len(o.Missing) > 0:
		o.Reason = gate.Import
	}
	silent := !some
	for _, d := range u.declared {
		if u.answered[d.row.ID] || len(u.batch.Rows) > 0 && !slices.Contains(u.batch.Rows, d.row.ID) {
			continue
		}
		if some && h.whole && h.code >= 0 {
			u.add(d.row, gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the configuration leaves it out"})
			continue
		}
		silent = true
	}
	if silent {
		u.result.Units = append(u.result.Units, gate.UnitFailure{Unit: u.unit, Observation: o})
	}
}

func (h *heard) death() gate.Observation {
	if h.exit.TimedOut {
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "still running at the time limit"}
	}
	return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall, Message: gate.Message("its process ended in the middle of it: " + h.tail)}
}

var (
	frame     = lazyregexp.New(`(?m)^(/[^\n:]+|phar:[^\n:]+):(\d+)$`)
	assertion = lazyregexp.New(`PHPUnit\\Framework\\(?:ExpectationFailed|AssertionFailed|MockObject|Comparison)|Mockery\\Exception|Prophecy`)
	refused   = lazyregexp.New(`Fatal error: +(?:Cannot |Declaration of |Access level |Class \S+ contains |\S+ cannot )`) // by the compiler
	fewer     = lazyregexp.New(`(?:Too few arguments to function|Unknown named parameter|Too many arguments) (?:[\w\\]+::)?\$?(\w+)`)
)

// observation is what a case came to.
func (u *unitBook) observation(c junit.Case, row gate.Row) gate.Observation {
	all := c.Attempts()
	o := all[len(all)-1]
	if len(c.Problems) == 0 || o.Outcome == gate.Skipped {
		return o
	}
	p := c.Problems[len(c.Problems)-1]
	words := strings.TrimSpace(strings.TrimPrefix(p.Text, strings.ReplaceAll(c.Class, ".", `\`)+"::"+c.Name))
	o.Outcome, o.Reason, o.Missing, o.Message = gate.Failed, gate.Exception, nil, gate.Message(frame.ReplaceAllString(words, ""))
	switch {
	case strings.HasSuffix(p.Kind, "RiskyTestError") || strings.HasSuffix(p.Kind, "RiskyTest"):
		return gate.Observation{Outcome: gate.Passed, Duration: c.Took, Message: gate.Message("risky: " + words)}
	case assertion.MatchString(p.Kind):
		o.Reason = gate.Assertion
	case strings.HasSuffix(p.Kind, `Framework\Warning`) || strings.HasSuffix(p.Kind, `Framework\Error`) || strings.HasSuffix(p.Kind, "InvalidDataProviderException"):
		o.Outcome, o.Reason, o.Missing = gate.Errored, gate.Setup, junit.Missing(words)
	default:
		o.Missing = junit.Missing(words)
		if m := fewer.FindStringSubmatch(words); m != nil {
			o.Missing = append(o.Missing, gate.Missing{Name: m[1], Signature: true})
		}
	}
	u.locate(&o, words, row)
	return o
}

// locate adds the place, and tells what failed in set-up: no line of the test is
// in the stack.
func (u *unitBook) locate(o *gate.Observation, words string, row gate.Row) {
	inTest, production := row.Line == 0, false
	for _, m := range frame.FindAllStringSubmatch(words, -1) {
		file, ok := strings.CutPrefix(m[1], u.root+"/")
		if !ok || foreign(file) {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		if o.Place.File == "" {
			o.Place = gate.Place{File: file, Line: line}
			production = file != u.unit && !strings.HasSuffix(file, "Test.php") && !strings.HasSuffix(file, "TestCase.php")
		}
		inTest = inTest || file == row.File && line >= row.Line && line <= row.End
	}
	for i := range o.Missing {
		o.Missing[i].FromProduction = production && !o.Missing[i].Signature
	}
	switch {
	case inTest || o.Place.File == "" || o.Outcome != gate.Failed || o.Reason == gate.Assertion:
	case production:
		o.Message = gate.Message("in set-up: " + o.Message)
	default:
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	}
}

func (u *unitBook) add(row gate.Row, o ...gate.Observation) {
	if u.answered[row.ID] {
		return
	}
	u.answered[row.ID] = true
	last := o[len(o)-1].Outcome
	if len(u.batch.Rows) > 0 && !slices.Contains(u.batch.Rows, row.ID) && !slices.Contains(u.batch.Rows, row.Parent) {
		return
	}
	u.result.Rows = append(u.result.Rows, gate.Observed{Row: row, Observations: o})
	if u.batch.Seen != nil {
		u.batch.Seen(row.ID, last)
	}
}
