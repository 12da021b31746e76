package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scripted is a runner that answers from a function: for a state, the rows that
// run together, in order, and how often it was asked, the outcome of each.
type scripted struct {
	named
	asked  map[StateName]int
	answer func(state StateName, rows []string, nth int) map[string]Observation
}

func (s *scripted) Run(_ context.Context, state State, batch Batch) (result Result, err error) {
	rows := batch.Rows
	if len(rows) == 0 {
		rows = []string{"a", "b", "c", "victim", "z"}
	}
	s.asked[state.Name()]++
	said := s.answer(state.Name(), rows, s.asked[state.Name()])
	if said == nil {
		return result, errors.New("no process could be started")
	}
	for _, id := range rows {
		o, ok := said[id]
		if !ok {
			o = Observation{Outcome: Passed}
		}
		result.Rows = append(result.Rows, Observed{Row{ID: id, Unit: "u", File: "t.py", Digest: "d"}, []Observation{o}})
	}
	result.Commands = [][]string{append([]string{"run"}, rows...)}
	return result, nil
}

// column is a state that is only a name: nothing runs in it.
type column struct {
	State
	name StateName
}

func (c column) Name() StateName { return c.name }

// TestCompany tells what fails beside other tests from what is not stable, from
// what base does too, and from what could not be asked.
func TestCompany(t *testing.T) {
	red := Observation{Outcome: Failed, Reason: Assertion}
	fails := func(when bool) map[string]Observation {
		if when {
			return map[string]Observation{"victim": red}
		}
		return map[string]Observation{}
	}
	after := func(rows []string, ids ...string) bool {
		at := slices.Index(rows, "victim")
		return !slices.ContainsFunc(ids, func(id string) bool { i := slices.Index(rows, id); return i < 0 || i > at })
	}
	for _, c := range []struct {
		name      string
		answer    func(state StateName, rows []string, nth int) map[string]Observation
		kind      FlipKind // "" for no flip
		polluters string
		command   string
		note      string
		rates     string // failed and runs, on head and on base
	}{
		{"polluted by one", func(s StateName, rows []string, _ int) map[string]Observation {
			return fails(s == Head && after(rows, "b"))
		}, FullRunOnly, "b", "run b victim", "", ""},
		{"polluted by two", func(s StateName, rows []string, _ int) map[string]Observation {
			return fails(s == Head && after(rows, "a", "c"))
		}, FullRunOnly, "a c", "run a c victim", "", ""},
		{"only when the last runs too", func(s StateName, rows []string, _ int) map[string]Observation {
			return fails(s == Head && slices.Contains(rows, "z"))
		}, FullRunOnly, "", "run a b c victim z", "", ""},
		{"not stable", func(s StateName, _ []string, nth int) map[string]Observation {
			return fails(s == Head && nth > 1)
		}, Sometimes, "", "", "", "{1 4} {0 4}"},
		{"on base too", func(s StateName, rows []string, _ int) map[string]Observation {
			return fails(after(rows, "b"))
		}, "", "", "", "and so it does on base", ""},
		{"not stable on base either", func(s StateName, _ []string, nth int) map[string]Observation {
			return fails(s == Base && nth == 2)
		}, "", "", "", "", ""},
		{"base cannot be asked", func(s StateName, rows []string, _ int) map[string]Observation {
			if s == Base {
				return nil
			}
			return fails(after(rows, "b"))
		}, Sometimes, "", "", "", "{2 4} {0 1}"},
	} {
		runner := &scripted{named: "x", asked: make(map[StateName]int), answer: c.answer}
		r := newReplay(Inputs{
			Runners: []Runner{runner}, Policy: DefaultPolicy(), SameTree: func(a, b StateName) bool { return false }, Jobs: 1,
			Open:    func(_ context.Context, name StateName) (State, error) { return column{name: name}, nil },
			Further: Further{Budget: 1 << 40},
		})
		r.ranFull = true
		for _, id := range []string{"a", "b", "c", "victim", "z"} {
			row := Row{ID: id, Runner: "x", Unit: "u", File: "t.py", Digest: "d"}
			head := []Observation{{Outcome: Passed}}
			if id == "victim" {
				head = []Observation{red, {Outcome: Passed}, {Outcome: Passed}}
			}
			for _, o := range head {
				r.m.Add(Head, row, o)
			}
			r.m.Add(Base, row, Observation{Outcome: Passed})
		}
		r.company(context.Background())
		flips := r.flips()
		if c.kind == "" {
			if len(flips) > 0 || c.note != "" && !strings.Contains(strings.Join(r.notes, "\n"), c.note) {
				t.Errorf("%s: %+v, notes %q", c.name, flips, r.notes)
			}
			continue
		}
		if len(flips) != 1 || flips[0].Kind != c.kind || strings.Join(flips[0].Polluters, " ") != c.polluters || c.command != "" && strings.Join(flips[0].Reproduce, " ") != c.command {
			t.Errorf("%s: %+v", c.name, flips)
			continue
		}
		if flip := flips[0]; c.rates != "" && fmt.Sprint(*flip.OnHead, *flip.OnBase) != c.rates {
			t.Errorf("%s: rates %v, %v", c.name, *flip.OnHead, *flip.OnBase)
		}
	}
}
