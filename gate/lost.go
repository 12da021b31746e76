package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// hidden runs base's version of the tests that the change took out, let skip or
// rewrote on head's source: what fails there is a breakage that head's own
// version of the test part does not show.
func (r *replay) hidden(ctx context.Context) {
	if len(r.production) > 0 && !r.in.SameTree(HeadBaseTests, Head) {
		r.phase("ask base's tests")
		r.mu.Lock()
		r.support = r.readSupport()
		r.mu.Unlock()
		var all sync.WaitGroup
		for _, runner := range r.in.Runners {
			all.Go(func() { r.hiddenBy(ctx, runner) })
		}
		all.Wait()
		if len(r.costs) > 0 && r.costs[HeadBaseTests] > 0 {
			r.checkState(ctx, HeadBaseTests, r.changed())
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heirs, r.forsakes = heirs(r.m, r.text), r.forsaking()
}

func (r *replay) hiddenBy(ctx context.Context, runner Runner) {
	r.mu.Lock()
	rows := r.askedOfOld(runner.Name())
	r.mu.Unlock()
	if len(rows) == 0 {
		return
	}
	r.run(ctx, runner, HeadBaseTests, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "")
	r.spread(runner.Name())
	for range r.in.Policy.Repeat {
		var sides sync.WaitGroup
		for _, name := range []StateName{Base, HeadBaseTests} {
			r.mu.Lock()
			suspects := r.suspects(rows, name)
			r.mu.Unlock()
			if len(suspects) > 0 {
				sides.Go(func() { r.run(ctx, runner, name, Batch{Units: unitsOf(suspects), Rows: ids(suspects)}, "") })
			}
		}
		sides.Wait()
		r.spread(runner.Name())
	}
	r.unanswered(rows, HeadBaseTests)
}

// askedOfOld lists the rows whose base version head's source must answer:
// those that passed on base and that head has not or skips, in whole or in
// part; modified ones that do not fail without the change, or have parts of
// which some may be gone; and untouched ones that edited test code around them
// may let pass.
func (r *replay) askedOfOld(runner string) []Row {
	heir, split := heirs(r.m, r.text), r.split()
	var rows []Row
	chosen := make(map[Key]bool)
	for _, key := range r.m.Keys() {
		base, onBase := r.m.Seen(key, Base)
		if key.Runner != runner || key.ID == selfCheckID || !onBase || len(r.m.Cell(key, HeadBaseTests)) > 0 || !r.wantsOld(key, base, heir, split) {
			continue
		}
		if top, ok := r.m.Seen(topOf(r.m, base, Base).Key(), Base); ok && !chosen[top.Key()] {
			chosen[top.Key()] = true
			rows = append(rows, top)
		}
	}
	return rows
}

func (r *replay) wantsOld(key Key, base Row, heir map[Key]Key, split map[Key]bool) bool {
	head, onHead := r.m.Seen(key, Head)
	ran, now := anyOf(r.m.Cell(key, Base), green), r.m.Cell(key, Head)
	switch {
	case !onHead:
		to, moved := heir[key]
		return ran && !(moved && r.m.Row(to).Digest == base.Digest)
	case ran && allBlank(now):
		return true
	}
	if r.asksGoldens(key) {
		return true
	}
	if r.maskable(key) {
		return !anyOf(r.m.Cell(key, Base), red) && !anyOf(r.m.Cell(key, BaseTests), red)
	}
	return base.Parent == "" && base.Digest != head.Digest && allGreen(now) && (split[key] || !RoleOf(r.m, key, r.in.Introduced).Role.proves())
}

// split holds the rows that have parts.
func (r *replay) split() map[Key]bool {
	split := make(map[Key]bool)
	for _, key := range r.m.Keys() {
		if row := r.m.Row(key); row.Parent != "" {
			split[Key{key.Runner, row.Parent}] = true
		}
	}
	return split
}

// suspects are those of the rows that base's version failed on head's source, in
// whole or in part, and that the state was not asked about often enough.
func (r *replay) suspects(rows []Row, state StateName) []Row {
	failed := make(map[string]bool)
	for _, key := range r.m.Keys() {
		if anyOf(r.m.Cell(key, HeadBaseTests), red) {
			for id := key.ID; id != ""; id = r.m.Row(Key{key.Runner, id}).Parent {
				failed[id] = true
			}
		}
	}
	var again []Row
	for _, row := range rows {
		if failed[row.ID] && !r.movedByData(row.Key()) && len(r.m.Cell(row.Key(), state)) < r.in.Policy.Repeat {
			again = append(again, row)
		}
	}
	return again
}

// unanswered records of rows that the state does not have that they were asked
// about.
func (r *replay) unanswered(rows []Row, state StateName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.costs[state] == 0 {
		return // nothing ran there: that is not knowing
	}
	for _, row := range rows {
		if len(r.m.Cell(row.Key(), state)) == 0 {
			r.m.Add(state, row, Observation{Outcome: NotRun, Reason: Deselected, Message: "not found among the tests of " + string(state)})
		}
	}
}

// lose lists the rows that ran on base and have no result on head, with what
// base's version of each came to on head's source.
func (out *reading) lose(r *replay) {
	for _, row := range out.rows {
		silent := silentUnit(r.m.Cell(Key{row.key.Runner, row.row.Unit}, Head))
		base := r.m.Cell(row.key, Base)
		how := ""
		switch {
		case row.origin == Removed && r.heirs[row.key] == Key{}:
			how = r.howLost(row.row)
		case row.origin != Removed && allBlank(r.m.Cell(row.key, Head)) && (anyOf(base, green) || len(base) == 0 && r.stood(row.key)):
			how = "skipped"
		}
		switch {
		case how == "":
		case anyOf(base, green) || anyOf(base, red):
			if lost := out.ask(r, row, how); !silent || lost.OnHead == "passed" || lost.OnHead == "failed" {
				out.lost = append(out.lost, lost)
			}
		case len(base) == 0 && !silent && row.row.Parent == "" && r.asked(row):
			out.doubt("%s, which head does not run, could not be run on base", row.row.ID)
		}
	}
	out.facts.Lost = len(out.lost)
}

// silentUnit holds for what head said of a unit that gave it no row at all: the
// unit stands in the matrix itself, is no pass, and speaks for its rows.
func silentUnit(cell []Observation) bool {
	return len(cell) > 0 && !slices.ContainsFunc(cell, func(o Observation) bool { return o.Outcome != Errored })
}

func (r *replay) stood(key Key) bool {
	_, onBase := r.m.Seen(key, Base)
	return onBase
}

// asked tells whether the run meant to find out about the row on base.
func (r *replay) asked(row readRow) bool {
	if r.ranFull {
		return true
	}
	for _, unit := range r.touchedU[row.key.Runner][Base] {
		if unit == row.row.Unit {
			return true
		}
	}
	return false
}

// howLost tells a test that was taken out from one whose text still stands on
// head and is no longer collected.
func (r *replay) howLost(row Row) string {
	if old := r.text(Base, row); old != "" && row.Parent == "" {
		if o := r.states[Head]; o != nil && o.state != nil {
			if content, err := o.state.Tree().ReadFile(row.File); err == nil && strings.Contains(string(content), old) {
				return "not_collected"
			}
		}
	}
	return "deleted"
}

// ask reads what base's version of a lost row came to on head's source. Only a
// failure seen as often as asked, of a test that base passes as often, is held
// against the change; one that may be such a failure is a doubt.
func (out *reading) ask(r *replay, row readRow, how string) Lost {
	lost := Lost{ID: row.key.ID, How: how, OnHead: "not_asked"}
	base, old := r.m.Cell(row.key, Base), r.m.Cell(row.key, HeadBaseTests)
	switch {
	case !anyOf(base, green):
		return lost // there was nothing to lose
	case len(old) == 0:
		if len(r.production) > 0 && agree(base) {
			out.doubt("base's version of %s could not be run on head", row.key.ID)
		}
		return lost
	case anyOf(old, green):
		lost.OnHead = "passed"
	case anyOf(old, red) && agree(old) && !r.gone(old):
		lost.OnHead, lost.Message = "failed", first(old).Message
		switch {
		case r.in.Reverts:
		case !agree(base):
		case r.m.firm(base) && r.m.firm(old):
			out.facts.Hidden++
		default:
			out.doubt("base's version of %s fails on head, and was not seen often enough to say so", row.key.ID)
		}
	case allBlank(old):
		lost.OnHead, lost.Message = "not_loaded", "base's version of it is skipped on head's code too: "+first(old).Message
		if row.origin != Removed && agree(base) && !r.in.Reverts {
			out.doubt("%s still stands and passes on base, and the changed production code makes it skip, base's version of it too: nobody knows whether what it checks still holds; let it run, or take it out in the open", row.key.ID)
		}
	default:
		lost.OnHead = "not_loaded"
	}
	return lost
}

// gone holds when a failure names something that head no longer has: the test's
// subject was removed.
func (r *replay) gone(cell []Observation) bool {
	for _, o := range cell {
		for _, name := range o.Missing {
			if r.in.Gone != nil && r.in.Gone(name) {
				return true
			}
		}
	}
	return false
}

func (out *reading) doubt(format string, args ...any) {
	out.facts.Doubts = append(out.facts.Doubts, fmt.Sprintf(format, args...))
}

// loosened tells whether a test of the change, which passes with it and without
// it, passed on base and fails on head in the version that base has; and how
// that failure reads.
func (r *replay) loosened(row readRow) (old Observation, yes bool) {
	if row.read.Role != RegressionOnly {
		return Observation{}, false
	}
	return r.broke(r.ancestors(row.key))
}

// succeeds tells whether a test of the change took the place of one that passed
// on base and fails on head in the version that base has: which of the two
// expects rightly is for a person to say.
func (r *replay) succeeds(row readRow) (from Key, old Observation, yes bool) {
	if row.read.Role == RegressionOnly || row.read.Role == DiagnosticNegative {
		return Key{}, Observation{}, false // told otherwise
	}
	for _, key := range r.ancestors(row.key)[1:] {
		if old, yes := r.broke([]Key{key}); yes {
			return key, old, true
		}
	}
	return Key{}, Observation{}, false
}

// broke tells whether one of the rows passes on base and fails on head in the
// version that base has, though its subject is still there, and how that reads.
func (r *replay) broke(keys []Key) (old Observation, yes bool) {
	for _, key := range keys {
		before, now := r.m.Cell(key, Base), r.m.Cell(key, HeadBaseTests)
		if r.m.firm(before) && allGreen(before) && r.m.firm(now) && anyOf(now, red) && !r.gone(now) {
			return first(now), true
		}
	}
	return Observation{}, false
}

// ancestors are the rows of base that a row of head stands for: its own, and
// those whose place it took.
func (r *replay) ancestors(key Key) []Key {
	keys := []Key{key}
	for from, to := range r.heirs {
		if to == key {
			keys = append(keys, from)
		}
	}
	return keys
}
