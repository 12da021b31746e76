package gate

import (
	"context"
	"slices"
	"time"
)

// FullMode says when every row runs, not only those the change touched.
type FullMode uint8

const (
	FullAuto FullMode = iota // when the whole suite fits in Inputs.FullWhenUnder
	FullAlways
	FullNever
	FullAudit // always, after what would run without it, so that the two can be compared
)

// Inputs are everything a run needs: facts about the change as values, and the
// outside world as small interfaces.
type Inputs struct {
	Tool       string
	Repository string
	Change     ChangeInfo
	Split      []SplitEntry
	Inert      bool // the production part changes no code

	Runners []Runner
	// Open makes a state ready. It is called at most once per state.
	Open func(ctx context.Context, name StateName) (State, error)
	// SameTree tells whether two states hold the same files.
	SameTree func(a, b StateName) bool
	// Steering are the changed paths that decide which tests run or what is
	// reported of them.
	Steering []string
	// Introduced tells whether a name is one that only the production part adds.
	Introduced func(Missing) bool
	// Gone tells whether a name is one that the production part takes away.
	Gone func(Missing) bool
	// Declared tells whether one of the changed production files declares the name
	// on head.
	Declared func(name string) bool
	// Code counts the changed lines of each production file of head whose code
	// changes and of which a runner could tell that it was loaded.
	Code map[string]int
	// Reverts is set when the change was found to take back, line by line, a
	// commit that base holds: what that commit's tests ask is gone by intent.
	Reverts bool
	// Select chooses the rows that the change can break, for when the whole suite
	// is too expensive. It is called at most once; nil: only touched rows run.
	Select func(ctx context.Context) (*Choice, error)
	// Memory may know what former runs observed on base and base+tests; nil: nothing.
	Memory Memory
	// SuiteTime is the time that the whole suite is known to take, 0 when it is
	// not. It is asked first, and must be cheap; nil: never known.
	SuiteTime func() time.Duration

	Policy        Policy
	Full          FullMode
	FullWhenUnder time.Duration
	Audit         Audit         // the coin's draw, as reported; empty without one
	Timeout       time.Duration // for one runner invocation
	Jobs          int           // states that run tests side by side, at least 1
	Progress      Progress      // may be nil

	Further Further   // questions beyond the plain replay; the zero value asks none
	Tells   []Finding // what the test part's text gives away, for people

	Doubts []string // what could not be found out before the run
	Notes  []string
}

// Progress is told how far the run is. Calls come from several goroutines.
type Progress interface {
	Phase(name string)
	Add(state string, total int)
	Done(state string, red bool)
}

// Run is the main job: fill the cells, read the table, decide, report. It
// returns an error only when the run was interrupted; whatever else goes wrong
// is a doubt in the report.
func Run(ctx context.Context, in Inputs) (*Report, error) {
	began := time.Now()
	r := newReplay(in)
	r.touched(ctx)
	r.repeat(ctx)
	r.gold(ctx)
	r.steering(ctx)
	r.canaries(ctx)
	r.hidden(ctx)
	r.selfCheck(ctx)
	r.preselect(ctx)
	before := len(r.doubts)
	r.rest(ctx)
	after := len(r.doubts)
	r.confirm(ctx)
	r.company(ctx)
	r.blame(ctx)
	r.hidden(ctx) // of what the whole suite was found to have lost
	r.further(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reading := read(r)
	report := project(r, reading, Decide(reading.facts, in.Policy))
	report.Audit.Cheap, report.Audit.Selection = report.Verdict.Conclusion, r.cheapBy()
	if r.ranFull {
		report.Audit.Cheap = r.cheap(slices.Concat(r.doubts[:before], r.doubts[after:]))
	}
	report.Seconds = Seconds{Total: time.Since(began).Seconds(), Tests: r.clock.busy().Seconds()}
	return report, nil
}
