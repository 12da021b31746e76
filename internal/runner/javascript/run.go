package javascript

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// maxRounds bounds how often a run is asked again without what killed it.
const maxRounds = 8

// List names the units' rows and runs none.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.newCall(state, gate.Batch{Units: units}).ask(ctx, question{list: true})
}

// Run runs the rows of the units. A row that kills the process is observed as
// such, and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	q := question{rows: make(map[string][]string)}
	for _, id := range batch.Rows {
		unit := r.known(id).unit
		q.rows[unit] = append(q.rows[unit], id)
	}
	return r.newCall(state, batch).ask(ctx, q)
}

// call is one call of Run or List: as many invocations as it takes.
type call struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	reader   reader
	limit    time.Duration // after which nothing is asked again
	answered map[string]bool
	failed   map[string]bool // units whose failure is known
	alone    int             // questions about single rows
	bridge   *onBridge       // nil where nothing stands in
	unseen   bool            // which ES modules were loaded is read off their sources
	traces   []record
	result   gate.Result
}

func (r *Runner) newCall(state gate.State, batch gate.Batch) *call {
	c := &call{
		Runner: r, state: state, batch: batch, reader: reader{suite: r.suite(state.Tree())}, limit: 2 * r.Timeout,
		answered: make(map[string]bool), failed: make(map[string]bool), bridge: bridged(state),
	}
	if batch.Timeout > 0 {
		c.limit = 2 * batch.Timeout
	}
	return c
}

// ask puts the question, and what it leaves open, until every row has an answer
// or nothing new is said.
func (c *call) ask(ctx context.Context, q question) (gate.Result, error) {
	units := c.present()
	if len(q.rows) > 0 { // a unit without a wanted row is not asked for
		units = slices.DeleteFunc(units, func(unit string) bool { return len(q.rows[unit]) == 0 })
	}
	q.units = units
	for round, queue := 1, []question{q}; len(queue) > 0; round++ {
		q, queue = queue[0], queue[1:]
		if len(q.units) == 0 {
			continue
		}
		h, err := c.invoke(ctx, q)
		if err != nil {
			return gate.Result{}, err
		}
		if apart := c.apart(q, &h); len(apart) > 0 {
			queue = slices.Concat(queue, apart)
			continue
		}
		rest, progress := c.absorb(q, h)
		if len(rest.units) > 0 && (!progress && !c.dies(q, h) || round >= maxRounds+c.alone || c.result.Wall > c.limit) {
			c.giveUp(rest, h)
			continue
		}
		if rest, err = c.complete(ctx, rest); err != nil {
			return gate.Result{}, err
		}
		alone, err := c.suspects(ctx, q, h)
		if err != nil {
			return gate.Result{}, err
		}
		queue = slices.Concat(queue, rest.split(), alone)
	}
	c.absent(units)
	return c.result, c.readLoaded(ctx, q.list)
}

// split parts the units that are asked for whole from those of which some rows
// are: most frameworks know one pattern for all files.
func (q question) split() []question {
	whole, named := q, q
	whole.units = slices.DeleteFunc(slices.Clone(q.units), func(unit string) bool { return len(q.rows[unit]) > 0 })
	named.units = slices.DeleteFunc(slices.Clone(q.units), func(unit string) bool { return len(q.rows[unit]) == 0 })
	return []question{whole, named}
}

// present are the batch's units that the state has. None leaves nothing to ask:
// a framework without a file would run everything.
func (c *call) present() []string {
	paths := c.state.Tree().Paths()
	var units []string
	for _, unit := range c.batch.Units {
		if _, found := slices.BinarySearch(paths, unit); found && treepath.Within(c.Dir, path.Dir(unit)) && !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	return units
}

// absorb takes in what one invocation said and returns the question that is
// left: what something else kept from running. progress tells whether anything
// was answered.
func (c *call) absorb(q question, h heard) (rest question, progress bool) {
	if h.stepFailed != nil {
		c.failAll(q.units, c.unbuilt(h))
		return question{}, true
	}
	before := len(c.answered) + len(c.failed)
	h.settle()
	for _, unit := range q.units {
		if why := h.contradiction(unit); why != "" {
			c.fail(unit, gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(why)})
		}
	}
	c.takeUnitErrors(q, h)
	c.takeRows(q, h)
	return c.left(q, h), len(c.answered)+len(c.failed) > before
}

