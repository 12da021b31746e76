package ruby

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

//go:embed reporter.rb
var reporter string

// maxRounds bounds how often a run is asked again without what broke or killed it.
const maxRounds = 8

// session is one call of Run or List.
type session struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	list     bool
	canary   string     // the name of checks that must fail, "" for none
	serial   bool       // tests that run side by side run one after the other
	suspects []gate.Row // ran side by side when their process died: one of them ended it
	answered map[string]bool
	failed   map[string]bool
	sources  map[string]*source
	result   gate.Result
}

// List loads the units and names their rows.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.ask(ctx, &session{Runner: r, state: state, batch: gate.Batch{Units: units}, list: true})
}

// Run runs the rows of the units. A file that does not load, and a row that kills
// the process, is observed as such, and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	return r.ask(ctx, &session{Runner: r, state: state, batch: batch})
}

func (r *Runner) ask(ctx context.Context, s *session) (gate.Result, error) {
	s.prepare()
	units, rows := s.present(), s.batch.Rows
	for round := 1; ; round++ {
		if len(units) == 0 {
			units, rows = s.oneByOne()
		}
		if len(units) == 0 {
			break
		}
		h, err := s.invoke(ctx, units, rows)
		if err != nil {
			return gate.Result{}, err
		}
		before, together := s.settled(), !s.serial
		restUnits, restRows := s.absorb(units, h)
		stuck := s.settled() == before && !(together && s.serial)
		if len(restUnits) > 0 && (round == maxRounds || stuck) {
			s.failAll(restUnits, h.silence())
			break
		}
		units, rows = restUnits, restRows
	}
	for i := range s.result.Rows {
		row := &s.result.Rows[i].Row
		row.Context = s.sources[row.File].context()
	}
	return s.result, nil
}

// settled counts what need not be asked in the same way again.
func (s *session) settled() int { return len(s.answered) + len(s.failed) + len(s.suspects) }

// oneByOne is the question about the suspects, whose tests run alone from now on.
func (s *session) oneByOne() (units, rows []string) {
	for _, row := range s.suspects {
		rows = append(rows, row.ID)
		if !slices.Contains(units, row.Unit) {
			units = append(units, row.Unit)
		}
	}
	s.serial, s.suspects = true, nil
	return units, rows
}

func (s *session) prepare() {
	s.answered, s.failed, s.sources = make(map[string]bool), make(map[string]bool), make(map[string]*source)
}

// present are the units that the state has.
func (s *session) present() []string {
	paths := s.state.Tree().Paths()
	return slices.DeleteFunc(slices.Clone(s.batch.Units), func(unit string) bool {
		_, found := slices.BinarySearch(paths, unit)
		return !found || !treepath.Within(s.Dir, unit)
	})
}

var loading = lazyregexp.New(`while loading (?:\./)?(\S+?\.rb)\b`)

// absorb takes in what one process said, and returns what is left to ask.
func (s *session) absorb(units []string, h *heard) (restUnits, restRows []string) {
	broken := s.takeOutside(units, h)
	red, left := false, make(map[string]bool)
	open := h.open()
	for _, row := range h.dropped {
		s.drop(row)
	}
	for _, row := range h.rows {
		end, ok := h.ended[row.ID]
		switch {
		case s.list:
			s.add(row)
		case ok:
			o := end.observation(row)
			red = red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			s.add(row, o)
		case len(open) == 1 && open[0] == row.ID && !s.answered[row.ID]:
			s.add(row, h.death())
		case len(open) > 1 && !s.serial && slices.Contains(open, row.ID) && !s.answered[row.ID]:
			s.suspects = append(s.suspects, row)
		case !s.answered[row.ID]:
			left[row.Unit] = true
			restRows = append(restRows, row.ID)
		}
	}
	whole := h.closed && h.exit.Signal == "" && !h.exit.TimedOut
	switch {
	case broken && len(h.rows) == 0: // one file kept the others from running
		return slices.DeleteFunc(slices.Clone(units), func(u string) bool { return s.failed[u] }), s.batch.Rows
	case len(h.rows)+len(h.dropped) == 0 && (!whole || h.exit.Code != 0):
		s.failAll(units, h.silence())
		return nil, nil
	case s.list:
		s.missing(units, h)
		return nil, nil
	case whole && h.exit.Code == 0 && red || whole && h.exit.Code != 0 && !red && !broken && len(restRows) == 0:
		if s.serial || s.Config.Framework != Minitest {
			s.contradict(h)
			return nil, nil
		}
		s.serial = true // side by side, one test may take the others' end with it
		return units, s.forget(h)
	}
	s.missing(units, h)
	for _, unit := range units {
		if left[unit] {
			restUnits = append(restUnits, unit)
		}
	}
	return restUnits, restRows
}

