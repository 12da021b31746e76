package conformance

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// compare holds a result against the answers, in both directions.
func (a *attempt) compare(result gate.Result) {
	got := make(map[string]string) // line -> the same with its place
	var order []string
	add := func(id string, said, place string) {
		line := strings.TrimRight(id+": "+said, " ")
		if _, twice := got[line]; twice {
			a.Errorf("twice: %s", line)
		}
		got[line] = strings.TrimSpace(line + " " + place)
		order = append(order, line)
	}
	for _, row := range result.Rows {
		add(row.Row.ID, saysAll(row), placeOf(row.Observations))
	}
	for _, u := range result.Units {
		add("unit "+u.Unit, plainstate.Say(u.Observation), placeOf([]gate.Observation{u.Observation}))
	}
	wanted := make(map[string]bool)
	for _, s := range a.Sections {
		for _, line := range s.Lines {
			plain := withoutPlace(line)
			wanted[plain] = true
			if with, ok := got[plain]; !ok || plain != line && with != line {
				a.Errorf("%s\n want %s\n  got %s", s.Situation, line, with)
			}
		}
	}
	for _, line := range order {
		if !wanted[line] {
			a.Errorf("not wanted\n  got %s", got[line])
		}
	}
	if a.Failed() {
		a.explain(result)
	}
}

func saysAll(row gate.Observed) string {
	var all []string
	for _, o := range row.Observations {
		all = append(all, plainstate.Say(o))
	}
	return strings.Join(all, ", ")
}

// placeOf is where the last observation came from, as "@file:line".
func placeOf(all []gate.Observation) string {
	if len(all) == 0 || all[len(all)-1].Place.File == "" {
		return ""
	}
	p := all[len(all)-1].Place
	return fmt.Sprintf("@%s:%d", p.File, p.Line)
}

// withoutPlace is a line without its " @file:line".
func withoutPlace(line string) string {
	at := strings.LastIndex(line, " @")
	if at < 0 || strings.ContainsRune(line[at+1:], ' ') || !strings.Contains(line[at:], ":") {
		return line
	}
	return line[:at]
}

func (a *attempt) explain(result gate.Result) {
	for _, u := range result.Units {
		a.Logf("unit %s: %s", u.Unit, u.Observation.Message)
	}
	for _, row := range result.Rows {
		for _, o := range row.Observations {
			a.Logf("%s: %s %s", row.Row.ID, plainstate.Say(o), o.Message)
		}
	}
}