// takeUnitErrors records the files that could not be loaded.
func (c *call) takeUnitErrors(q question, h heard) {
	for _, e := range h.errors {
		if !slices.Contains(q.units, e.Unit) {
			continue
		}
		o := c.behindBridge(h, e.Unit, nil, e.Errors, c.reader.notLoaded(e.Unit, e.Errors))
		if e.Died {
			continue // its rows tell, or are asked one by one
		}
		c.fail(e.Unit, o)
	}
	if h.perFile {
		c.takeFiles(q, h)
	} else if h.loading != "" && len(h.rows) == 0 && h.broken(h.loading) && c.Config.Framework == Mocha {
		c.fail(h.loading, h.death(h.loading))
	}
}

// takeFiles reads how the processes of single files ended (node:test). A file
// that declares no test is a test itself.
func (c *call) takeFiles(q question, h heard) {
	for _, unit := range q.units {
		end, ran := h.exits[unit]
		rows := slices.ContainsFunc(h.rows, func(row *heardRow) bool { return row.unit == unit })
		uncaught := h.uncaught[unit]
		switch {
		case !ran || rows && len(uncaught) == 0:
		case rows:
			c.late(unit, h, uncaught)
		case c.declares(unit) && len(uncaught) > 0:
			c.fail(unit, c.behindBridge(h, unit, nil, uncaught, c.reader.notLoaded(unit, uncaught)))
		case c.declares(unit):
			if end.Code != 0 || end.Signal != "" {
				c.fail(unit, h.death(unit))
			} else if !q.list && len(q.rows[unit]) == 0 {
				c.fail(unit, noReport("it imports node:test and declares no test"))
			}
		default:
			c.whole(unit, q, h, end, uncaught)
		}
	}
}

// late takes an error that came after the first test was declared: what it kept
// from being declared cannot be told.
func (c *call) late(unit string, h heard, uncaught []failure) {
	for _, row := range h.rows {
		if row.unit == unit && (!row.over || row.results[len(row.results)-1].Outcome == "failed") {
			return // a test's own
		}
	}
	c.fail(unit, c.behindBridge(h, unit, nil, uncaught, c.reader.notLoaded(unit, uncaught)))
}

// declares tells whether a file declares tests, as far as its text says so.
func (c *call) declares(unit string) bool {
	return len(c.reader.outline(unit).roots) > 0 || strings.Contains(c.reader.source(unit), "node:test")
}

// whole answers for a file that is one test: it passes when it exits with 0.
func (c *call) whole(unit string, q question, h heard, end record, uncaught []failure) {
	row := gate.Row{ID: unit, Runner: c.Name(), Name: unit, Unit: unit, File: unit, Line: 1, Digest: c.reader.outline(unit).context()}
	c.remember(unit, knownRow{unit: unit, number: 1})
	switch {
	case q.list:
		c.answer(row)
	case end.Code == 0 && end.Signal == "" && len(uncaught) == 0:
		c.answer(row, c.behindBridge(h, unit, nil, nil, gate.Observation{Outcome: gate.Passed}))
	case len(uncaught) > 0 && c.reader.notLoaded(unit, uncaught).Reason != gate.Setup:
		c.fail(unit, c.behindBridge(h, unit, nil, uncaught, c.reader.notLoaded(unit, uncaught)))
	case len(uncaught) > 0:
		c.answer(row, c.behindBridge(h, unit, nil, uncaught, c.reader.observe(unit, nil, uncaught)))
	default:
		c.answer(row, h.death(unit))
	}
}

