package javascript

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// lines writes a result the way the tests here do: "id = outcome reason [names]".
func lines(result gate.Result) []string {
	var out []string
	for _, observed := range result.Rows {
		var words []string
		for _, o := range observed.Observations {
			words = append(words, said(o))
		}
		out = append(out, observed.Row.ID+" = "+strings.Join(words, ", "))
	}
	for _, failure := range result.Units {
		out = append(out, failure.Unit+" = "+said(failure.Observation))
	}
	slices.Sort(out)
	return out
}

func said(o gate.Observation) string {
	text := o.Outcome.String()
	if o.Reason != "" {
		text += " " + string(o.Reason)
	}
	for _, m := range o.Missing {
		text += " [" + m.Name + "]"
	}
	return text
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("want  %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("got   %s", line)
		}
	}
}
