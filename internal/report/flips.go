package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// flipWords says how firm a flip is.
var flipWords = map[gate.FlipKind]string{
	gate.Regression:  "every time",
	gate.FullRunOnly: "in the full run, not alone",
	gate.Sometimes:   "sometimes",
}

// firm is how often a flip failed, on both sides where it is not stable.
func firm(f gate.Flip) string {
	words := flipWords[f.Kind]
	if words == "" {
		words = spaced(string(f.Kind))
	}
	if f.OnHead != nil && f.OnBase != nil && f.OnHead.Runs > 1 {
		return fmt.Sprintf("%s (%d of %s, on base %d of %d)", words, f.OnHead.Failed, count(f.OnHead.Runs, "run"), f.OnBase.Failed, f.OnBase.Runs)
	}
	return fmt.Sprintf("%s (%s)", words, count(f.ConfirmedRuns, "run"))
}

// blamedFor are the lines on what makes a flip fail, as far as it was found.
func blamedFor(f gate.Flip) []string {
	var lines []string
	if len(f.Polluters) > 0 {
		lines = append(lines, "it fails after "+strings.Join(f.Polluters, " and "))
	}
	if len(f.Hunks) > 0 {
		var places []string
		for _, place := range f.Hunks {
			places = append(places, place.String())
		}
		lines = append(lines, "it passes again without "+strings.Join(places, ", "))
	}
	return lines
}
