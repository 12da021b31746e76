package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// replay fills the matrix. Its methods are the phases of a run, in order; each
// ends before the next begins, so that later ones may read what earlier ones
// found.
type replay struct {
	in         Inputs
	tests      []string // test-part paths
	production []string // production-part paths
	slots      chan struct{}
	clock      clock
	vain       time.Duration // of the clock's, spent on a whole suite that was broken off

	mu        sync.Mutex
	m         *Matrix
	states    map[StateName]*opened
	goldens   func() []string // see editedData; not before base and head are open
	costs     map[StateName]time.Duration
	recalled  map[StateName]int // observations that a former run made
	commands  []RanCommand
	loaded    map[string]map[StateName][]Loaded // by runner
	built     map[string]map[StateName]string   // by runner: a file of another build that its tests loaded
	failed    map[string]map[StateName][]UnitFailure
	touchedU  map[string]map[StateName][]string // units by runner and state
	chosenBy  map[Key][]string
	commandOf map[Key][]string // the command that last ran the row on head, alone with few
	doubts    []string
	causes    map[string]bool // of doubts that were raised, see doubtOnce
	notes     []string
	unheard   map[string]string                 // test files of the change that a runner leaves out, and why
	forged    map[string]map[StateName][]string // units by runner and state
	replaced  map[string]map[StateName][]string // parts of the framework, by runner and state
	heirs     map[Key]Key                       // rows of base that head has under another id
	support   string                            // how far the change edits test code around the tests
	forsakes  map[Key]bool                      // rows whose new version asks about something else
	full      Selection
	choice    *Choice // what was selected and ran, nil for nothing
	ranFull   bool
	polluters map[Key][]string // rows after which a row fails that passes alone
	culprits  map[Key][]Span   // hunks without which a row passes again
	reads     map[Key]bool     // checks that read a value which the bridge took from head
	groups    []GroupReport
	crosses   []Cross
	lazy      []string // groups without which the change's own checks pass all the same
}

// opened is a state that is made at most once.
type opened struct {
	once  sync.Once
	state State
	err   error
}

func newReplay(in Inputs) *replay {
	r := &replay{
		in:         in,
		tests:      paths(in.Split, "test"),
		production: paths(in.Split, "production"),
		slots:      make(chan struct{}, max(1, in.Jobs)),
		m:          &Matrix{Repeat: in.Policy.Repeat, Gold: in.Further.Gold},
		states:     make(map[StateName]*opened),
		costs:      make(map[StateName]time.Duration),
		recalled:   make(map[StateName]int),
		loaded:     make(map[string]map[StateName][]Loaded),
		built:      make(map[string]map[StateName]string),
		failed:     make(map[string]map[StateName][]UnitFailure),
		unheard:    make(map[string]string),
		forged:     make(map[string]map[StateName][]string),
		replaced:   make(map[string]map[StateName][]string),
		touchedU:   make(map[string]map[StateName][]string),
		chosenBy:   make(map[Key][]string),
		commandOf:  make(map[Key][]string),
		doubts:     slices.Clone(in.Doubts),
		causes:     make(map[string]bool),
		notes:      slices.Clone(in.Notes),
		full:       Selection{Strategy: "touched"},
		reads:      make(map[Key]bool),
	}
	for _, name := range []StateName{Base, BaseTests, Head, HeadBaseTests, HeadBaseInfra} {
		r.states[name] = &opened{}
	}
	r.goldens = sync.OnceValue(r.editedData)
	r.m.Steered = len(in.Steering) > 0 && len(r.production) > 0 && !in.Policy.AcceptInfrastructure
	if in.SameTree(BaseTests, Head) {
		r.m.Twin(BaseTests, Head)
	}
	if in.SameTree(HeadBaseTests, Base) {
		r.m.Twin(HeadBaseTests, Base)
	}
	return r
}

// touched runs the rows that the test part touches on head and on base+tests,
// and lists them on base.
func (r *replay) touched(ctx context.Context) {
	r.phase("run the tests of the change")
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		all.Go(func() { r.touchedBy(ctx, runner) })
	}
	all.Wait()
	for _, runner := range r.in.Runners {
		r.spread(runner.Name())
	}
}

