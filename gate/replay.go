package gate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/patchsplit"
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
	r.unrun()
}

// unrun doubts changed test code that no runner looks at (one with a wrong
// directory, of another framework): where none of its tests can have run, there is
// nothing to judge by.
func (r *replay) unrun() {
	for _, units := range r.touchedU {
		if len(units[Head])+len(units[Base]) > 0 {
			return
		}
	}
	if len(r.in.Runners) == 0 || len(r.doubts) > 0 {
		return // that is said elsewhere
	}
	for _, part := range r.in.Split {
		if part.Part == patchsplit.Test.String() && part.Class == "" && patchsplit.IsCode(part.Path) && r.unheard[part.Path] == "" {
			r.doubt("%s is test code, and no runner of this check runs it: give its framework and directory in runners: (touchstone doctor shows what is found)", part.Path)
			return
		}
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
