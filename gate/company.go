package gate

import (
	"context"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// HeadAlone holds what rows came to alone on head, where head's own cell holds
// what they came to in company: those that pass alone and fail beside others.
const HeadAlone StateName = "head, alone"

// company asks about rows that failed beside others and pass alone: once more
// beside the same others, and base beside its own. What fails there again and
// not on base is told apart from what is merely not stable, and where time
// allows, the rows that make it fail are looked for.
func (r *replay) company(ctx context.Context) {
	r.polluters = make(map[Key][]string)
	for _, runner := range r.in.Runners {
		r.mu.Lock()
		suspects := failedOnce(r.m, runner.Name())
		r.mu.Unlock()
		if len(suspects) > 0 {
			r.companyBy(ctx, runner, suspects)
		}
		r.compareRates(ctx, runner)
	}
}

// failedOnce lists the flipped rows whose first run on head, which had company,
// failed, and whose later ones, which had none, pass.
func failedOnce(m *Matrix, runner string) (rows []Row) {
	for _, key := range m.Keys() {
		head := m.Cell(key, Head)
		row, onHead := m.Seen(key, Head)
		if key.Runner == runner && key.ID != selfCheckID && onHead && len(head) > 1 && broken(head[0]) && allGreen(head[1:]) && flipped(m, key) {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *replay) companyBy(ctx context.Context, runner Runner, suspects []Row) {
	r.phase("run once more in company")
	onHead, ok := r.probe(ctx, runner, Head, r.together(runner.Name(), Head))
	if !ok {
		return
	}
	var again []Row
	for _, row := range suspects {
		o, answered := onHead.of(row.ID)
		if answered && broken(o) {
			again = append(again, row)
		} else if answered {
			r.note(Head, row, o)
		}
	}
	if len(again) == 0 {
		return
	}
	onBase, ok := r.probe(ctx, runner, Base, r.together(runner.Name(), Base))
	for _, row := range again {
		o, answered := onHead.of(row.ID)
		before, known := onBase.of(row.ID)
		if known {
			r.note(Base, row, before)
		}
		switch {
		case ok && answered && known && colour(before) == green:
			r.mu.Lock()
			r.m.setAside(row, Head, HeadAlone)
			if len(onHead.Commands) > 0 {
				r.commandOf[row.Key()] = onHead.Commands[0] // until fewer are found that show it
			}
			r.mu.Unlock()
		case known && colour(before) == red:
			r.remark("%s fails on head beside other tests and passes alone, and so it does on base: this change did not break it", row.ID)
		}
		r.note(Head, row, o)
	}
	r.pollution(ctx, runner, again, onHead)
}

func (r *replay) note(name StateName, row Row, o Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m.Add(name, row, o)
}

// of is what a run said of a row, the last time.
func (result *Result) of(id string) (Observation, bool) {
	for _, observed := range result.Rows {
		if n := len(observed.Observations); observed.Row.ID == id && n > 0 {
			return observed.Observations[n-1], true
		}
	}
	return Observation{}, false
}

// together is the company that a runner's rows had on head: everything, or what
// was selected. On base it is those of them that base knows.
func (r *replay) together(runner string, name StateName) Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rows []Row
	for _, key := range r.m.Keys() {
		row, known := r.m.Seen(key, name)
		if key.Runner == runner && key.ID != selfCheckID && known && row.Parent == "" && (len(r.m.Cell(key, Head)) > 0 || name == Base && r.ranFull) {
			rows = append(rows, row)
		}
	}
	batch := Batch{Units: unitsOf(rows)}
	if !r.ranFull {
		batch.Rows = ids(rows)
	}
	return batch
}

// compareRates runs on base what is not stable on head as often as there: what
// is no more stable on base is no flip.
func (r *replay) compareRates(ctx context.Context, runner Runner) {
	for range audit.Reruns + 2 { // as often as head can have been asked
		r.mu.Lock()
		var rows []Row
		for _, key := range r.m.Keys() {
			head, base := r.m.Cell(key, Head), r.m.Cell(key, Base)
			row, onBase := r.m.Seen(key, Base)
			if key.Runner == runner.Name() && onBase && row.Parent == "" && flipped(r.m, key) && !agree(head) && len(base) < len(head) {
				rows = append(rows, row)
			}
		}
		r.mu.Unlock()
		if len(rows) == 0 || !r.ask(ctx, runner, Base, rows) {
			return
		}
	}
}
