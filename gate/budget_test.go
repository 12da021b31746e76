package gate

import (
	"context"
	"testing"
	"time"
)

// endless is a runner whose suite ends only when it is broken off.
type endless struct{ Runner }

func (endless) Name() string { return "endless" }

func (endless) Units(context.Context, Tree, []string, bool) ([]string, error) {
	return []string{"tests"}, nil
}

func (endless) List(context.Context, State, []string) (Result, error) {
	return Result{Rows: []Observed{{Row: Row{ID: "tests::x", Unit: "tests"}}}}, nil
}

func (endless) Run(ctx context.Context, _ State, _ Batch) (Result, error) {
	<-ctx.Done()
	return Result{}, ctx.Err()
}

type bare struct{ State }

func (bare) Tree() Tree { return nil }

func TestABrokenOffSuiteEarnsNoBudget(t *testing.T) {
	r := newReplay(Inputs{
		Split:         []SplitEntry{{Path: "a.py", Part: "production"}},
		Runners:       []Runner{endless{}},
		Open:          func(context.Context, StateName) (State, error) { return bare{}, nil },
		SameTree:      func(a, b StateName) bool { return a == b },
		FullWhenUnder: 200 * time.Millisecond,
		Jobs:          2,
		Change:        ChangeInfo{Kind: "dependency"},
		Policy:        DefaultPolicy(),
	})
	r.clock.total = time.Second // the plain replay
	r.rest(t.Context())
	if r.ranFull || r.limit() != 2*time.Second {
		t.Errorf("ran %v, budget %s; want the whole suite broken off and twice the plain replay", r.ranFull, r.limit())
	}
	if left := r.m.Keys(); len(left) > 0 {
		t.Errorf("rows that were only listed stay: %v", left)
	}
	if len(r.doubts) != 1 || Decide(read(r).facts, r.in.Policy).Conclusion != Undecided {
		t.Errorf("doubts %q: what was not asked is no fault", r.doubts)
	}
}

// A hunk that only the change's own checks were asked about is not called loose:
// the others may hold it in place.
func TestAHalfAskedHunkIsNoFinding(t *testing.T) {
	place := []Span{{Path: "a.py", Line: 1}}
	for _, c := range []struct {
		name  string
		group GroupReport
		want  int
	}{
		{"all were asked", GroupReport{Places: place, Result: Unpinned, Asked: 2, Wider: true}, 1},
		{"there are no others", GroupReport{Places: place, Result: Unpinned, Asked: 2}, 1},
		{"the others gave no answer", GroupReport{Places: place, Result: Unpinned, Asked: 2, Why: "only the change's own checks were asked"}, 0},
	} {
		if found := aboutGroups(&replay{groups: []GroupReport{c.group}}); len(found) != c.want {
			t.Errorf("%s: %v, want %d findings", c.name, found, c.want)
		}
	}
}