// takeOutside records the files that did not load, and what went wrong around
// all of them.
func (s *session) takeOutside(units []string, h *heard) (broken bool) {
	for _, r := range h.outside {
		o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(r.Context)}
		if r.Error != nil {
			o = r.Error.unloaded()
		}
		m := loading.FindStringSubmatch(strings.TrimSpace(r.Context))
		if m == nil {
			s.failAll(units, o)
			continue
		}
		for _, unit := range units {
			if m[1] == unit || m[1] == treepath.Relative(s.Dir, unit) || strings.HasSuffix(m[1], "/"+unit) {
				broken = true
				s.fail(unit, o)
			}
		}
	}
	return broken
}

// missing speaks of units without any row.
func (s *session) missing(units []string, h *heard) {
	for _, unit := range units {
		if !slices.ContainsFunc(slices.Concat(h.rows, h.dropped), func(r gate.Row) bool { return r.Unit == unit }) && !s.list && len(s.batch.Rows) == 0 {
			s.fail(unit, noReport("there is no test in it"))
		}
	}
	if len(s.batch.Rows) > 0 && len(h.rows) == 0 && len(s.result.Rows) == 0 {
		s.failAll(units, noReport("none of the rows asked for is in it"))
	}
}

// forget takes back what a process said of its rows, and returns them.
func (s *session) forget(h *heard) (rows []string) {
	said := h.said()
	s.result.Rows = slices.DeleteFunc(s.result.Rows, func(row gate.Observed) bool { return said[row.Row.ID] })
	for _, row := range h.rows {
		delete(s.answered, row.ID)
		rows = append(rows, row.ID)
	}
	return rows
}

// said are the rows that a process spoke of.
func (h *heard) said() map[string]bool {
	said := make(map[string]bool)
	for _, row := range h.rows {
		said[row.ID] = true
	}
	return said
}

// contradict makes rows worthless whose process's exit status says otherwise.
func (s *session) contradict(h *heard) {
	said := h.said()
	for i := range s.result.Rows {
		if !said[s.result.Rows[i].Row.ID] {
			continue // another process's word
		}
		s.result.Rows[i].Observations = []gate.Observation{{
			Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("the process exited with %d, which its report does not bear out (%s)", h.exit.Code, h.tail)),
		}}
	}
}

func noReport(words string) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(words)}
}

// drop answers for a row that the suite's own filters leave out.
func (s *session) drop(row gate.Row) {
	if s.list {
		s.add(row)
		return
	}
	s.add(row, gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the suite's own filters (a focused example, a tag) leave it out"})
}

func (s *session) add(row gate.Row, o ...gate.Observation) {
	if s.answered[row.ID] {
		return
	}
	s.answered[row.ID] = true
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: o})
}

// fail records why a unit gave no rows or not all of them; the first word counts.
func (s *session) fail(unit string, o gate.Observation) {
	if !s.failed[unit] {
		s.failed[unit] = true
		s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
	}
}

func (s *session) failAll(units []string, o gate.Observation) {
	for _, unit := range units {
		s.fail(unit, o)
	}
}
