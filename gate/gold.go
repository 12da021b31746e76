package gate

import (
	"context"
	"fmt"
)

// GoldTests is base with a reference fix's production part and the change's
// test part: does the check accept a right fix too?
const GoldTests StateName = "gold+tests"

// The roles of checks that a reference fix was asked about, as in Bug-contrast
// replay: B is base+tests, G is gold+tests.
const (
	GoldAligned       Role = "gold_aligned"       // B fails, G passes
	CandidateSpecific Role = "candidate_specific" // B fails, G fails
	Misleading        Role = "misleading"         // B passes, G fails
)

// proves holds for the roles of checks that fail without the change: bug-
// discriminating evidence.
func (r Role) proves() bool {
	return r == Discriminating || r == GoldAligned || r == CandidateSpecific
}

// gold runs the change's own checks that pass on head on gold+tests, as often
// as a cell needs, each time in a fresh state.
func (r *replay) gold(ctx context.Context) {
	if !r.m.Gold {
		return
	}
	r.phase("ask the reference fix")
	r.states[GoldTests] = &opened{}
	r.askEach(ctx, GoldTests, r.proofs)
}

// proofs are the change's own checks that head passes, of one runner or, for
// "", of all.
func (r *replay) proofs(runner string) []Row {
	var rows []Row
	for _, key := range r.m.Keys() {
		if (runner == "" || key.Runner == runner) && r.own(key) && allGreen(r.m.Cell(key, Head)) {
			rows = append(rows, r.m.Row(key))
		}
	}
	return rows
}

// own tells whether a row is one of the change's own checks.
func (r *replay) own(key Key) bool { return key.ID != selfCheckID && IsEvidence(r.m, key) }

// withGold refines what base said by what the reference fix says. A fix that
// gave no evaluable outcome leaves the check not comparable.
func withGold(m *Matrix, key Key, read Reading) Reading {
	if read.Role != Discriminating && read.Role != RegressionOnly {
		return read
	}
	cell := m.Cell(key, GoldTests)
	switch {
	case len(cell) < max(1, m.Repeat):
		return Reading{Role: NotComparable, Reason: NoReport, Words: fmt.Sprintf("seen %d of %d times on gold+tests", len(cell), m.Repeat)}
	case !agree(cell):
		return Reading{Role: NotComparable, Reason: Inconsistent, Words: fmt.Sprintf("%d runs on gold+tests disagree: %s", len(cell), tally(cell))}
	}
	accepts := colour(cell[0])
	switch {
	case accepts == grey || accepts == blank:
		return Reading{Role: NotComparable, Reason: cell[0].Reason, Words: "could not be evaluated on gold+tests"}
	case read.Role == Discriminating && accepts == green:
		read.Role, read.Words = GoldAligned, join(read.Words, "fails on base, accepts the reference fix")
	case read.Role == Discriminating:
		read.Role, read.Words = CandidateSpecific, join(read.Words, "fails on base, and rejects the reference fix too")
	case accepts == red:
		read.Role, read.Words = Misleading, join(read.Words, "passes on base, and rejects the reference fix")
	}
	return read
}

func join(words, more string) string {
	if words == "" || words == "passes on base too" {
		return more
	}
	return words + "; " + more
}

// aboutGold is the finding for a role that only a reference fix can give.
func aboutGold(r *replay, row readRow) (rule string, severity Severity, message string) {
	gold := first(r.m.Cell(row.key, GoldTests))
	switch row.read.Role {
	case CandidateSpecific:
		return "candidate-specific", SeverityWarning, fmt.Sprintf("%s fails on base and on the reference fix%s: it accepts this change only; assert what the issue asks for, not how this change does it", row.row.ID, because(gold))
	case Misleading:
		return "misleading-test", SeverityWarning, fmt.Sprintf("%s passes on base and fails on the reference fix%s: it asserts what is wrong", row.row.ID, because(gold))
	}
	return "", "", ""
}
