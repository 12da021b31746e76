package jvm

import (
	"context"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// Brakes on one call.
const (
	maxBuilds   = 15 // without what did not compile
	maxReruns   = 4  // without what killed a run
	maxAlone    = 12 // rows of a class that died, asked one by one
	maxTimeouts = 2  // of those
)

// session is one call of Run.
type session struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	project  *project
	left     *braces.Taken[kept]
	sources  map[string][]string // sources of the tree by their base name
	answered map[string]bool
	failed   map[string]bool
	complete bool // the run came to its end: what it did not say will not be said
	result   gate.Result
}

// Run runs the rows of the units. A class whose process dies is asked row by row,
// and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	s := &session{
		Runner: r, state: state, batch: batch, project: newProject(state.Tree(), r.Dir, r.tool),
		answered: make(map[string]bool), failed: make(map[string]bool), left: r.left.Of(state),
	}
	defer s.left.Unlock()
	asked := s.asked()
	for round := 0; len(asked) > 0 && round <= maxReruns; round++ {
		h, err := s.build(ctx, asked)
		if err != nil {
			return gate.Result{}, err
		}
		if h == nil {
			break
		}
		if asked, err = s.after(ctx, asked, h, round == maxReruns); err != nil {
			return gate.Result{}, err
		}
	}
	return s.result, nil
}

// build runs the selection, again and again without the test code that does not
// compile; nil when nothing could be run.
func (s *session) build(ctx context.Context, asked []ask) (*heard, error) {
	for round := 1; ; round++ {
		h, err := s.invoke(ctx, asked)
		if err != nil || len(h.errors) == 0 || h.verdict != "FAILURE" {
			return h, err
		}
		if round < maxBuilds && s.takeOut(h.errors) {
			continue
		}
		o := observation(h.errors, nil)
		for _, a := range asked {
			if !slices.ContainsFunc(h.cases, func(c junit.Case) bool { return ofClass(c.Class+"#", a.class) }) {
				s.fail(a.unit, o)
			}
		}
		return h, nil
	}
}

// after takes in what a run said, and returns what to ask again.
func (s *session) after(ctx context.Context, asked []ask, h *heard, last bool) ([]ask, error) {
	s.complete = !h.cutShort()
	heardOf := s.absorb(asked, h)
	if s.complete {
		s.settle(asked, heardOf, h)
		return nil, nil
	}
	var culprits, rest []ask
	for _, a := range asked {
		switch open := slices.ContainsFunc(h.running, func(c string) bool { return ofClass(c+"#", a.class) }); {
		case heardOf[a.unit] && !open:
		case open && (!heardOf[a.unit] || len(h.tests) > 0):
			culprits = append(culprits, a)
		default:
			rest = append(rest, a)
		}
	}
	if len(culprits) == 0 && len(rest) == 1 {
		culprits, rest = rest, nil
	}
	for _, a := range culprits {
		if err := s.alone(ctx, a, h); err != nil {
			return nil, err
		}
	}
	if len(culprits) == 0 || last {
		for _, a := range rest {
			o := h.death()
			o.Message = gate.Message("not reached in a run that ended early: " + o.Message)
			s.fail(a.unit, o)
		}
		return nil, nil
	}
	return rest, nil
}

// settle speaks of the units of which a whole run said nothing, and of a build
// that failed although no test did.
func (s *session) settle(asked []ask, heardOf map[string]bool, h *heard) {
	silent := false
	for _, a := range asked {
		if heardOf[a.unit] || s.failed[a.unit] || s.allTaken(a) {
			continue
		}
		silent = true
		switch {
		case h.verdict != "SUCCESS" && len(h.words) > 0:
			s.fail(a.unit, h.unbuilt())
		case h.broken != nil:
			s.fail(a.unit, noReport(h.broken.Error()))
		default:
			s.fail(a.unit, noReport("the build ran no test of it: "+h.tail))
		}
	}
	if h.exit.Code != 0 && !silent && len(s.failed) == 0 && !slices.ContainsFunc(s.result.Rows, red) {
		for i := range s.result.Rows {
			s.result.Rows[i].Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message("the build failed although its reports hold no failure: " + strings.Join(h.words, " "))}}
		}
	}
}

// allTaken holds for classes of which every row was taken out.
func (s *session) allTaken(a ask) bool {
	return !slices.ContainsFunc(s.project.declaredRows(a.unit), func(r gate.Row) bool {
		return ofClass(r.ID, a.class) && s.wants(r) && !s.answered[r.ID]
	})
}

func noReport(words string) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(words)}
}

func red(o gate.Observed) bool {
	return slices.ContainsFunc(o.Observations, func(o gate.Observation) bool { return o.Outcome != gate.Passed && o.Outcome != gate.Skipped })
}

// alone asks for each row of a class whose process died.
func (s *session) alone(ctx context.Context, a ask, before *heard) error {
	timeouts := 0
	var rows []gate.Row
	for _, row := range s.project.declaredRows(a.unit) {
		if _, out := s.takenWith(row); ofClass(row.ID, a.class) && s.wants(row) && !s.answered[row.ID] && !out {
			rows = append(rows, row)
		}
	}
	if len(rows) == 1 {
		s.add(rows[0], before.death())
		return nil
	}
	for i, row := range rows {
		if i >= maxAlone || timeouts >= maxTimeouts {
			s.fail(a.unit, before.death())
			return nil
		}
		class, name, _ := strings.Cut(row.ID, "#")
		h, err := s.invoke(ctx, []ask{{unit: a.unit, class: a.class, methods: []method{{class: class, name: name, parts: manyNote.Match(s.project.file(a.unit).Text)}}}})
		if err != nil {
			return err
		}
		if h.cutShort() {
			s.add(row, h.death())
			if h.exit.TimedOut {
				timeouts++
			}
			continue
		}
		only := *s
		only.batch.Rows, only.complete = []string{row.ID}, true
		only.absorb([]ask{a}, h)
		s.result = only.result
		if !s.answered[row.ID] {
			s.add(row, noReport("run alone, it left no report: "+h.tail))
		}
	}
	return nil
}

// takenWith is why a row was taken out: its own method, or one that its
// annotations name.
func (s *session) takenWith(row gate.Row) (gate.Observation, bool) {
	f := s.project.file(row.File)
	if f == nil {
		return gate.Observation{}, false
	}
	if _, m := f.methodOf(row); m != nil {
		if o, out := s.left.Why(f.File, m); out {
			return o, true
		}
		for _, word := range quotedWord.FindAllStringSubmatch(m.Notes, -1) {
			if o, out := s.left.Cause(word[1]); out {
				return o, true
			}
		}
	}
	if unit := s.project.file(row.Unit); unit != nil && unit != f { // an inherited test whose class is gone
		for _, c := range unit.classes {
			if o, out := s.left.Why(unit.File, c.member); out && ofClass(row.ID, c.name) {
				return o, true
			}
		}
	}
	return gate.Observation{}, false
}

var quotedWord = lazyregexp.New(`"(?:[\w.$]*#)?(\w+)"`)

func (s *session) add(row gate.Row, o ...gate.Observation) {
	if s.answered[row.ID] {
		return
	}
	s.answered[row.ID] = true
	row.Runner = s.Name()
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: o})
	if s.batch.Seen != nil {
		s.batch.Seen(row.ID, o[len(o)-1].Outcome)
	}
}

// fail records why a unit gave no rows or not all of them; the first word counts.
func (s *session) fail(unit string, o gate.Observation) {
	if !s.failed[unit] {
		s.failed[unit] = true
		s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
	}
}
