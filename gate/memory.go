package gate

import (
	"context"
	"fmt"
)

// Memory holds what former runs were told about trees that stay as they are while
// a change is worked on: base, and base with the change's tests. It must answer only
// for the same tree, tools and question, or one that holds it, and gives each answer
// at most once: a second one would be no observation of its own. What it gives
// counts like what is observed now, the report says how much of it there is, and
// nothing is proved by it alone: see renew.
type Memory interface {
	Recall(ctx context.Context, q Question) (Result, bool)
	Keep(ctx context.Context, q Question, answer Result)
}

// Question is what a runner is asked on a state.
type Question struct {
	Runner Runner
	State  State
	Batch  Batch
	List   bool // only which rows there are
}

// remembered puts the memory before a call of a runner, where there is one and the
// state may be the one of a former run. Never for what is asked again because it
// is suspected: that wants a fresh run.
func (r *replay) remembered(ctx context.Context, runner Runner, name StateName, batch Batch, list bool, call func(State, Batch) (Result, error)) func(State) (Result, error) {
	return func(state State) (Result, error) {
		if r.in.Memory == nil || name != Base && name != BaseTests {
			return call(state, batch)
		}
		q := Question{Runner: runner, State: state, Batch: batch, List: list}
		if answer, ok := r.in.Memory.Recall(ctx, q); ok {
			r.mu.Lock()
			r.recalled[name] += observations(answer)
			r.mu.Unlock()
			answer.Wall = 0
			return answer, nil
		}
		answer, err := call(state, batch)
		if err == nil && ctx.Err() == nil && repeatable(answer) {
			r.in.Memory.Keep(ctx, q, answer)
		}
		return answer, err
	}
}

// renew asks base+tests once more, now, about every row that counts as evidence by
// what was recalled. What a test comes to may hang on what no key holds, the date
// first: head is asked today, so base is too. A disagreement decides nothing.
func (r *replay) renew(ctx context.Context, runner Runner) {
	r.mu.Lock()
	var rows []Row
	if r.recalled[BaseTests] > 0 {
		rows = passingEvidence(r.m, runner.Name(), func(key Key) bool { return !allGreen(r.m.Cell(key, BaseTests)) })
	}
	r.mu.Unlock()
	if len(rows) > 0 {
		r.run(ctx, runner, BaseTests, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "")
		r.spread(runner.Name())
	}
}

// heard tells whether anything was observed on a state, now or formerly.
func (r *replay) heard(name StateName) bool { return r.costs[name] > 0 || r.recalled[name] > 0 }

func observations(answer Result) int {
	n := len(answer.Units)
	for _, row := range answer.Rows {
		n += max(1, len(row.Observations))
	}
	return n
}

// repeatable holds for an answer in which nothing hung on the machine's mood: no
// time-out, no lost process, no disagreement of channels.
func repeatable(answer Result) bool {
	fine := func(o Observation) bool {
		return o.Outcome != TimedOut && o.Outcome != Crashed && o.Reason != NoReport && o.Reason != Inconsistent
	}
	for _, unit := range answer.Units {
		if !fine(unit.Observation) {
			return false
		}
	}
	for _, row := range answer.Rows {
		for _, o := range row.Observations {
			if !fine(o) {
				return false
			}
		}
	}
	return len(answer.Forged)+len(answer.Replaced) == 0
}

// memories says how much of the evidence is not of this run.
func (r *replay) memories() []string {
	var notes []string
	for _, name := range []StateName{Base, BaseTests} {
		if n := r.recalled[name]; n > 0 {
			notes = append(notes, fmt.Sprintf("%d %s about %s %s recalled from an earlier run of the same tree with the same tools; --fresh asks again", n, plural(n, "answer", "answers"), name, plural(n, "was", "were")))
		}
	}
	return notes
}
