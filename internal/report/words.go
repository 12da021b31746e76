package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// longest is how long a verdict's first line may be, in runes.
const longest = 160

// headline is the verdict in one line, and the rest of its reasons in order. Of
// a verdict that asks for something, what to do is split off the line.
func headline(v gate.Verdict) (line string, rest []string) {
	if len(v.Reasons) == 0 {
		return generic(v.Conclusion), nil
	}
	statement, more := v.Reasons[0], ""
	if v.Conclusion == gate.Fail || v.Conclusion == gate.Undecided {
		statement, more, _ = strings.Cut(statement, "; ")
	}
	if utf8.RuneCountInString(statement) > longest || statement == "" {
		return generic(v.Conclusion), v.Reasons
	}
	if more != "" {
		rest = append(rest, more)
	}
	return statement, append(rest, v.Reasons[1:]...)
}

// generic is the verdict without any number.
func generic(c gate.Conclusion) string {
	switch c {
	case gate.Pass:
		return "the evidence that policy asks for is there"
	case gate.Fail:
		return "policy is not met"
	case gate.NotApplicable:
		return "there is nothing to prove"
	}
	return "it could not be found out what this change proves"
}

// verdictName is the conclusion for people.
func verdictName(c gate.Conclusion) string { return strings.ToUpper(spaced(c.String())) }

func spaced(code string) string { return strings.ReplaceAll(code, "_", " ") }

// number writes thousands apart: 2,262.
func number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func count(n int, noun string) string { return number(n) + " " + verb(n, noun, noun+"s") }

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// seen says in words what a cell holds: its observations when they agree, else
// how many of each.
func seen(cell []gate.Cell) string {
	if len(cell) == 0 {
		return "not run"
	}
	var kinds []string
	counts := make(map[string]int)
	for _, c := range cell {
		words := observed(c)
		if counts[words] == 0 {
			kinds = append(kinds, words)
		}
		counts[words]++
	}
	if len(kinds) == 1 {
		return kinds[0]
	}
	for i, words := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[words], words)
	}
	return strings.Join(kinds, ", ")
}

func observed(c gate.Cell) string {
	switch c.Outcome {
	case gate.Failed:
		if c.Reason == gate.Exception {
			return "raised"
		}
	case gate.TimedOut:
		return "timed out"
	case gate.Errored:
		if words := causes[c.Reason]; words != "" {
			return words
		}
	}
	if c.Reason == gate.MissingSymbol {
		return "name missing"
	}
	return spaced(c.Outcome.String())
}

// causes says in words why an outcome could not be evaluated.
var causes = map[gate.Reason]string{
	gate.MissingSymbol: "name missing",
	gate.Import:        "not importable",
	gate.Compile:       "not compiled",
	gate.Setup:         "set-up failed",
	gate.Timeout:       "timed out",
	gate.Crash:         "crashed",
	gate.NoReport:      "no report",
	gate.Inconsistent:  "contradictory",
	gate.Deselected:    "deselected",
}

// onHeadWords says what base's version of a lost test did on head's source.
var onHeadWords = map[string]string{
	"passed":     "base's version passes on head's source",
	"failed":     "base's version FAILS on head's source",
	"not_loaded": "base's version does not load on head's source",
}

// origins counts the change's own checks by how they relate to it:
// "3 new, 1 modified".
func origins(r *gate.Report, own []gate.Check) string {
	words := []struct {
		origin gate.Origin
		word   string
	}{{gate.Added, "new"}, {gate.Modified, "modified"}, {gate.Affected, "affected"}, {gate.Existing, "untouched but red on base"}}
	var list []string
	for _, w := range words {
		n := 0
		for _, c := range own {
			if c.Origin == w.origin {
				n++
			}
		}
		if n > 0 {
			list = append(list, number(n)+" "+w.word)
		}
	}
	if len(list) == 0 {
		return noneOfIts(r)
	}
	return strings.Join(list, ", ")
}

// compared says what stood against what.
func compared(c gate.ChangeInfo) string {
	words := fmt.Sprintf("Compared head %s with base %s", shortCommit(c.Head), shortCommit(c.Base))
	if c.BaseWhy != "" {
		words += " (" + c.BaseWhy + ")"
	}
	if c.Gold != nil {
		words += " and the reference fix " + shortCommit(*c.Gold)
	}
	if c.Kind != "" && c.Kind != "unknown" {
		words += ", kind " + c.Kind
		if c.KindEvidence != "" {
			words += " (" + c.KindEvidence + ")"
		}
	}
	if c.Agent.Likely {
		words += fmt.Sprintf(". It looks like the work of an agent, %s (%s)", c.Agent.Name, strings.Join(c.Agent.Signals, ", "))
	}
	return words + "."
}

