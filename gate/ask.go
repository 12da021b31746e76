package gate

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// opened is a state that is made at most once.
type opened struct {
	once  sync.Once
	state State
	err   error
}

// run makes one runner invocation on one state and records what it said.
func (r *replay) run(ctx context.Context, runner Runner, name StateName, batch Batch, why string) {
	r.invoke(ctx, runner, name, batch.Units, why, func(state State) (Result, error) {
		return r.call(ctx, runner, name)(state, r.whole(batch))
	})
}

// recall is run for what is asked of every change alike: the answer of a former
// run of the same tree will do.
func (r *replay) recall(ctx context.Context, runner Runner, name StateName, batch Batch, why string) {
	r.invoke(ctx, runner, name, batch.Units, why, r.remembered(ctx, runner, name, r.whole(batch), false, r.call(ctx, runner, name)))
}

// whole completes a batch with what is the same for all of them.
func (r *replay) whole(batch Batch) Batch {
	batch.Subjects, batch.Timeout = r.production, r.in.Timeout
	return batch
}

func (r *replay) call(ctx context.Context, runner Runner, name StateName) func(State, Batch) (Result, error) {
	return func(state State, batch Batch) (Result, error) {
		batch.Seen = func(_ string, o Outcome) { r.done(string(name), o) }
		r.add(string(name), len(batch.Rows))
		return runner.Run(ctx, state, batch)
	}
}

func (r *replay) list(ctx context.Context, runner Runner, name StateName, units []string) {
	list := func(state State, batch Batch) (Result, error) { return runner.List(ctx, state, batch.Units) }
	r.invoke(ctx, runner, name, units, "", r.remembered(ctx, runner, name, Batch{Units: units}, true, list))
}

func (r *replay) invoke(ctx context.Context, runner Runner, name StateName, units []string, why string, call func(State) (Result, error)) {
	if len(units) == 0 || ctx.Err() != nil {
		return
	}
	state, err := r.open(ctx, name)
	if err != nil {
		r.doubt("the state %s could not be made: %v", name, err)
		return
	}
	r.slots <- struct{}{}
	r.clock.start()
	result, err := call(state)
	r.clock.stop()
	<-r.slots
	if err != nil {
		if ctx.Err() == nil {
			r.doubtOnce(fmt.Sprintf("%s: %v", runner.Name(), err), "%s could not run on %s: %v", runner.Name(), name, err)
		}
		return
	}
	r.record(runner, name, result, why)
}

func (r *replay) record(runner Runner, name StateName, result Result, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, observed := range result.Rows {
		row := observed.Row
		row.Runner = runner.Name()
		r.m.See(name, row)
		for _, o := range observed.Observations {
			r.m.Add(name, row, o)
		}
		if name == Head && len(result.Commands) > 0 {
			r.commandOf[row.Key()] = result.Commands[0]
		}
		if why != "" && !slices.Contains(r.chosenBy[row.Key()], why) {
			r.chosenBy[row.Key()] = append(r.chosenBy[row.Key()], why)
		}
	}
	loaded, failed := columns(r.loaded, runner.Name()), columns(r.failed, runner.Name())
	loaded[name] = append(loaded[name], result.Loaded...)
	failed[name] = append(failed[name], result.Units...)
	if result.Built != "" {
		columns(r.built, runner.Name())[name] = result.Built
	}
	note(r.forged, runner.Name(), name, result.Forged)
	note(r.replaced, runner.Name(), name, result.Replaced)
	r.costs[name] += result.Wall
	for _, argv := range result.Commands {
		r.commands = append(r.commands, RanCommand{State: name, Runner: runner.Name(), Argv: argv})
	}
}

// columns is what is kept of one runner, by state.
func columns[V any](by map[string]map[StateName]V, runner string) map[StateName]V {
	if by[runner] == nil {
		by[runner] = make(map[StateName]V)
	}
	return by[runner]
}

func (r *replay) open(ctx context.Context, name StateName) (State, error) {
	o := r.states[name]
	o.once.Do(func() { o.state, o.err = r.in.Open(ctx, name) })
	return o.state, o.err
}
