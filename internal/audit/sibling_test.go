package audit

import "testing"

// TestSiblingIsAskedOnlyWhatFailed counts the runs of siblings that break the same
// test, another one, and none.
func TestSiblingIsAskedOnlyWhatFailed(t *testing.T) {
	for _, c := range []struct {
		breaks, asked     []string
		flips, full, some int
	}{
		{[]string{"a"}, []string{"a"}, 1, 1, 6},      // asked, confirmed, base; full, confirmed, base and once more alone
		{[]string{"a", "b"}, []string{"a"}, 2, 1, 6}, // the whole suite shows the other
		{[]string{"b"}, []string{"a"}, 0, 0, 1},      // what is assumed
		{[]string{"b"}, nil, 1, 1, 4},
		{nil, []string{"a"}, 0, 0, 1},
	} {
		b, err := AuditSibling(3, c.asked, BatchRuns{
			Full: func([]int) ([]string, error) { return c.breaks, nil },
			Again: func(changes []int, tests []string) ([]string, error) {
				if len(changes) == 0 {
					return nil, nil
				}
				return within(tests, c.breaks), nil
			},
		})
		if err != nil || len(b.Flips[3]) != c.flips || b.Full != c.full || c.flips == 0 && b.Again != c.some {
			t.Errorf("breaks %v, asked %v: %+v: %v", c.breaks, c.asked, b, err)
		}
	}
}
