package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPolluters looks for planted polluters among tests: one alone, two that only
// together do harm, more than are looked for, and none.
func TestPolluters(t *testing.T) {
	var before []Row
	for i := range 100 {
		before = append(before, Row{ID: fmt.Sprint("t", i)})
	}
	for _, c := range []struct {
		needs string // all of these, in this order
		want  string
		most  int // runs
	}{
		{"t0", "t0", 9}, {"t99", "t99", 9}, {"t41", "t41", 9},
		{"t7 t80", "t7 t80", 17}, {"t0 t1 t2", "t0 t1 t2", 25}, {"t3 t4 t5 t6", "", 30}, {"other", "", 1},
	} {
		runs := 0
		found, ok := polluters(before, func(rows []Row) (red, ok bool) {
			runs++
			return !slices.ContainsFunc(strings.Fields(c.needs), func(id string) bool {
				return !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == id })
			}), true
		})
		if got := strings.Join(ids(found), " "); got != c.want || ok != (c.want != "") || runs > c.most {
			t.Errorf("%s: found %q, %v in %d runs; want %q in %d", c.needs, got, ok, runs, c.want, c.most)
		}
	}
	if found, ok := polluters(before, func(rows []Row) (red, ok bool) { return true, len(rows) > 50 }); ok {
		t.Errorf("found %q though a run gave no answer", ids(found))
	}
	if found, ok := polluters(nil, func([]Row) (red, ok bool) { return true, true }); ok {
		t.Errorf("found %q among nothing", ids(found))
	}
}
