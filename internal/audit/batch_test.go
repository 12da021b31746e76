package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// queue is a world of changes with known flips.
type queue struct {
	random *rand.Rand
	kind   map[int]string
	flakes float64 // share of full runs in which some test fails for no reason
	clash  map[int]int
}

func (q *queue) red(change int, inFull bool) bool {
	switch q.kind[change] {
	case "regression":
		return true
	case "full_run_only":
		return inFull
	case "sometimes":
		return q.random.IntN(2) == 0
	}
	return false
}

func test(change int) string { return fmt.Sprintf("test%d", change) }

func (q *queue) runs() BatchRuns {
	return BatchRuns{
		Full: func(changes []int) (failing []string, err error) {
			for _, c := range changes {
				if slices.Contains(changes, q.clash[c]) {
					return nil, ErrConflict
				}
				if q.red(c, true) {
					failing = append(failing, test(c))
				}
			}
			if q.random.Float64() < q.flakes {
				failing = append(failing, fmt.Sprintf("flaky%d", q.random.IntN(1000)))
			}
			return failing, nil
		},
		Again: func(changes []int, tests []string) (failing []string, err error) {
			for _, c := range changes {
				if slices.Contains(tests, test(c)) && q.red(c, false) {
					failing = append(failing, test(c))
				}
			}
			return failing, nil
		},
	}
}

// TestBatchAudits plays the published mix: 4.45 % flips, 28 regressions to 10 seen
// in the full run only to 11 that fail half the time, 5 % flaky full runs.
func TestBatchAudits(t *testing.T) {
	const changes = 40_000
	for _, row := range []struct {
		size int
		most float64
	}{{1, 1.2}, {4, 0.45}, {8, 0.30}, {16, 0.30}} {
		q := &queue{random: rand.New(rand.NewPCG(1, uint64(row.size))), kind: make(map[int]string), flakes: 0.05}
		cost, flips, found, wrong := 0.0, 0, 0, 0
		for first := 1; first+row.size <= changes; first += row.size {
			var batch []int
			for c := first; c < first+row.size; c++ {
				batch = append(batch, c)
				if q.random.Float64() < 0.0445 {
					flips++
					q.kind[c] = "regression"
					if n := q.random.IntN(49); n >= 38 {
						q.kind[c] = "sometimes"
					} else if n >= 28 {
						q.kind[c] = "full_run_only"
					}
				}
			}
			b, err := AuditBatch(batch, q.runs())
			if err != nil {
				t.Fatal(err)
			}
			cost += float64(b.Full) + TestsCost*float64(b.Again)
			for c, flips := range b.Flips {
				if q.kind[c] == "" {
					wrong++
					continue
				}
				found++
				if want := q.kind[c]; flips[0].Kind != want && want == fullRunOnly {
					t.Errorf("b=%d: a flip of kind %s is called %s", row.size, want, flips[0].Kind)
				}
			}
		}
		per, seen := cost/changes, float64(found)/float64(flips)
		t.Logf("b=%d: %.3f full runs a change, %.1f %% of %d flips found, %d of %d changes blamed wrongly", row.size, per, 100*seen, flips, wrong, changes)
		if per > row.most || seen < 0.80 || float64(wrong)/changes > 0.0005 {
			t.Errorf("b=%d: %.3f full runs a change (at most %.2f), %.3f found, %d blamed wrongly", row.size, per, row.most, seen, wrong)
		}
	}
}

func TestBatchConflictsAreCut(t *testing.T) {
	q := &queue{random: rand.New(rand.NewPCG(1, 1)), kind: map[int]string{3: "regression", 6: "full_run_only"}, clash: map[int]int{2: 7, 7: 2, 5: 5}}
	b, err := AuditBatch([]int{1, 2, 3, 4, 5, 6, 7, 8}, q.runs())
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Flips) != 2 || len(b.Flips[3]) != 1 || len(b.Flips[6]) != 1 || !slices.Equal(b.Missing, []int{5}) {
		t.Errorf("%+v", b)
	}
}

// TestBatchOfChangesThatBreakTogether wants tests that fail on a merge, and with no
// change alone, named and nobody blamed.
func TestBatchOfChangesThatBreakTogether(t *testing.T) {
	broken := func(changes []int) []string {
		if slices.Contains(changes, 2) && slices.Contains(changes, 5) {
			return []string{"pair"}
		}
		return nil
	}
	b, err := AuditBatch([]int{1, 2, 3, 4, 5, 6}, BatchRuns{
		Full:  func(changes []int) ([]string, error) { return broken(changes), nil },
		Again: func(changes []int, _ []string) ([]string, error) { return broken(changes), nil },
	})
	if err != nil || len(b.Flips) != 0 || len(b.Together) != 1 || !slices.Equal(b.Together[0].Tests, []string{"pair"}) {
		t.Errorf("%+v: %v", b, err)
	}
}

// TestBatchLeavesBasesOwnFailuresAlone has base fail one test always and one in the
// full run only.
func TestBatchLeavesBasesOwnFailuresAlone(t *testing.T) {
	b, err := AuditBatch([]int{1, 2}, BatchRuns{
		Full: func([]int) ([]string, error) { return []string{"always", "in the full run"}, nil },
		Again: func(_ []int, tests []string) ([]string, error) {
			return within(tests, []string{"always"}), nil
		},
	})
	if err != nil || len(b.Flips)+len(b.Together)+len(b.Missing) != 0 {
		t.Errorf("%+v: %v", b, err)
	}
}
