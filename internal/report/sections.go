package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// section is the change's own checks that prove the same thing.
type section struct {
	kind   kind
	checks int
	groups []group
}

// kind is what a section's checks prove. Its zero value shows nothing.
type kind struct {
	rank  int // place in the report
	short string
	one   string // what one check does: "fails without the change, passes with it"
	many  string // what several do
}

func (s section) title() string {
	return fmt.Sprintf("%s (%s): %s", s.kind.short, number(s.checks), verb(s.checks, s.kind.one, s.kind.many))
}

// group is checks of one section with the same observations, the same file and
// the same cause, told as one where they are many.
type group struct {
	before string // what was seen on base+tests
	head   string
	checks []gate.Check
}

// crowd is how many checks of a group are listed one by one.
const crowd = 5

// crowded tells whether a group is told as one.
func (g group) crowded() bool { return len(g.checks) > crowd }

// label names a group that is told as one.
func (g group) label() string {
	first := g.checks[0]
	stem, _, parametrised := strings.Cut(first.ID, "[")
	if parametrised && !slices.ContainsFunc(g.checks, func(c gate.Check) bool { return !strings.HasPrefix(c.ID, stem+"[") }) {
		return fmt.Sprintf("%s: %s", stem, count(len(g.checks), "case"))
	}
	if first.File != "" {
		return fmt.Sprintf("%s: %s", first.File, count(len(g.checks), "test"))
	}
	return fmt.Sprintf("%s and %s more", first.ID, number(len(g.checks)-1))
}

// ownChecks are the change's evidence, and what head skips of it.
func ownChecks(r *gate.Report) []gate.Check {
	var own []gate.Check
	for _, c := range r.Checks {
		if c.Role != gate.NoRole || c.RoleReason != "" {
			own = append(own, c)
		}
	}
	return own
}

// sections puts checks together by what they prove, then by what explains it,
// in the order in which a reader needs them.
func sections(own []gate.Check) []section {
	var list []section
	at := make(map[kind]int)
	groups := make(map[string]int)
	for _, c := range own {
		k := kindOf(c)
		if _, known := at[k]; !known {
			at[k] = len(list)
			list = append(list, section{kind: k})
		}
		s := &list[at[k]]
		s.checks++
		g := group{before: seen(c.Cells[gate.BaseTests]), head: seen(c.Cells[gate.Head])}
		key := strings.Join([]string{k.short, k.one, g.before, g.head, c.File, shared(c)}, "\x00")
		if _, known := groups[key]; !known {
			groups[key] = len(s.groups)
			s.groups = append(s.groups, g)
		}
		into := &s.groups[groups[key]]
		into.checks = append(into.checks, c)
	}
	slices.SortStableFunc(list, func(a, b section) int { return a.kind.rank - b.kind.rank })
	return list
}

// shared is the cause that checks must have in common to be told as one. Checks
// that fail on base each do so in words of their own.
func shared(c gate.Check) string {
	if c.Role == gate.NotComparable || c.Role == gate.DiagnosticNegative {
		return explanation(c)
	}
	return ""
}

// kindOf says what a check proves.
func kindOf(c gate.Check) kind {
	if k, ok := furtherKind(c); ok {
		return k
	}
	code, _, _ := strings.Cut(c.RoleReason, ": ")
	switch c.Role {
	case gate.DiagnosticNegative:
		return failingKind(c, gate.Reason(code))
	case gate.Discriminating:
		return kind{2, "Discriminating", "fails without the change, passes with it", "fail without the change, pass with it"}
	case gate.RegressionOnly:
		return kind{3, "Regression-only", "passes without the change too", "pass without the change too"}
	case gate.NotComparable:
		if code == string(gate.MissingSymbol) {
			return kind{4, "New behaviour", "needs a name that only this change adds", "need a name that only this change adds"}
		}
		why := notComparable[gate.Reason(code)]
		if why == "" {
			why = "no usable result without the change"
		}
		return kind{5, "Not comparable", why, why}
	case gate.Flaky:
		return kind{6, "Flaky", "its own runs disagree", "their own runs disagree"}
	case gate.NoRole:
		return kind{7, "Skipped on head", "proves nothing, blocks nothing", "prove nothing, block nothing"}
	}
	return kind{8, "Unknown role", "this version of touchstone does not know it", "this version of touchstone does not know them"}
}

