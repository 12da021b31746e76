package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// bridged tells whether a check's role was read off base with head's names
// standing in.
func bridged(c gate.Check) bool { return strings.HasPrefix(c.RoleReason, "bridged: ") }

// furtherKind is the kind of a check whose role only a further state can give;
// ok is false for any other.
func furtherKind(c gate.Check) (k kind, ok bool) {
	switch c.Role {
	case gate.GoldAligned:
		return kind{2, "Gold-aligned", "fails without the change, accepts the reference fix", "fail without the change, accept the reference fix"}, true
	case gate.CandidateSpecific:
		return kind{2, "Candidate-specific", "fails without the change, and rejects the reference fix", "fail without the change, and reject the reference fix"}, true
	case gate.Misleading:
		return kind{2, "Misleading", "passes without the change, and rejects the reference fix", "pass without the change, and reject the reference fix"}, true
	case gate.Discriminating:
		return kind{2, "Discriminating (bridged)", "does not load without the change; fails there with its names standing in", "do not load without the change; fail there with its names standing in"}, bridged(c)
	case gate.RegressionOnly:
		return kind{3, "Regression-only (bridged)", "does not load without the change; passes there as soon as its names stand in", "do not load without the change; pass there as soon as its names stand in"}, bridged(c)
	}
	return kind{}, false
}

// furtherWords are the lines on what was asked beyond the plain replay.
func furtherWords(r *gate.Report) []string {
	var lines []string
	if words := hunkWords(r.Groups); words != "" {
		lines = append(lines, words)
	}
	return lines
}

// hunkWords counts the production hunks by what holds them in place.
func hunkWords(groups []gate.GroupReport) string {
	if len(groups) == 0 {
		return ""
	}
	words := []struct {
		result gate.GroupResult
		word   string
	}{
		{gate.Pinned, "held in place by a test"}, {gate.LoadBearing, "needed to build or load"}, {gate.Unpinned, "held by no test that was asked"},
		{gate.Inert, "not for a test to hold (comments, layout, logging, types)"}, {gate.NotAsked, "not asked"},
	}
	var list []string
	for _, w := range words {
		n := 0
		for _, g := range groups {
			if g.Result == w.result {
				n++
			}
		}
		if n > 0 {
			list = append(list, number(n)+" "+w.word)
		}
	}
	return fmt.Sprintf("Production part: %s: %s.", count(len(groups), "hunk group"), strings.Join(list, ", "))
}
