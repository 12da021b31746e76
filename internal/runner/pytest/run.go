package pytest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// maxRounds bounds how often a run is asked again without what killed it.
const maxRounds = 5

// List collects the units' rows and runs none.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.newCall(state, gate.Batch{Units: units}).ask(ctx, question{list: true})
}

// Run runs the rows of the units. A row that kills the process is observed as
// such, and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	return r.newCall(state, batch).ask(ctx, question{rows: batch.Rows})
}

// call is one call of Run or List: as many invocations as it takes.
type call struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	patterns []string
	limit    time.Duration // after which nothing is asked again
	answered map[string]bool
	dropped  map[string]bool // rows that the suite itself deselects
	failed   map[string]bool // units whose failure is known
	traces   []heard         // the invocations of a traced run
	result   gate.Result
}

func (r *Runner) newCall(state gate.State, batch gate.Batch) *call {
	c := &call{
		Runner: r, state: state, batch: batch, patterns: r.project(state.Tree()).files, limit: 2 * r.Timeout,
		answered: make(map[string]bool), dropped: make(map[string]bool), failed: make(map[string]bool),
	}
	if batch.Timeout > 0 {
		c.limit = 2 * batch.Timeout
	}
	return c
}

// ask puts the question until every row has an answer, or nothing new is said.
func (c *call) ask(ctx context.Context, q question) (gate.Result, error) {
	units := c.present()
	q.units, q.company = units, c.company(units)
	for round := 1; len(q.units) > 0; round++ {
		h, err := c.invoke(ctx, q)
		if err != nil {
			return gate.Result{}, err
		}
		rest := c.absorb(q, h)
		if len(rest.units) > 0 && (round == maxRounds || c.result.Wall > c.limit) {
			c.giveUp(rest, h, noReport("not reached: the run ended before it %d times, %s", round, h.exit))
			break
		}
		q = rest
	}
	c.absent(units)
	return c.result, nil
}

// present are the batch's units that the state has. None leaves nothing to ask:
// pytest without a file would run everything.
func (c *call) present() []string {
	paths := c.state.Tree().Paths()
	var units []string
	for _, unit := range c.batch.Units {
		if _, found := slices.BinarySearch(paths, unit); !found || !treepath.Within(c.Dir, path.Dir(unit)) || slices.Contains(units, unit) {
			continue
		}
		if unnameable(unit) {
			c.fail(unit, noReport("%s cannot be given the name %q", c.Config.Framework, unit))
			continue
		}
		units = append(units, unit)
	}
	return units
}

// absorb takes in what one invocation said and returns the question that is
// left: what something else kept from running.
func (c *call) absorb(q question, h heard) question {
	if why := h.contradiction(); why != "" {
		c.failAll(q.units, gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: clean(why)})
		return question{}
	}
	before := len(c.answered) + len(c.failed)
	h.leave(q.company)
	c.takeUnitErrors(q, h)
	c.takeRows(q, h)
	rest := c.left(q, h)
	if len(rest.units) > 0 && len(c.answered)+len(c.failed) == before {
		c.giveUp(rest, h, h.silence())
		return question{}
	}
	return rest
}

// takeUnitErrors records the files that could not be collected.
func (c *call) takeUnitErrors(q question, h heard) {
	for _, e := range h.conftests {
		for _, unit := range q.units {
			if treepath.Within(path.Dir(e.unit), path.Dir(unit)) {
				c.fail(unit, e.observation)
			}
		}
	}
	for _, e := range h.unitErrors {
		if slices.Contains(q.company, e.unit) {
			continue
		}
		for _, unit := range concerned(q.units, e.unit) {
			c.fail(unit, e.observation)
		}
	}
	if h.collecting != "" && h.broken() {
		c.fail(h.collecting, h.death())
	}
}

// concerned are the asked units that a collection error speaks of: the file
// itself, else all below its directory.
func concerned(asked []string, unit string) []string {
	if slices.Contains(asked, unit) {
		return []string{unit}
	}
	dir := unit
	if strings.HasSuffix(unit, ".py") {
		dir = path.Dir(unit)
	}
	return slices.DeleteFunc(slices.Clone(asked), func(u string) bool { return dir != "" && !treepath.Within(dir, path.Dir(u)) })
}

// takeRows records the rows that have an answer: their reports, or that the
// process died in them.
func (c *call) takeRows(q question, h heard) {
	for id := range h.deselected {
		c.dropped[id] = true
	}
	killers, running := h.killers(c.limit/4), h.unfinished()
	for _, id := range h.order {
		attempts := h.observations(id)
		switch {
		case c.answered[id]:
		case q.list:
			c.answer(h.rows[id])
		case slices.Contains(killers, id):
			c.answer(h.rows[id], h.died(id))
			if c.batch.Seen != nil {
				c.batch.Seen(id, h.death().Outcome)
			}
		case len(attempts) > 0 && !slices.Contains(running, id):
			c.answer(h.rows[id], attempts...)
		}
	}
}

// left is the question that an invocation did not answer.
func (c *call) left(q question, h heard) question {
	rest := question{list: q.list, trace: q.trace, company: q.company}
	for _, id := range h.order {
		if !c.answered[id] {
			rest.rows = append(rest.rows, id)
			rest.units = append(rest.units, h.rows[id].Unit)
		}
	}
	slices.Sort(rest.units)
	rest.units = slices.Compact(rest.units)
	collected := h.ended && (h.status == exitOK || h.status == exitNoneFound || len(h.unitErrors) > 0)
	if len(h.order) > 0 || collected && h.interrupted == "" {
		return rest
	}
	rest.rows = q.rows // it never came to the rows
	rest.units = slices.DeleteFunc(slices.Clone(q.units), func(unit string) bool { return c.failed[unit] })
	return rest
}

// giveUp answers for what will not be asked again.
func (c *call) giveUp(q question, h heard, o gate.Observation) {
	for _, id := range q.rows {
		if row, known := h.rows[id]; known {
			c.answer(row, o)
		}
	}
	c.failAll(q.units, o)
}

// absent speaks of rows that were asked for by name where a unit answered none
// of them, and of a batch in which there is no test at all.
func (c *call) absent(units []string) {
	if len(c.batch.Rows) == 0 && len(c.result.Rows) == 0 && len(c.failed) == 0 {
		c.failAll(units, noReport("%s found no tests in it", c.Config.Framework))
		return
	}
	gone := make(map[string]int)
	for _, id := range c.batch.Rows {
		unit, _, _ := strings.Cut(id, "::")
		gone[unit]++
	}
	for _, observed := range c.result.Rows {
		delete(gone, observed.Row.Unit)
	}
	for _, unit := range units {
		if gone[unit] == 0 || c.failed[unit] {
			continue
		}
		o := noReport("none of the %d rows asked for is collected from it", gone[unit])
		if slices.ContainsFunc(c.batch.Rows, func(id string) bool { return c.dropped[id] && strings.HasPrefix(id, unit+"::") }) {
			o = gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the suite's own options deselect the rows asked for"}
		}
		c.fail(unit, o)
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

func noReport(format string, args ...any) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: clean(fmt.Sprintf(format, args...))}
}