func (r *replay) touchedBy(ctx context.Context, runner Runner) {
	if len(r.tests) == 0 {
		return
	}
	units := make(map[StateName][]string)
	for _, name := range []StateName{Head, BaseTests, Base} {
		state, err := r.open(ctx, name)
		if err != nil {
			r.doubt("the state %s could not be made: %v", name, err)
			return
		}
		if units[name], err = runner.Units(ctx, state.Tree(), r.tests, false); err != nil {
			r.doubt("%s: the tests that the change touches could not be found on %s: %v", runner.Name(), name, err)
			return
		}
	}
	r.mu.Lock()
	r.touchedU[runner.Name()] = units
	r.mu.Unlock()
	r.hear(ctx, runner)
	var phase sync.WaitGroup
	for _, name := range []StateName{Head, BaseTests} {
		if name == BaseTests && r.in.SameTree(BaseTests, Head) {
			continue
		}
		phase.Go(func() { r.recall(ctx, runner, name, Batch{Units: units[name]}, "touched") })
	}
	phase.Go(func() { r.list(ctx, runner, Base, units[Base]) })
	phase.Wait()
}

// hear notes the test files of the change that the runner does not run.
func (r *replay) hear(ctx context.Context, runner Runner) {
	s, ok := runner.(Selective)
	head, err := r.open(ctx, Head)
	if !ok || err != nil {
		return
	}
	for _, path := range r.tests {
		if why := s.Unheard(head.Tree(), path); why != "" {
			r.mu.Lock()
			r.unheard[path] = why
			r.mu.Unlock()
		}
	}
}

// repeat asks base about the rows that need it, and asks head and base+tests
// again about the rows that decide, each time in a fresh state.
func (r *replay) repeat(ctx context.Context) {
	r.phase("run them again in fresh states")
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		all.Go(func() { r.repeatBy(ctx, runner) })
	}
	all.Wait()
}

func (r *replay) repeatBy(ctx context.Context, runner Runner) {
	r.mu.Lock()
	base := needsBase(r.m, runner.Name(), len(r.production)+len(r.goldens()) > 0, hasSupport(r.m, runner.Name(), r.tests))
	r.mu.Unlock()
	asked := make(map[StateName]map[Key]int)
	var phase sync.WaitGroup
	phase.Go(func() { r.recall(ctx, runner, Base, Batch{Units: unitsOf(base), Rows: ids(base)}, "") })
	r.again(ctx, runner, []StateName{Head, BaseTests}, asked, &phase)
	phase.Wait()
	r.spread(runner.Name())
	r.settle(ctx, runner, asked)
	r.renew(ctx, runner)
}

// settle asks again until every deciding row was seen often enough, or did not
// answer although asked.
func (r *replay) settle(ctx context.Context, runner Runner, asked map[StateName]map[Key]int) {
	var phase sync.WaitGroup
	for r.again(ctx, runner, []StateName{Head, BaseTests, Base}, asked, &phase) {
		phase.Wait()
		r.spread(runner.Name())
	}
}

// again starts one more run of the deciding rows that were not seen often
// enough on each of the states, and tells whether there were any. asked counts
// how often each row was asked for: one that never answers does not keep the
// run going.
func (r *replay) again(ctx context.Context, runner Runner, states []StateName, asked map[StateName]map[Key]int, phase *sync.WaitGroup) bool {
	some := false
	for _, name := range states {
		if name == BaseTests && r.in.SameTree(BaseTests, Head) {
			continue
		}
		if asked[name] == nil {
			asked[name] = make(map[Key]int)
		}
		r.mu.Lock()
		rows := needsRepeat(r.m, runner.Name(), name)
		rows = slices.DeleteFunc(rows, func(row Row) bool {
			asked[name][row.Key()]++
			return asked[name][row.Key()] >= r.in.Policy.Repeat
		})
		r.mu.Unlock()
		if len(rows) > 0 && ctx.Err() == nil {
			some = true
			phase.Go(func() { r.recall(ctx, runner, name, Batch{Units: unitsOf(rows), Rows: ids(rows)}, "") })
		}
	}
	return some
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
	at := func(to map[string]map[StateName][]Loaded) map[StateName][]Loaded {
		if to[runner.Name()] == nil {
			to[runner.Name()] = make(map[StateName][]Loaded)
		}
		return to[runner.Name()]
	}
	at(r.loaded)[name] = append(at(r.loaded)[name], result.Loaded...)
	if result.Built != "" {
		if r.built[runner.Name()] == nil {
			r.built[runner.Name()] = make(map[StateName]string)
		}
		r.built[runner.Name()][name] = result.Built
	}
	if r.failed[runner.Name()] == nil {
		r.failed[runner.Name()] = make(map[StateName][]UnitFailure)
	}
	r.failed[runner.Name()][name] = append(r.failed[runner.Name()][name], result.Units...)
	note(r.forged, runner.Name(), name, result.Forged)
	note(r.replaced, runner.Name(), name, result.Replaced)
	r.costs[name] += result.Wall
	for _, argv := range result.Commands {
		r.commands = append(r.commands, RanCommand{State: name, Runner: runner.Name(), Argv: argv})
	}
}

