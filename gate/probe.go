package gate

import (
	"context"
	"io"
	"sync"
)

// probe makes one runner invocation on a further state; ok is false when it
// gave no result. It records nothing but what it cost: see take.
func (r *replay) probe(ctx context.Context, runner Runner, name StateName, batch Batch) (result Result, ok bool) {
	if len(batch.Units) == 0 || ctx.Err() != nil {
		return Result{}, false
	}
	state, err := r.open(ctx, name)
	if err != nil {
		if ctx.Err() == nil {
			r.trouble(name, "the state %s could not be made: %v", name, err)
		}
		return Result{}, false
	}
	batch.Subjects, batch.Timeout = r.production, r.in.Timeout
	batch.Seen = func(_ string, o Outcome) { r.done(string(name), o) }
	r.slots <- struct{}{}
	defer func() { <-r.slots }()
	if ctx.Err() != nil {
		return Result{}, false
	}
	r.add(string(name), len(batch.Rows))
	r.clock.start()
	result, err = runner.Run(ctx, state, batch)
	r.clock.stop()
	if ctx.Err() != nil {
		return Result{}, false
	}
	if err != nil {
		r.trouble(name, "%s could not run on %s: %v", runner.Name(), name, err)
		return Result{}, false
	}
	r.charge(runner, name, result)
	return result, true
}

func (r *replay) charge(runner Runner, name StateName, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.costs[name] += result.Wall
	for _, argv := range result.Commands {
		r.commands = append(r.commands, RanCommand{State: name, Runner: runner.Name(), Argv: argv})
	}
	if r.loaded[runner.Name()] == nil {
		r.loaded[runner.Name()] = make(map[StateName][]Loaded)
	}
	r.loaded[runner.Name()][name] = append(r.loaded[runner.Name()][name], result.Loaded...)
}

// release ends a state that will not be asked again, where it can be ended: a
// change of many hunks would else hold as many states until the end.
func (r *replay) release(name StateName) {
	if c, ok := r.states[name].state.(io.Closer); ok {
		c.Close() // what is left of it goes with the rest at the end
	}
}

// take puts what a probe observed into the matrix: of rows that head knows, and
// no other, since a further state adds no check. Rows of a unit that failed as a
// whole take the unit's observation.
func (r *replay) take(runner Runner, name StateName, asked []Row, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answered := make(map[Key]bool)
	for _, observed := range result.Rows {
		key := Key{runner.Name(), observed.Row.ID}
		row, known := r.m.Seen(key, Head)
		if !known {
			continue
		}
		answered[key] = true
		for _, o := range observed.Observations {
			r.m.Add(name, row, o)
		}
	}
	for _, failure := range result.Units {
		for _, row := range asked {
			if row.Unit == failure.Unit && !answered[row.Key()] {
				r.m.Add(name, row, failure.Observation)
			}
		}
	}
}

// askEach runs every runner's rows on one state until each was asked for as
// often as a cell needs. Parts are asked for through their test.
func (r *replay) askEach(ctx context.Context, name StateName, choose func(runner string) []Row) {
	rows := make(map[string][]Row)
	for _, runner := range r.in.Runners {
		rows[runner.Name()] = choose(runner.Name())
	}
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		asked := rows[runner.Name()]
		all.Go(func() {
			for range max(1, r.in.Policy.Repeat) {
				if !r.ask(ctx, runner, name, asked) {
					return
				}
				if isFurther(name) {
					asked = r.telling(name, asked)
				}
			}
		})
	}
	all.Wait()
}

// telling are the rows that came to a result on a state: only those need to be
// seen again.
func (r *replay) telling(name StateName, rows []Row) []Row {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Row
	for _, row := range rows {
		if cell := r.m.Cell(row.Key(), name); anyOf(cell, red) || anyOf(cell, green) {
			list = append(list, row)
		}
	}
	return list
}

// ask runs rows once on a state and tells whether there was an answer.
func (r *replay) ask(ctx context.Context, runner Runner, name StateName, rows []Row) bool {
	r.mu.Lock()
	tops := topsOf(r.m, rows)
	r.mu.Unlock()
	result, ok := r.probe(ctx, runner, name, Batch{Units: unitsOf(tops), Rows: ids(tops)})
	if ok {
		r.take(runner, name, rows, result)
	}
	return ok
}

// topsOf are the tests that a runner can be asked for, each once.
func topsOf(m *Matrix, rows []Row) []Row {
	var tops []Row
	chosen := make(map[Key]bool)
	for _, row := range rows {
		if top := topOf(m, row, Head); !chosen[top.Key()] {
			chosen[top.Key()] = true
			tops = append(tops, top)
		}
	}
	return tops
}

// passingEvidence lists the tests behind the runner's rows that count for the
// change and pass on head, of those that also holds for.
func passingEvidence(m *Matrix, runner string, also func(Key) bool) []Row {
	var rows []Row
	for _, key := range m.Keys() {
		if row, onHead := m.Seen(key, Head); onHead && key.Runner == runner && also(key) && allGreen(m.Cell(key, Head)) && IsEvidence(m, key) {
			rows = append(rows, row)
		}
	}
	return topsOf(m, rows)
}
