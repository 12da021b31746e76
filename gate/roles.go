package gate

import (
	"fmt"
	"time"
)

// Origin says how a row relates to the change.
type Origin string

const (
	Added    Origin = "added"    // base has no such row
	Modified Origin = "modified" // its own source or parameters changed
	Affected Origin = "affected" // untouched, but the test part changed what it comes to on base
	Existing Origin = "existing" // untouched
	Removed  Origin = "removed"  // base has it, head does not
)

// Role is what one of the change's own checks proves. The empty role belongs
// to rows that are not the change's evidence, and to those that head skips.
type Role string

const (
	NoRole             Role = ""
	DiagnosticNegative Role = "diagnostic_negative" // does not pass on head
	Flaky              Role = "flaky"               // observations of one state disagree
	NotComparable      Role = "not_comparable"      // base+tests gave no evaluable outcome
	Discriminating     Role = "discriminating"      // red on base+tests, green on head
	RegressionOnly     Role = "regression_only"     // green on both: proves nothing about the fix
)

// comfort is how much faster head must be than a run that timed out on base
// for that time-out to count as red: a check near the limit on both states is
// slow, not broken.
const comfort = 4

// OriginOf reads how a row relates to the change.
func OriginOf(m *Matrix, key Key) Origin {
	head, onHead := m.Seen(key, Head)
	base, onBase := m.Seen(key, Base)
	switch {
	case !onHead:
		return Removed
	case !onBase && keptPart(m, key, head):
		return Existing
	case !onBase && stoodBefore(m, key):
		return Modified
	case !onBase && !inheritsBase(m, head):
		return Added
	case head.Parent == "" && onBase && base.Digest != head.Digest:
		return Modified
	case affected(m, key):
		return Affected
	}
	return Existing
}

// stoodBefore holds for a part (a Go subtest) of a modified test that the test's
// base version has too: it showed when that version ran on head's source.
func stoodBefore(m *Matrix, key Key) bool {
	_, known := m.Seen(key, HeadBaseTests)
	return known
}

// keptPart holds for a part that stood before and passes throughout: that its
// test was modified elsewhere says nothing about it.
func keptPart(m *Matrix, key Key, head Row) bool {
	for _, state := range []StateName{HeadBaseTests, BaseTests, Head} {
		if !allGreen(m.Cell(key, state)) {
			return false
		}
	}
	return head.Parent != "" && stoodBefore(m, key)
}

// inheritsBase tells whether a part of a row (a Go subtest) stood on base
// although base was not run for it: its whole test is the same on both, so
// there was no reason to run it.
func inheritsBase(m *Matrix, row Row) bool {
	for parent := row.Parent; parent != ""; {
		key := Key{row.Runner, parent}
		above, ok := m.Seen(key, Head)
		if !ok {
			return false
		}
		if above.Parent == "" {
			base, onBase := m.Seen(key, Base)
			return onBase && base.Digest == above.Digest && len(m.Cell(key, Base)) == 0
		}
		parent = above.Parent
	}
	return false
}

// affected holds for a row whose outcome on base+tests differs from base, each
// seen often enough and of one mind. A unit that did not load says nothing
// about the rows inside it.
func affected(m *Matrix, key Key) bool {
	before, after := m.Cell(key, Base), m.Cell(key, BaseTests)
	if !m.firm(before) || !m.firm(after) {
		return false
	}
	switch after[0].Reason {
	case Import, Compile, NoReport, Inconsistent:
		return false
	}
	head := m.Cell(key, Head)
	if colour(after[0]) == grey && !allGreen(head) || !anyOf(head, green) && !anyOf(head, red) && !anyOf(head, blank) {
		return false // head's tests cannot even run: that says nothing of base
	}
	return colour(before[0]) != colour(after[0])
}

// repaired holds for an untouched row that fails on base and passes on head.
func repaired(m *Matrix, key Key) bool {
	before := m.Cell(key, Base)
	if row, ok := m.Seen(key, Head); ok && inheritsBase(m, row) {
		before = m.Cell(key, BaseTests)
	}
	after := m.Cell(key, Head)
	return m.firm(before) && len(after) > 0 && colour(before[0]) == red && colour(after[0]) == green
}

// firm holds for a cell that was seen often enough and always alike.
func (m *Matrix) firm(cell []Observation) bool {
	return len(cell) > 0 && len(cell) >= m.Repeat && agree(cell)
}

// unseen tells apart "does not pass" and "nothing is known": a module that is
// not installed or a run that left no record says nothing about the change.
func unseen(reason Reason) bool {
	switch reason {
	case Import, NoReport, Inconsistent, Deselected, NoReason:
		return true
	}
	return false
}

// IsEvidence tells whether the row counts for the change.
func IsEvidence(m *Matrix, key Key) bool {
	switch OriginOf(m, key) {
	case Added, Modified, Affected:
		return true
	case Existing:
		return repaired(m, key)
	}
	return false
}

