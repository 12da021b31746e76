package audit

import "testing"

func TestConfirm(t *testing.T) {
	const f, p = true, false
	for _, c := range []struct {
		first, clean bool
		failed       []bool
		want         Confirmation
	}{
		{p, true, nil, NoFlip},
		{f, false, []bool{f, f}, NoFlip},
		{f, true, nil, Unsettled},
		{f, true, []bool{p}, Unsettled},
		{f, true, []bool{f}, AFlip},
		{f, true, []bool{f, f}, AFlip},
		{f, true, []bool{p, f}, ASometimes},
		{f, true, []bool{f, p}, ASometimes},
		{f, true, []bool{p, p}, NoFlip},
	} {
		if got := Confirm(c.first, c.failed, c.clean); got != c.want {
			t.Errorf("first %v, reruns %v, base clean %v: %v, want %v", c.first, c.failed, c.clean, got, c.want)
		}
	}
}