func shortCommit(id string) string {
	if len(id) == 40 || len(id) == 64 {
		return id[:12]
	}
	return spaced(id)
}

// files says how many files are in each part, "" when nothing changed.
func files(split []gate.SplitEntry) string {
	var list []string
	for _, part := range []string{"production", "test", "mixed", "neutral"} {
		n := 0
		for _, entry := range split {
			if entry.Part == part {
				n++
			}
		}
		if n > 0 {
			list = append(list, fmt.Sprintf("%s %s", part, count(n, "file")))
		}
	}
	return strings.Join(list, ", ")
}

// hunks says which parts of a mixed file are whose.
func hunks(entry gate.SplitEntry) string {
	var list []string
	for _, h := range entry.Hunks {
		list = append(list, fmt.Sprintf("lines %d-%d %s", h.NewStart, h.NewStart+max(h.NewLines, 1)-1, h.Part))
	}
	return strings.Join(list, ", ")
}

// coverage says which tests ran, and so where a flip could have been seen; ""
// when none did.
func coverage(s gate.Selection, a gate.Audit) string {
	words := ""
	switch {
	case s.Selected == 0:
	case a.RanFull:
		words = fmt.Sprintf("Ran the whole suite: %s.", count(s.Selected, "test"))
	case s.Of > 0:
		words = fmt.Sprintf("Ran %s of %s, chosen by %s", number(s.Selected), count(s.Of, "test"), s.Strategy)
		if s.ShareOfTime > 0 {
			words += fmt.Sprintf(" (%.0f %% of the suite's time)", 100*s.ShareOfTime)
		}
		words += "."
	case s.Fallback != "":
		words = fmt.Sprintf("Looked at %s.", count(s.Selected, "test"))
	default:
		words = fmt.Sprintf("Looked at %s, those of the files that the change touches; the rest of the suite did not run.", count(s.Selected, "test"))
	}
	if s.Fallback != "" {
		words = strings.TrimSpace(words + " Fallback: " + s.Fallback + ".")
	}
	return words
}

// cost says where the time went: in all, in tests, by state, and in what
// sandbox.
func cost(r *gate.Report) string {
	if r.Seconds.Tests == 0 {
		return fmt.Sprintf("Took %.1f s; no test ran.", r.Seconds.Total)
	}
	words := fmt.Sprintf("Took %.1f s, with tests running for %.1f s", r.Seconds.Total, r.Seconds.Tests)
	var spent, sandboxes []string
	hunks, seconds := 0, 0.0
	for _, name := range stateNames(r) {
		s := r.States[name]
		if strings.HasPrefix(string(name), "without(") {
			hunks, seconds = hunks+1, seconds+s.TestSeconds
		} else if s.TestSeconds > 0 {
			spent = append(spent, fmt.Sprintf("%s %.1f s", name, s.TestSeconds))
		}
		if s.Sandbox != "" && !slices.Contains(sandboxes, s.Sandbox) {
			sandboxes = append(sandboxes, s.Sandbox)
		}
	}
	if hunks > 0 {
		spent = append(spent, fmt.Sprintf("%s without a hunk group %.1f s", count(hunks, "state"), seconds))
	}
	if len(spent) > 0 {
		words += " (" + strings.Join(spent, ", ") + ")"
	}
	if len(sandboxes) > 0 {
		words += "; sandbox " + strings.Join(sandboxes, ", ")
	}
	return words + "."
}

// stateNames lists the report's states in a stable order.
func stateNames(r *gate.Report) []gate.StateName {
	var names []gate.StateName
	for name := range r.States {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// noneOfIts is what is said of the change's own checks where there are none: those of
// a test file that the change edits and that could not be run are not known.
func noneOfIts(r *gate.Report) string {
	for _, c := range r.Checks {
		cells := c.Cells[gate.Head]
		broke := c.ID == c.File && len(cells) > 0 && cells[len(cells)-1].Outcome == gate.Errored
		if broke && slices.ContainsFunc(r.Split, func(e gate.SplitEntry) bool { return e.Path == c.File && e.Part != "neutral" }) {
			return "none could be run"
		}
	}
	return "none"
}

// provable tells whether there is anything that a test could be asked about.
func provable(split []gate.SplitEntry) bool {
	return slices.ContainsFunc(split, func(e gate.SplitEntry) bool { return e.Part != "neutral" })
}
