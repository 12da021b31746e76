package rts

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Rank orders rows by the chance that they fail for each second that they take,
// the best first. The chance is not trained but guessed from what kind of tie
// the row has to the change: a test that changed itself, one that executes a
// changed function (the fewer tests do, the likelier), one that is of unknown
// standing, one that only loads or can reach a changed file (the nearer, the
// likelier), and names and directories in common. A row that failed before is
// likelier to fail again, above all where the change that broke it touched a file
// that changes now. It is the same rows, whatever the history.
func Rank(rows []Selected, history History) []Selected {
	ranked := slices.Clone(rows)
	for i := range ranked {
		ranked[i].score = (1 - (1-ranked[i].chance())*history.missed(&ranked[i].Row)) / max(ranked[i].Seconds, 0.01)
	}
	slices.SortStableFunc(ranked, func(a, b Selected) int { return cmp.Compare(b.score, a.score) })
	return ranked
}

// chance is a guess between 0 and 1.
func (s *Selected) chance() float64 {
	missed := 1.0 // the chance that no tie makes it fail
	for _, reason := range s.Reasons {
		kind, what, _ := strings.Cut(reason, ":")
		p := map[string]float64{"changed": 0.5, "coverage": 0.1, "opened": 0.2, "listed": 0.05, "names": 0.1, "new": 0.1, "not green on base": 0.05, "loaded": 0.02, "imports": 0.02, "always": 0.02}[kind]
		switch kind {
		case "coverage":
			p += 0.4 / float64(max(1, s.executes))
		case "imports", "loaded":
			if s.Steps > 0 {
				p /= float64(s.Steps)
			}
		}
		if affinity(s.File, what) {
			p *= 1.5
		}
		missed *= 1 - min(p, 0.95)
	}
	return 1 - missed
}

// affinity holds for a test whose file is named after the changed one.
func affinity(test, changed string) bool {
	file, _, _ := strings.Cut(changed, "#")
	_, base := split(file)
	stem := strings.TrimSuffix(base, extOf(base))
	_, own := split(test)
	return len(stem) >= minName && strings.Contains(own, stem)
}

// Within keeps the longest prefix of ranked rows that fits in the budget; a row
// that does not fit is passed over. At least one row is kept.
func Within(ranked []Selected, budget time.Duration) (kept, left []Selected) {
	rest := budget.Seconds()
	for _, row := range ranked {
		if row.Seconds <= rest || len(kept) == 0 {
			kept = append(kept, row)
			rest -= row.Seconds
		} else {
			left = append(left, row)
		}
	}
	for i := range kept { // a unit that lost a row does not run as a whole
		kept[i].All = kept[i].All && !slices.ContainsFunc(left, func(l Selected) bool { return l.Unit == kept[i].Unit && l.Runner == kept[i].Runner })
	}
	return kept, left
}
