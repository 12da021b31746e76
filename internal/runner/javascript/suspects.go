package javascript

import (
	"context"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
)

// maxAlone bounds how many rows of a unit are run one by one to find the one
// that kills its process.
const maxAlone = 30

// mute holds for a unit whose process died without saying in which test: not
// every framework tells when a test begins, some begin all at once, and what one
// says from a thread may be lost with the process.
func (h heard) mute(unit string) bool {
	open := 0
	for _, row := range h.rows {
		if row.unit == unit && row.begun && !row.over {
			open++
		}
	}
	return slices.Contains(h.started, unit) && h.broken(unit) && !h.perFile && (open == 0 || h.atOnce && (open > 1 || !h.exit.TimedOut))
}

// dies tells whether any unit's process died without saying in which test.
func (c *call) dies(q question, h heard) bool {
	return c.Config.Framework != Mocha && !h.exit.TimedOut && slices.ContainsFunc(q.units, h.mute)
}

// suspects makes the questions that find out which row kills its process: each
// row that has no answer, alone. A row that was alone is the one.
func (c *call) suspects(ctx context.Context, q question, h heard) ([]question, error) {
	if !c.dies(q, h) {
		return nil, nil
	}
	var mute []string
	for _, unit := range q.units {
		if !h.mute(unit) || c.failed[unit] {
			continue
		}
		if ids := q.rows[unit]; len(ids) == 1 {
			row := c.known(ids[0])
			c.answer(c.row(ids[0], &heardRow{unit: row.unit, path: row.path, number: row.number}), h.death(unit))
			continue
		}
		mute = append(mute, unit)
	}
	switch {
	case len(mute) == 0:
		return nil, nil
	case len(mute) > 1 && !h.ended: // one of them ended the process of all
		return c.unitByUnit(mute, q), nil
	}
	listing, err := c.invoke(ctx, question{units: mute, list: true})
	if err != nil {
		return nil, err
	}
	return c.oneByOne(mute, q, listing, h.death), nil
}

func (c *call) unitByUnit(units []string, q question) []question {
	var questions []question
	for _, unit := range units {
		one := question{units: []string{unit}, rows: make(map[string][]string)}
		for _, id := range q.rows[unit] {
			if !c.answered[id] {
				one.rows[unit] = append(one.rows[unit], id)
			}
		}
		questions = append(questions, one)
		c.alone++
	}
	return questions
}

func (c *call) oneByOne(units []string, q question, listing heard, death func(string) gate.Observation) []question {
	var questions []question
	ids := listing.ids()
	for _, unit := range units {
		var rows []string
		for _, row := range listing.rows {
			if id := ids[row]; row.unit == unit && !row.suite && !c.answered[id] && (len(q.rows[unit]) == 0 || slices.Contains(q.rows[unit], id)) {
				c.remember(id, knownRow{row.unit, row.path, row.number, row.suite})
				rows = append(rows, id)
			}
		}
		if len(rows) == 0 || len(rows) > maxAlone {
			c.fail(unit, death(unit))
			continue
		}
		for _, id := range rows {
			questions = append(questions, question{units: []string{unit}, rows: map[string][]string{unit: {id}}})
			c.alone++
		}
	}
	return questions
}