// hue is an outcome as the roles see it.
type hue uint8

const (
	grey hue = iota // says nothing about the code
	green
	red
	blank // skipped
)

func colour(o Observation) hue {
	switch {
	case o.Outcome == Passed:
		return green
	case o.Outcome == Skipped:
		return blank
	case o.Evaluable():
		return red
	}
	return grey
}

// agree tells whether all observations of a cell have one colour.
func agree(cell []Observation) bool {
	for _, o := range cell {
		if colour(o) != colour(cell[0]) {
			return false
		}
	}
	return true
}

// Reading is what a row of the change's evidence proves, and why.
type Reading struct {
	Role   Role
	Reason Reason // why it is not_comparable or does not pass
	Words  string
}

// RoleOf reads one row of the change's evidence. The order of the questions is
// fixed and makes the roles exclusive. introduced tells whether a name that a
// check did not find is one that only the production part adds.
func RoleOf(m *Matrix, key Key, introduced func(Missing) bool) Reading {
	repeat := m.Repeat
	head, before := m.Cell(key, Head), m.Cell(key, BaseTests)
	switch {
	case !anyOf(head, green):
		return withoutPass(head, repeat)
	case !agree(head):
		return Reading{Flaky, "", fmt.Sprintf("%d runs on head disagree: %s", len(head), tally(head))}
	case len(before) > 0 && !agree(before):
		return Reading{Flaky, "", fmt.Sprintf("%d runs on base+tests disagree: %s", len(before), tally(before))}
	case len(head) < repeat:
		return Reading{NotComparable, NoReport, fmt.Sprintf("seen %d of %d times on head", len(head), repeat)}
	}
	if len(before) > 0 && len(before) < repeat {
		return Reading{NotComparable, NoReport, fmt.Sprintf("seen %d of %d times on base+tests", len(before), repeat)}
	}
	if r, ok := notComparable(before, head, introduced); ok {
		return r
	}
	if colour(before[0]) == red {
		if r, ok := steered(m.Cell(key, HeadBaseInfra)); ok && m.Steered {
			return r
		}
		return Reading{Discriminating, before[0].Reason, ""}
	}
	return Reading{RegressionOnly, "", "passes on base too"}
}

// withoutPass reads a row that head never passed. One red observation is
// enough to say so; a skip counts only when it was seen as often as asked.
func withoutPass(head []Observation, repeat int) Reading {
	switch {
	case anyOf(head, blank) && !agree(head):
		return Reading{Flaky, "", fmt.Sprintf("%d runs on head disagree: %s", len(head), tally(head))}
	case allBlank(head) && len(head) >= repeat:
		return Reading{NoRole, "", "skipped on head: proves nothing, blocks nothing"}
	}
	for _, o := range head {
		if !allBlank(head) && !unseen(o.Reason) {
			return Reading{DiagnosticNegative, o.Reason, "does not pass on head"}
		}
	}
	return Reading{DiagnosticNegative, NoReport, "no evaluable result on head"}
}

// notComparable answers the third question: did base+tests say anything that
// can be held against head?
func notComparable(before, head []Observation, introduced func(Missing) bool) (Reading, bool) {
	if len(before) == 0 {
		return Reading{NotComparable, NoReport, "no result on base+tests"}, true
	}
	o := before[0]
	if o.Outcome != Passed && o.Outcome != Skipped {
		for _, name := range o.Missing {
			if introduced != nil && introduced(name) {
				return Reading{NotComparable, MissingSymbol, fmt.Sprintf("needs %s, which only this change adds", name.Name)}, true
			}
		}
	}
	switch colour(o) {
	case grey:
		return Reading{NotComparable, o.Reason, "could not be evaluated on base+tests"}, true
	case blank:
		return Reading{NotComparable, o.Reason, "skipped on base+tests"}, true
	}
	if o.Outcome == TimedOut && slowest(head)*comfort > o.Duration {
		return Reading{NotComparable, Timeout, "timed out on base+tests, and is slow on head too"}, true
	}
	return Reading{}, false
}

func anyOf(cell []Observation, h hue) bool {
	for _, o := range cell {
		if colour(o) == h {
			return true
		}
	}
	return false
}

func slowest(cell []Observation) time.Duration {
	var most time.Duration
	for _, o := range cell {
		most = max(most, o.Duration)
	}
	return most
}

// tally counts a cell's outcomes in words: "1 passed, 1 failed".
func tally(cell []Observation) string {
	var counts [len(outcomeNames)]int
	for _, o := range cell {
		counts[o.Outcome]++
	}
	words := ""
	for outcome, n := range counts {
		if n == 0 {
			continue
		}
		if words != "" {
			words += ", "
		}
		words += fmt.Sprintf("%d %s", n, Outcome(outcome))
	}
	return words
}
