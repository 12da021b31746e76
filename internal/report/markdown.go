package report

import (
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Lengths of a Markdown report's lists. What does not stand in front stands in
// the folded details, as far as Limit allows.
const (
	rowsInFront = 10  // of each section of the table
	listed      = 20  // flips, lost tests, findings, reasons
	listedBelow = 200 // tests of a section, lost tests and files in the details
	idLength    = 160 // runes of an id in front
)

// markdown draws a report for GitHub: the summary of a check run, a comment, a
// job summary. Text of others comes through prose and code only.
type markdown struct{ strings.Builder }

func renderMarkdown(r *gate.Report, o Options) []byte {
	m := &markdown{}
	m.verdict(r)
	m.own(r)
	m.flips(r.Flips)
	m.lost(r.Lost)
	m.findings(other(r.Findings))
	m.crosses(r)
	m.details(r, o)
	m.everyTest(r, o)
	return []byte(cut(m.String(), Limit))
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) verdict(r *gate.Report) {
	line, rest := headline(r.Verdict)
	m.line("**%s**: %s", verdictName(r.Verdict.Conclusion), prose(line, longest))
	if len(rest) == 1 {
		m.line("\n%s", prose(rest[0], 1000))
	} else if len(rest) > 1 {
		m.reasons(rest)
	}
	if r.Advisory {
		m.line("\nAdvisory: this verdict blocks nothing.")
	}
}

func (m *markdown) reasons(list []string) {
	m.line("")
	for i, reason := range list {
		if i == listed {
			m.line("- ... and %s more reasons", number(len(list)-i))
			return
		}
		m.line("- %s", prose(reason, 1000))
	}
}

// own is the table of the change's own checks, by what they prove.
func (m *markdown) own(r *gate.Report) {
	own := ownChecks(r)
	if len(own) == 0 {
		if provable(r.Split) {
			m.line("\nTests of this change: none.")
		}
		return
	}
	m.line("\n**Tests of this change**: %s\n", origins(own))
	m.line("| | test | on base+tests | on head |")
	m.line("|---|---|---|---|")
	for _, s := range sections(own) {
		m.rows(s)
	}
}

func (m *markdown) rows(s section) {
	title, lines, told := "**"+s.kind.short+"**: "+verb(s.checks, s.kind.one, s.kind.many), 0, 0
	for _, g := range s.groups {
		for _, c := range g.checks {
			if lines == rowsInFront {
				m.line("| | ... and %s more, %s | | |", number(s.checks-told), strings.ToLower(s.kind.short))
				return
			}
			id := code(cutMiddle(Sanitize(c.ID, 0), idLength))
			if g.crowded() {
				id = code(cutMiddle(Sanitize(g.label(), 0), idLength))
			}
			before, head := withMessages(g, c)
			m.line("| %s | %s | %s | %s |", title, id, before, head)
			title = ""
			lines++
			if g.crowded() {
				told += len(g.checks)
				break
			}
			told++
		}
	}
}

// withMessages puts a check's message beside the outcome it explains.
func withMessages(g group, c gate.Check) (before, head string) {
	before, head = g.before, g.head
	message := Sanitize(explanation(c), 240)
	if rest, ok := strings.CutPrefix(message, string(gate.Head)+": "); ok {
		return before, head + ": " + code(rest)
	}
	if message == "" {
		return before, head
	}
	return before + ": " + code(strings.TrimPrefix(message, string(gate.BaseTests)+": ")), head
}

func (m *markdown) flips(flips []gate.Flip) {
	if len(flips) == 0 {
		return
	}
	m.line("\n**Flips**: %s on base, %s on head, untouched by this change\n", passWord(len(flips)), failWord(len(flips)))
	for i, flip := range flips {
		if i == listed {
			m.line("- ... and %s more %s", number(len(flips)-i), verb(len(flips)-i, "flip", "flips"))
			break
		}
		item := fmt.Sprintf("- %s fails on head %s", code(cutMiddle(Sanitize(flip.ID, 0), idLength)), prose(firm(flip), 80))
		if flip.Message != "" {
			item += ": " + code(Sanitize(flip.Message, 300))
		}
		for _, cause := range blamedFor(flip) {
			item += "<br>" + prose(cause, 300)
		}
		if len(flip.Reproduce) > 0 {
			item += "<br>to see it: " + code(Shell(flip.Reproduce))
		}
		m.line("%s", item)
	}
}

func (m *markdown) lost(lost []gate.Lost) {
	if len(lost) == 0 {
		return
	}
	m.fold(fmt.Sprintf("Lost: %s ran on base and %s no result on head", count(len(lost), "test"), verb(len(lost), "has", "have")))
	for i, l := range lost {
		if i == listedBelow {
			m.line("- ... and %s more lost tests", number(len(lost)-i))
			break
		}
		item := fmt.Sprintf("- %s: %s", code(l.ID), prose(spaced(l.How), 40))
		if words := onHeadWords[l.OnHead]; words != "" {
			item += "; " + words
		}
		m.line("%s", item)
	}
	m.unfold()
}

func (m *markdown) findings(findings []gate.Finding) {
	if len(findings) == 0 {
		return
	}
	m.line("\n**Findings**\n")
	for i, f := range findings {
		if i == listed {
			m.line("- ... and %s more findings", number(len(findings)-i))
			break
		}
		at := strings.TrimSuffix(where(f), ": ")
		if at != "" {
			at = code(at) + ": "
		}
		m.line("- %s: %s%s (%s)", prose(string(f.Severity), 20), at, prose(f.Message, 500), prose(f.Rule, 60))
	}
}

// everyTest lists by name the tests that the table told as one or left out.
func (m *markdown) everyTest(r *gate.Report, o Options) {
	own := ownChecks(r)
	all := sections(own)
	if !o.Verbose && !shortened(all) {
		return
	}
	m.fold(fmt.Sprintf("Every test of this change (%s)", number(len(own))))
	for i, s := range all {
		if i > 0 {
			m.line("")
		}
		m.line("%s\n", prose(s.title(), 200))
		m.names(s)
	}
	m.unfold()
}

func (m *markdown) names(s section) {
	lines := 0
	for _, g := range s.groups {
		for _, c := range g.checks {
			if lines == listedBelow {
				m.line("- ... and %s more", number(s.checks-lines))
				return
			}
			m.line("- %s", code(c.ID))
			lines++
		}
	}
}

// shortened tells whether the table leaves out any test.
func shortened(all []section) bool {
	for _, s := range all {
		for _, g := range s.groups {
			if g.crowded() || s.checks > rowsInFront {
				return true
			}
		}
	}
	return false
}

// details say what was compared, how the change was split, and what it took.
func (m *markdown) details(r *gate.Report, o Options) {
	m.fold("What was compared, and what it took")
	if r.Change.Base != "" || r.Change.Head != "" {
		m.line("%s\n", prose(compared(r.Change), 500))
	}
	if words := coverage(r.Selection, r.Audit); words != "" {
		m.line("%s\n", prose(words, 500))
	}
	for _, words := range furtherWords(r) {
		m.line("%s\n", prose(words, 500))
	}
	m.line("%s\n", prose(cost(r), 500))
	for _, words := range r.Notes {
		m.line("Note: %s\n", prose(words, 1000))
	}
	m.split(r.Split)
	if o.Verbose && len(r.Commands) > 0 {
		m.line("\nCommands:\n")
		for _, c := range r.Commands {
			m.line("- %s: %s", prose(string(c.State), 40), code(Shell(c.Argv)))
		}
	}
	m.unfold()
}

func (m *markdown) split(split []gate.SplitEntry) {
	if len(split) == 0 {
		m.line("No file changed.")
		return
	}
	m.line("Split: %s.\n", files(split))
	for i, entry := range split {
		if i == listedBelow {
			m.line("- ... and %s more files", number(len(split)-i))
			break
		}
		why := entry.Why
		if parts := hunks(entry); parts != "" {
			why += "; " + parts
		}
		m.line("- %s: %s (%s)", prose(entry.Part, 20), code(entry.Path), prose(why, 300))
	}
}

// foldStart and foldEnd open and close details, on lines of their own. Text of
// others never begins a line.
const (
	foldStart = "<details><summary>"
	foldEnd   = "</details>"
)

func (m *markdown) fold(summary string) { m.line("\n%s%s</summary>\n", foldStart, summary) }
func (m *markdown) unfold()             { m.line("\n%s", foldEnd) }
