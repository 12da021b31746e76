package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// shortLength is the size of a comment's short form, in bytes.
const shortLength = 2000

// CommentMarker is how every comment of a check begins, hidden.
func CommentMarker(check string) string { return "<!-- touchstone:" + check + " digest=" }

// Comment draws a report as the comment on a pull request, for its author: what
// was seen of each test that does not discriminate and what would change that,
// and how to see each flip. It holds no times and no commit, so that the same
// findings always give the same bytes. short is its beginning, for when GitHub
// finds body too long.
func Comment(r *gate.Report, check string) (body, short string) {
	var m markdown
	green := r.Verdict.Conclusion == gate.Pass || r.Verdict.Conclusion == gate.NotApplicable
	if green {
		line, _ := headline(r.Verdict)
		m.line("%s%s: %s</summary>\n", foldStart, "<b>"+verdictName(r.Verdict.Conclusion)+"</b>", html(Sanitize(line, longest)))
		m.own(r)
	} else {
		m.verdict(r)
		first := len(m.String())
		m.todo(r)
		m.flipsToSee(r.Flips)
		m.lostToAsk(r.Lost)
		m.findings(other(r.Findings))
		short = m.String()[:first] + "\nThe details are in the check run.\n"
	}
	if green {
		m.unfold()
		short = m.String()
	}
	return marked(check, cut(m.String(), Limit-200)), marked(check, cut(short, shortLength))
}

func marked(check, text string) string {
	sum := sha256.Sum256([]byte(text))
	return CommentMarker(check) + hex.EncodeToString(sum[:8]) + " -->\n" + text
}

// todo tells for each of the change's tests that proves nothing what was seen,
// and what would make it count.
func (m *markdown) todo(r *gate.Report) {
	lines := 0
	for _, s := range sections(ownChecks(r)) {
		advice := adviceFor(s)
		if advice == "" {
			continue
		}
		m.line("\n**%s** (%s). %s\n", prose(s.kind.short, 40), number(s.checks), advice)
		for i, c := range s.list() {
			if lines == listed {
				m.line("- ... and %s more", number(s.checks-i))
				return
			}
			lines++
			m.line("- %s: %s", code(cutMiddle(Sanitize(c.ID, 0), idLength)), observedOn(c))
		}
	}
}

func (s section) list() (all []gate.Check) {
	for _, g := range s.groups {
		all = append(all, g.checks...)
	}
	return all
}

// observedOn says what a check came to on both sides, with the words that
// explain it.
func observedOn(c gate.Check) string {
	words := fmt.Sprintf("on base with this test %s, on head %s", seen(c.Cells[gate.BaseTests]), seen(c.Cells[gate.Head]))
	if why := Sanitize(explanation(c), 240); why != "" {
		words += ": " + code(why)
	}
	if at := place(c); at != "" {
		words += " (" + code(at) + ")"
	}
	return words
}

// adviceFor is what would make the tests of a section count, "" where nothing
// is asked.
func adviceFor(s section) string {
	switch s.kind.short {
	case "Regression-only":
		return "They pass without the change too. To count, a test must fail when the production part of this change is taken away: assert what base gets wrong."
	case "Failing":
		return "Make them pass, or take them out."
	case "No result":
		return "Head gave no result that can be used: run the command below and see what stops it."
	case "Flaky":
		return "Their own runs disagree: make each give one answer (no clock, no network, no order, no shared state)."
	case "Not comparable":
		return "They could not be held against base: let them load there, so that they can fail by their own assertion."
	case "Skipped on head":
		return "A skipped test proves nothing: let it run where this check runs."
	}
	return ""
}

func (m *markdown) flipsToSee(flips []gate.Flip) {
	if len(flips) == 0 {
		return
	}
	m.line("\n**Broken elsewhere** (%s): they pass on base and not with this change, which does not touch them.\n", number(len(flips)))
	for i, flip := range flips {
		if i == listed {
			m.line("- ... and %s more", number(len(flips)-i))
			return
		}
		m.line("- %s%s", code(cutMiddle(Sanitize(flip.ID, 0), idLength)), after(": ", code(Sanitize(flip.Message, 300))))
		for _, cause := range blamedFor(flip) {
			m.line("  <br>%s", prose(cause, 300))
		}
		if len(flip.Reproduce) > 0 {
			m.line("  <br>to see it, on the head of this branch: %s", code(Shell(flip.Reproduce)))
		}
	}
}

func (m *markdown) lostToAsk(lost []gate.Lost) {
	if len(lost) == 0 {
		return
	}
	m.line("\n**No longer run** (%s): they ran on base. If that is not meant, bring them back.\n", number(len(lost)))
	for i, l := range lost {
		if i == listed {
			m.line("- ... and %s more", number(len(lost)-i))
			return
		}
		m.line("- %s: %s%s", code(cutMiddle(Sanitize(l.ID, 0), idLength)), prose(spaced(l.How), 40), after("; ", onHeadWords[l.OnHead]))
	}
}

// html is text inside an HTML element, where Markdown may be read too.
func html(text string) string {
	var out strings.Builder
	for _, c := range text {
		if entity, special := entities[c]; special && !strings.ContainsRune("+-=.!()", c) {
			out.WriteString(entity)
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}
