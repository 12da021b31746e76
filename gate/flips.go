package gate

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// rest runs what the change did not touch, on head, when policy asks for the
// whole suite or it is cheap; what is red there is asked of base.
func (r *replay) rest(ctx context.Context) {
	if len(r.production) == 0 {
		return
	}
	if r.in.Full == FullNever {
		r.unasked("leave out --full never")
		return
	}
	if r.in.Full == FullAuto && r.in.SuiteTime != nil && r.in.SuiteTime() > r.in.FullWhenUnder {
		r.instead(ctx)
		r.unasked("run with --full always")
		return
	}
	r.phase("run the full suite")
	limited, before := ctx, r.clock.busy()
	if r.in.Full == FullAuto {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.in.FullWhenUnder)
		defer cancel()
	}
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		all.Go(func() { r.restBy(limited, runner) })
	}
	all.Wait()
	for _, runner := range r.in.Runners {
		r.spread(runner.Name())
	}
	if ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		r.vain = r.clock.busy() - before
		r.unlist()
		r.instead(ctx)
		r.unasked("run with --full always, or raise audit.full_when_under")
		return
	}
	r.full.Strategy, r.ranFull = "all", true
	r.askBase(ctx, func(Key) bool { return true })
	r.unobserved()
}

// unobserved makes a doubt of it when existing checks pass that would be evidence
// enough for a change of this kind, if only their runner could tell what they load.
func (r *replay) unobserved() {
	if !r.lacksRegressionEvidence() {
		return
	}
	for _, runner := range r.in.Runners {
		_, blind := runner.(Blind)
		if blind && slices.ContainsFunc(r.m.Keys(), func(key Key) bool { return key.Runner == runner.Name() && allGreen(r.m.Cell(key, Head)) }) {
			r.doubt("%s: existing checks pass, and %s cannot tell whether they load the changed code: add one that fails on base, or look at the change and let it in by hand", r.in.Change.Kind, runner.Name())
		}
	}
}

// lacksRegressionEvidence holds for a change of a kind that existing checks may
// be evidence for, which has none and fails for that.
func (r *replay) lacksRegressionEvidence() bool {
	if !slices.Contains(r.in.Policy.RegressionKinds, r.in.Change.Kind) {
		return false
	}
	facts := read(r).facts
	return facts.RegressionEvidence == 0 && Decide(facts, r.in.Policy).Conclusion == Fail
}

// unasked makes a doubt of it when existing checks would have been evidence
// enough for a change of this kind and none of them was run: that nobody asked is
// no fault of the change. remedy says what to do.
func (r *replay) unasked(remedy string) {
	if r.lacksRegressionEvidence() {
		r.doubt("%s: existing checks that pass on base and on head would be evidence enough, and none was asked: %s", r.in.Change.Kind, remedy)
	}
}

// unlist forgets the untouched rows that only base's list knows, when head's run
// of them was broken off: they are not gone, they were not asked.
func (r *replay) unlist() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m.Forget(func(key Key) bool {
		row, _ := r.m.Seen(key, Base)
		return r.m.listedOnly(key, Base) && !slices.Contains(r.touchedU[key.Runner][Base], row.Unit)
	})
}

// restBy runs on head, and lists on base, the units that the change did not
// touch.
func (r *replay) restBy(ctx context.Context, runner Runner) {
	var sides sync.WaitGroup
	for _, name := range []StateName{Head, Base} {
		state, err := r.open(ctx, name)
		if err != nil {
			r.doubt("the state %s could not be made: %v", name, err)
			return
		}
		units, err := runner.Units(ctx, state.Tree(), nil, true)
		if err != nil {
			r.doubt("%s: the whole suite could not be found on %s: %v", runner.Name(), name, err)
			return
		}
		r.mu.Lock()
		touched := r.touchedU[runner.Name()][name]
		r.mu.Unlock()
		units = slices.DeleteFunc(units, func(unit string) bool { return slices.Contains(touched, unit) })
		sides.Go(func() {
			if name == Base {
				r.list(ctx, runner, name, units)
			} else {
				r.run(ctx, runner, name, Batch{Units: units}, "full")
			}
		})
	}
	sides.Wait()
}

