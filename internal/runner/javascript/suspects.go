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
// every framework tells when a test begins.
func (h heard) mute(unit string) bool {
	return slices.Contains(h.started, unit) && h.broken(unit) && !h.perFile &&
		!slices.ContainsFunc(h.rows, func(row *heardRow) bool { return row.unit == unit && row.begun && !row.over })
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
	if len(mute) == 0 {
		return nil, nil
	}
	listing, err := c.invoke(ctx, question{units: mute, list: true})
	if err != nil {
		return nil, err
	}
	return c.oneByOne(mute, q, listing, h.death), nil
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
