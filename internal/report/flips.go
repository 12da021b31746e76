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

// reasonsShown is how many reasons of a selection stand beside a flip.
const reasonsShown = 3

// blamedFor are the lines on why a flip was looked at and what makes it fail, as
// far as that was found.
func blamedFor(f gate.Flip) []string {
	var lines []string
	if n := len(f.SelectedBy); n > 0 {
		lines = append(lines, "it was selected for "+strings.Join(f.SelectedBy[:min(n, reasonsShown)], ", "))
	}
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