// askBase runs on base what head does not pass, or lost, and, for a change of a
// kind that regression evidence is enough for, what head passes too. Only rows
// among those that were to run count: others have no result on head either.
func (r *replay) askBase(ctx context.Context, among func(Key) bool) {
	r.phase("run on base what fails")
	both := slices.Contains(r.in.Policy.RegressionKinds, r.in.Change.Kind)
	for _, runner := range r.in.Runners {
		r.mu.Lock()
		var rows []Row
		for _, key := range r.m.Keys() {
			base, onBase := r.m.Seen(key, Base)
			if key.Runner == runner.Name() && key.ID != selfCheckID && onBase && among(key) && base.Parent == "" && len(r.m.Cell(key, Base)) == 0 && (both || !allGreen(r.m.Cell(key, Head))) {
				rows = append(rows, base)
			}
		}
		r.mu.Unlock()
		if len(rows) > 0 {
			r.run(ctx, runner, Base, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "")
			r.spread(runner.Name())
		}
	}
}

func first(cell []Observation) Observation {
	if len(cell) == 0 {
		return Observation{}
	}
	return cell[0]
}

// confirm asks again, in fresh states, about every untouched row that base and
// head disagree on. One that failed and then passed is asked a second time: a flip
// is a first failure and at least one more in audit.Reruns reruns.
func (r *replay) confirm(ctx context.Context) {
	r.phase("confirm what broke")
	for _, runner := range r.in.Runners {
		r.settle(ctx, runner, make(map[StateName]map[Key]int))
		for range audit.Reruns {
			r.mu.Lock()
			rows := unconfirmed(r.m, runner.Name())
			r.mu.Unlock()
			if len(rows) == 0 || ctx.Err() != nil {
				break
			}
			r.run(ctx, runner, Head, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "")
			r.spread(runner.Name())
		}
	}
}

// unconfirmed lists the rows that failed first, and whose reruns so far neither
// confirm the flip nor clear it. Parts are asked for through their test.
func unconfirmed(m *Matrix, runner string) (rows []Row) {
	for _, key := range m.Keys() {
		row, onHead := m.Seen(key, Head)
		if key.Runner != runner || key.ID == selfCheckID || !onHead || !flipped(m, key) {
			continue
		}
		var again []bool
		head := m.Cell(key, Head)
		for _, o := range head[1:] {
			again = append(again, broken(o))
		}
		if top := topOf(m, row, Head); audit.Confirm(broken(head[0]), again, true) == audit.Unsettled && !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == top.ID }) {
			rows = append(rows, top)
		}
	}
	return rows
}

// broken holds for an observation that tells of a breakage in an untouched row:
// it was red, or head's code does not even compile.
func broken(o Observation) bool { return colour(o) == red || o.Reason == Compile }

// flipped holds for an untouched row that base passes and head has seen broken.
func flipped(m *Matrix, key Key) bool {
	base := m.Cell(key, Base)
	if len(base) == 0 {
		if row, ok := m.Seen(key, Head); !ok || row.Parent == "" || !inheritsBase(m, row) {
			return false
		}
		base = m.Cell(key, BaseTests)
	}
	return OriginOf(m, key) == Existing && allGreen(base) && slices.ContainsFunc(m.Cell(key, Head), broken)
}

// flips reads the confirmed flips, and those that would not be confirmed, off the
// matrix. The first observation of a cell was made in company, the later ones with
// the suspects alone, unless there is a cell of those that passed alone.
func (r *replay) flips() []Flip {
	var flips []Flip
	for _, key := range r.m.Keys() {
		if !flipped(r.m, key) {
			continue
		}
		head := r.m.Cell(key, Head)
		flip := Flip{ID: key.ID, Kind: Sometimes, Message: first(head).Message, Reproduce: r.commandOf[key], Polluters: r.polluters[key], Hunks: r.culprits[key], passed: anyOf(head, green) || anyOf(head, blank)}
		for _, o := range head {
			if broken(o) {
				flip.ConfirmedRuns++
				flip.Message = o.Message
			}
		}
		if len(head) > 1 && flip.ConfirmedRuns == len(head) {
			flip.Kind = Regression
			if allGreen(r.m.Cell(key, HeadAlone)) {
				flip.Kind = FullRunOnly
			}
		}
		for _, why := range r.chosenBy[key] {
			if why != "full" && why != "touched" && why != "all" {
				flip.SelectedBy = append(flip.SelectedBy, why)
			}
		}
		if flip.Kind == Sometimes {
			flip.OnHead, flip.OnBase = rateOf(head), rateOf(r.m.Cell(key, Base))
		}
		flips = append(flips, flip)
	}
	return flips
}

func rateOf(cell []Observation) *Rate {
	rate := &Rate{Runs: len(cell)}
	for _, o := range cell {
		if broken(o) {
			rate.Failed++
		}
	}
	return rate
}
