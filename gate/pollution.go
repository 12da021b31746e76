package gate

import (
	"context"
	"slices"
)

// Most polluters that one victim is said to need, and most victims that are
// asked about: beyond that a person sees more than a search.
const (
	mostPolluters = 3
	mostVictims   = 5
)

// pollution looks for the rows that make others fail: of a run in company those
// that ran before. It ends with the time for further questions.
func (r *replay) pollution(ctx context.Context, runner Runner, victims []Row, company Result) {
	if r.in.Further.Budget < 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	r.phase("look for what makes them fail")
	asked := make(map[Key]bool)
	for _, row := range victims {
		r.mu.Lock()
		victim := topOf(r.m, row, Head)
		confirmed := len(r.m.Cell(row.Key(), HeadAlone)) > 0
		r.mu.Unlock()
		if !confirmed || asked[victim.Key()] || len(asked) == mostVictims {
			continue
		}
		asked[victim.Key()] = true
		s := &search{replay: r, runner: runner, victim: victim, row: row}
		found, ok := s.find(limited, ranBefore(company, victim, runner.Name()))
		if !ok {
			continue
		}
		r.polluters[row.Key()] = ids(found)
		if len(s.command) > 0 {
			r.commandOf[row.Key()] = s.command
		}
	}
	if limited.Err() != nil && ctx.Err() == nil {
		r.remark("the time budget ended before it was known after which tests %s fails (--budget)", victims[0].ID)
	}
}

// ranBefore are the tests that a run had come to before the victim.
func ranBefore(run Result, victim Row, runner string) (rows []Row) {
	for _, observed := range run.Rows {
		row := observed.Row
		row.Runner = runner
		switch {
		case row.ID == victim.ID:
			return rows
		case row.Parent == "" && len(observed.Observations) > 0:
			rows = append(rows, row)
		}
	}
	return nil
}

// search is the question after which rows a victim fails.
type search struct {
	*replay
	runner  Runner
	victim  Row
	row     Row      // the victim, or the part of it that fails
	command []string // of the last run in which it failed
}

// find asks first about the victim's own unit: most frameworks have a process
// for each.
func (s *search) find(ctx context.Context, before []Row) ([]Row, bool) {
	fails := func(rows []Row) (red, ok bool) { return s.after(ctx, rows) }
	var own []Row
	for _, row := range before {
		if row.Unit == s.victim.Unit {
			own = append(own, row)
		}
	}
	if len(own) > 0 && len(own) < len(before) {
		if found, ok := polluters(own, fails); ok {
			return found, true
		}
	}
	return polluters(before, fails)
}

// after runs rows and then the victim, and tells whether it fails.
func (s *search) after(ctx context.Context, rows []Row) (red, ok bool) {
	batch := append(slices.Clone(rows), s.victim)
	result, ok := s.probe(ctx, s.runner, Head, Batch{Units: unitsOf(batch), Rows: ids(batch)})
	if !ok {
		return false, false
	}
	o, answered := result.of(s.row.ID)
	if answered && broken(o) && len(result.Commands) > 0 {
		s.command = result.Commands[0]
	}
	return broken(o), answered
}

// polluters finds few rows, at most mostPolluters, after which a victim fails: of
// the shortest beginning of the list that will do the last is needed, and so on
// with what stands before it. fails tells whether it fails after some rows, and
// whether that is known. Both ends are asked first: the whole list must make it
// fail, and what is found too.
func polluters(before []Row, fails func([]Row) (red, ok bool)) (needed []Row, found bool) {
	if red, ok := fails(before); !red || !ok {
		return nil, false
	}
	for len(needed) < mostPolluters {
		low, high := 1, len(before)
		for low < high {
			middle := (low + high) / 2
			red, ok := fails(slices.Concat(before[:middle], needed))
			switch {
			case !ok:
				return nil, false
			case red:
				high = middle
			default:
				low = middle + 1
			}
		}
		if high == 0 {
			return nil, false
		}
		needed, before = slices.Concat(before[high-1:high], needed), before[:high-1]
		if red, ok := fails(needed); red || !ok {
			return needed, red && ok
		}
	}
	return nil, false
}