// failingKind tells apart what does not pass on head: for the first time, since
// before the change, or because nothing could be seen.
func failingKind(c gate.Check, reason gate.Reason) kind {
	switch reason {
	case gate.NoReport, gate.Import, gate.Inconsistent, gate.Deselected, gate.NoReason:
		return kind{0, "No result", "head gave none that can be used", "head gave none that can be used"}
	}
	for _, before := range c.Cells[gate.Base] {
		if before.Outcome == gate.Failed {
			return kind{1, "Failing as before", "fails on base and on head alike", "fail on base and on head alike"}
		}
	}
	return kind{1, "Failing", "does not pass on head", "do not pass on head"}
}

// notComparable says why base+tests could not be held against head.
var notComparable = map[gate.Reason]string{
	gate.Import:       "could not be imported without the change",
	gate.Compile:      "did not compile without the change",
	gate.Setup:        "set-up failed without the change",
	gate.Timeout:      "timed out without the change, and slow with it",
	gate.Crash:        "crashed without the change",
	gate.NoReport:     "no result, or too few",
	gate.Inconsistent: "reports about the run without the change contradict each other",
	gate.Deselected:   "left out without the change",
	gate.NoReason:     "skipped without the change",
}

// explanation is what says most about a check's role, with the state it was
// seen on; "" when there is nothing to add.
func explanation(c gate.Check) string {
	_, words, _ := strings.Cut(c.RoleReason, ": ")
	if bridged(c) {
		return said(c, gate.Bridge)
	}
	switch c.Role {
	case gate.RegressionOnly:
		return ""
	case gate.DiagnosticNegative, gate.NoRole:
		return said(c, gate.Head)
	case gate.Flaky:
		for _, state := range []gate.StateName{gate.Head, gate.BaseTests} {
			if strings.Contains(c.RoleReason, string(state)) {
				return c.RoleReason + after("; ", said(c, state))
			}
		}
		return c.RoleReason
	case gate.NotComparable:
		if strings.HasPrefix(c.RoleReason, string(gate.MissingSymbol)) && words != "" {
			return words
		}
		if message := said(c, gate.BaseTests); message != "" {
			return message
		}
		if strings.HasPrefix(c.RoleReason, string(gate.NoReport)) {
			return words // how often it was seen; the section's title says the rest
		}
		return ""
	}
	return said(c, gate.BaseTests)
}

func after(mark, words string) string {
	if words == "" {
		return ""
	}
	return mark + words
}

// said is the first message of a cell, after the state's name.
func said(c gate.Check, state gate.StateName) string {
	for _, cell := range c.Cells[state] {
		if cell.Message != "" {
			return string(state) + ": " + cell.Message
		}
	}
	return ""
}

// place is a check's source where its id does not tell it.
func place(c gate.Check) string {
	if c.File == "" || strings.HasPrefix(c.ID, c.File) {
		return ""
	}
	if c.Line > 0 {
		return fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	return c.File
}

// other are the findings that no other part of a report shows.
func other(findings []gate.Finding) []gate.Finding {
	shown := []string{
		"vacuous-test", "new-behaviour", "not-comparable", "flaky-test", "failing-test", "long-red-test", "no-result", "skipped-test",
		"flip", "lost-test", "evidence-inadequate", "no-evidence", "vacuous-behind-bridge",
	}
	var rest []gate.Finding
	for _, f := range findings {
		if !slices.Contains(shown, f.Rule) {
			rest = append(rest, f)
		}
	}
	return rest
}

// where is a finding's place in front of its message.
func where(f gate.Finding) string {
	switch {
	case f.Path == "":
		return ""
	case f.Line == 0:
		return f.Path + ": "
	}
	return fmt.Sprintf("%s:%d: ", f.Path, f.Line)
}
