package javascript

import (
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// takeRows records the rows that have an answer: their results, that the
// process died in them, or that they were left out.
func (c *call) takeRows(q question, h heard) {
	ids := h.ids()
	seen := make(map[string][]gate.Observation)
	rows := slices.Clone(h.rows)
	slices.SortStableFunc(rows, func(a, b *heardRow) int { return len(b.path) - len(a.path) }) // parts before what they are parts of
	for _, row := range rows {
		seen[ids[row]] = c.observations(h, row, seen)
	}
	for _, row := range h.rows {
		id := ids[row]
		c.remember(id, knownRow{row.unit, row.path, row.number, row.suite})
		if c.answered[id] || !q.wants(row.unit, id) {
			continue
		}
		if q.list {
			c.answer(c.row(id, row))
		} else if o := seen[id]; len(o) > 0 {
			c.answer(c.row(id, row), o...)
			if !row.over && c.batch.Seen != nil {
				c.batch.Seen(id, o[0].Outcome)
			}
		}
	}
	if q.list && h.perFile {
		c.listText(q, h)
	}
}

// observations are a row's attempts, oldest first; none when it has no answer.
func (c *call) observations(h heard, row *heardRow, parts map[string][]gate.Observation) []gate.Observation {
	span := c.reader.outline(row.unit).find(row.path, row.line)
	var list []gate.Observation
	for _, r := range row.results {
		o := c.observation(row, span, r)
		if len(r.Errors) > 0 && strongest(r.Errors).Subtests {
			o = partsDecide(o, plainID(row.unit, row.path), parts)
		}
		o.Duration = r.duration()
		o = c.behindBridge(h, row.unit, span, r.Errors, o)
		list = append(list, o)
	}
	switch {
	case row.over:
		return list
	case row.begun && h.broken(row.unit) && !h.mute(row.unit):
		return append(list, h.death(row.unit))
	case h.ended && (h.focused || c.Config.Framework == Ava && !row.begun):
		return []gate.Observation{{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "a focused test (.only) leaves it out"}}
	}
	return nil
}

func (c *call) observation(row *heardRow, s *span, r record) gate.Observation {
	expected := row.expected || s != nil && (slices.Contains(s.modifiers, "failing") || slices.Contains(s.modifiers, "fails"))
	switch r.Outcome {
	case "passed":
		if expected {
			return gate.Observation{Outcome: gate.Skipped, Message: "it fails, as it is declared to"}
		}
		return gate.Observation{Outcome: gate.Passed}
	case "skipped":
		return gate.Observation{Outcome: gate.Skipped, Message: gate.Message(r.Words)}
	case "todo":
		return gate.Observation{Outcome: gate.Skipped, Message: "todo"}
	case "failed":
		return c.reader.observe(row.unit, s, r.Errors)
	}
	return noReport("the framework reported no outcome that is known here")
}

// partsDecide gives a suite that failed through its tests what the strongest of
// them came to: one that ran and did not hold before one that could not be asked.
func partsDecide(o gate.Observation, id string, parts map[string][]gate.Observation) gate.Observation {
	weight := -1
	for _, part := range sorted(parts) {
		list := parts[part]
		if !strings.HasPrefix(part, id+between) || len(list) == 0 {
			continue
		}
		last := list[len(list)-1]
		if last.Outcome == gate.Passed || last.Outcome == gate.Skipped || last.Outcome == gate.NotRun {
			continue
		}
		w := 0
		if last.Evaluable() {
			w++
			if len(last.Missing) == 0 {
				w++
			}
		}
		if w > weight {
			weight = w
			o = gate.Observation{Outcome: last.Outcome, Reason: last.Reason, Message: last.Message, Place: last.Place, Missing: last.Missing, Reached: last.Reached}
		}
	}
	return o
}

// row describes a row from the text that declares it, where the text shows it.
func (c *call) row(id string, r *heardRow) gate.Row {
	row := gate.Row{ID: id, Runner: c.Name(), Unit: r.unit, File: r.unit, Line: r.line, End: r.line}
	row.Name = r.unit
	if len(r.path) > 0 {
		row.Name = r.path[len(r.path)-1]
	}
	o := c.reader.outline(r.unit)
	if s := o.find(r.path, r.line); s != nil {
		row.Line, row.End, row.Digest = s.line, s.end, o.digest(s)
	}
	row.Context = o.context()
	return row
}

// listText lists what files declare in their text under a plain title: of those
// whose own observer names no test that it does not run, all; of others the
// subtests, which exist only while the test that they stand in runs.
func (c *call) listText(q question, h heard) {
	for _, unit := range q.units {
		heardOf := slices.ContainsFunc(h.rows, func(row *heardRow) bool { return row.unit == unit })
		if c.failed[unit] || !heardOf && len(c.answeredIn(unit)) > 0 {
			continue
		}
		o := c.reader.outline(unit)
		count := make(map[string]int)
		var walk func([]*span, []string, bool)
		walk = func(spans []*span, above []string, inTest bool) {
			for _, s := range spans {
				if s.title != nil {
					continue
				}
				titles := append(slices.Clone(above), s.exact)
				id := plainID(unit, titles)
				count[id]++
				if wanted := !heardOf || inTest && c.answered[plainID(unit, above)]; wanted && count[id] == 1 && !c.answered[id] {
					c.remember(id, knownRow{unit, titles, 1, s.kind == suiteSpan})
					c.answer(c.row(id, &heardRow{unit: unit, path: titles, number: 1, line: s.line}))
				}
				walk(s.inside, titles, s.kind == testSpan)
			}
		}
		walk(o.roots, nil, false)
	}
}

func (c *call) answeredIn(unit string) []string {
	var ids []string
	for _, observed := range c.result.Rows {
		if observed.Row.Unit == unit {
			ids = append(ids, observed.Row.ID)
		}
	}
	return ids
}

// duration is how long a result took.
func (r record) duration() time.Duration { return time.Duration(r.MS * float64(time.Millisecond)) }