// left is the question that an invocation did not answer: of units that broke
// off in the middle, the rows that are known and have no answer, or all.
func (c *call) left(q question, h heard) question {
	rest := question{list: q.list, rows: make(map[string][]string)}
	ids := h.ids()
	listed := make(map[string]bool)
	for _, row := range h.rows {
		id := ids[row]
		listed[row.unit] = true
		if !c.answered[id] && q.wants(row.unit, id) && !row.over {
			rest.rows[row.unit] = append(rest.rows[row.unit], id)
		}
	}
	for _, unit := range q.units {
		switch {
		case c.failed[unit] || !h.broken(unit) || h.mute(unit) && c.dies(q, h):
			delete(rest.rows, unit)
			continue
		case c.Config.Framework == Mocha && listed[unit]: // it lists before it runs
			if len(rest.rows[unit]) == 0 {
				continue
			}
		default:
			delete(rest.rows, unit)
			for _, id := range q.rows[unit] {
				if !c.answered[id] {
					rest.rows[unit] = append(rest.rows[unit], id)
				}
			}
			if len(q.rows[unit]) > 0 && len(rest.rows[unit]) == 0 {
				continue
			}
		}
		rest.units = append(rest.units, unit)
	}
	return rest
}

// complete names the rows that are left of units that were run in part, by
// listing those units: what was answered is not run again.
func (c *call) complete(ctx context.Context, rest question) (question, error) {
	var partial []string
	for _, unit := range rest.units {
		some := slices.ContainsFunc(c.result.Rows, func(o gate.Observed) bool { return o.Row.Unit == unit })
		if some && !rest.list && len(rest.rows[unit]) == 0 {
			partial = append(partial, unit)
		}
	}
	if len(partial) == 0 {
		return rest, nil
	}
	h, err := c.invoke(ctx, question{units: partial, list: true})
	if err != nil {
		return question{}, err
	}
	ids := h.ids()
	for _, row := range h.rows {
		if id := ids[row]; !c.answered[id] && slices.Contains(partial, row.unit) && (!row.suite || !c.begun(id)) {
			rest.rows[row.unit] = append(rest.rows[row.unit], id)
			c.remember(id, knownRow{row.unit, row.path, row.number, row.suite})
		}
	}
	rest.units = slices.DeleteFunc(rest.units, func(unit string) bool {
		return slices.Contains(partial, unit) && len(rest.rows[unit]) == 0
	})
	return rest, nil
}

// begun tells whether a row in a suite has an answer: then the suite would be
// judged by a part of it.
func (c *call) begun(suite string) bool {
	for id := range c.answered {
		if strings.HasPrefix(id, suite+between) {
			return true
		}
	}
	return false
}

// giveUp answers for what will not be asked again.
func (c *call) giveUp(q question, h heard) {
	for _, unit := range q.units {
		c.fail(unit, h.silence(unit))
	}
}

// absent speaks of units in which there is no test, and of rows that were asked
// for by name where a unit answered none of them.
func (c *call) absent(units []string) {
	some := make(map[string]bool)
	for _, observed := range c.result.Rows {
		some[observed.Row.Unit] = true
	}
	for _, unit := range units {
		switch {
		case some[unit] || c.failed[unit] || len(c.batch.Rows) == 0 && c.reader.suite.lends(unit):
		case len(c.batch.Rows) > 0:
			c.fail(unit, noReport("none of the rows asked for is declared in it"))
		default:
			c.fail(unit, noReport("%s found no tests in it", c.Config.Framework))
		}
	}
}

func (c *call) answer(row gate.Row, o ...gate.Observation) {
	c.answered[row.ID] = true
	c.result.Rows = append(c.result.Rows, gate.Observed{Row: row, Observations: o})
}

// fail records why a unit gave no rows or not all of them; the first word
// counts.
func (c *call) fail(unit string, o gate.Observation) {
	if !c.failed[unit] {
		c.failed[unit] = true
		c.result.Units = append(c.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
	}
}

func (c *call) failAll(units []string, o gate.Observation) {
	for _, unit := range units {
		c.fail(unit, o)
	}
}