// spread gives the rows of a unit that failed as a whole the unit's own
// observation, on the state where it failed: every row that head or base knows
// in that unit and that has no observation of its own. A unit that no state has
// rows for stands in the matrix as a row itself.
func (r *replay) spread(runner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.failed[runner])) {
		for _, failure := range r.failed[runner][name] {
			r.spreadUnit(runner, name, failure)
		}
		r.failed[runner][name] = nil
	}
	for _, key := range r.m.Keys() {
		if key.Runner == runner {
			r.share(key)
		}
	}
}

// share gives a part (a Go subtest) what its whole test came to on a state
// where that could not even be loaded: the part has no other answer there.
func (r *replay) share(key Key) {
	part := r.m.Row(key)
	if part.Parent == "" {
		return
	}
	whole := Key{key.Runner, part.Parent}
	for _, name := range []StateName{Base, BaseTests, HeadBaseTests, HeadBaseInfra} {
		above, own := r.m.Cell(whole, name), r.m.Cell(key, name)
		if _, ok := r.expected(key, name); !ok || len(own) >= len(above) || !unitLevel(above) || !unitLevel(own) {
			continue
		}
		for _, o := range above[len(own):] {
			r.m.Add(name, part, o)
		}
	}
}

func (r *replay) spreadUnit(runner string, name StateName, failure UnitFailure) {
	known := false
	for _, key := range r.m.Keys() {
		row, ok := r.expected(key, name)
		if !ok || key.Runner != runner || row.Unit != failure.Unit {
			continue
		}
		known = true
		if cell := r.m.Cell(key, name); len(cell) == 0 || unitLevel(cell) {
			r.m.Add(name, row, failure.Observation)
		}
	}
	if !known {
		r.m.Add(name, Row{ID: failure.Unit, Runner: runner, Name: failure.Unit, Unit: failure.Unit, File: failure.Unit}, failure.Observation)
	}
}

// expected returns the row when the state should have it: the test code of
// base+tests is head's, that of head+base-tests is base's.
func (r *replay) expected(key Key, name StateName) (Row, bool) {
	from := name
	switch name {
	case BaseTests, Head, HeadBaseInfra:
		from = Head
	case HeadBaseTests:
		from = Base
	}
	if row, ok := r.m.Seen(key, from); ok {
		return row, true
	}
	return r.m.Seen(key, name)
}

// unitLevel holds for a cell that only unit failures filled: a repeat that
// fails the same way adds to it.
func unitLevel(cell []Observation) bool {
	for _, o := range cell {
		switch o.Reason {
		case Import, Compile, MissingSymbol, NoReport, Setup, Inconsistent:
		default:
			return false
		}
	}
	return true
}

func (r *replay) open(ctx context.Context, name StateName) (State, error) {
	o := r.states[name]
	o.once.Do(func() { o.state, o.err = r.in.Open(ctx, name) })
	return o.state, o.err
}

func (r *replay) doubt(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.doubts, text) {
		r.doubts = append(r.doubts, text)
	}
}

// doubtOnce is doubt for what may befall several states by one cause: the first
// of them speaks for all.
func (r *replay) doubtOnce(cause, format string, args ...any) {
	r.mu.Lock()
	known := r.causes[cause]
	r.causes[cause] = true
	r.mu.Unlock()
	if !known {
		r.doubt(format, args...)
	}
}

func (r *replay) phase(name string) {
	if r.in.Progress != nil {
		r.in.Progress.Phase(name)
	}
}

func (r *replay) add(state string, total int) {
	if r.in.Progress != nil {
		r.in.Progress.Add(state, total)
	}
}

func (r *replay) done(state string, o Outcome) {
	if r.in.Progress != nil {
		r.in.Progress.Done(state, o != Passed && o != Skipped)
	}
}
