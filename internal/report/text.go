package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// fold is how many entries of a list are printed when not verbose.
const fold = 10

// Widths of a text report, in columns.
const (
	usual  = 100 // where no terminal says
	narrow = 40  // the least that is minded
	wide   = 140 // paragraphs are no wider
)

// text draws a report for a terminal. Every line goes through line, which is
// where the last guard against runner commands stands.
type text struct {
	bytes.Buffer
	width   int
	color   bool
	verbose bool
}

func renderText(r *gate.Report, o Options) []byte {
	t := &text{width: o.Width, color: o.Color, verbose: o.Verbose}
	if t.width < narrow {
		t.width = usual
	}
	t.verdict(r)
	t.own(r)
	t.flips(r.Flips)
	t.lost(r.Lost)
	t.findings(other(r.Findings))
	t.crosses(r)
	t.footer(r)
	return t.Bytes()
}

func (t *text) line(format string, args ...any) {
	t.WriteString(strings.TrimRight(disarm(fmt.Sprintf(format, args...)), " ") + "\n")
}

var colours = map[gate.Conclusion]string{gate.Pass: "32", gate.Fail: "31", gate.Undecided: "33", gate.NotApplicable: "36"}

func (t *text) paint(code, s string) string {
	if !t.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *text) heading(s string) {
	t.line("")
	t.title("", s)
}

// title prints a line, or two, that stand out.
func (t *text) title(indent, s string) {
	for _, line := range t.broken(s, len(indent)) {
		t.line("%s%s", indent, t.paint("1", line))
	}
}

// verdict says what the answer is, why, and what to do.
func (t *text) verdict(r *gate.Report) {
	name := verdictName(r.Verdict.Conclusion)
	indent := strings.Repeat(" ", len(name)+2)
	line, rest := headline(r.Verdict)
	for i, part := range t.broken(Sanitize(line, 0), len(indent)) {
		if i == 0 {
			t.line("%s  %s", t.paint("1;"+colours[r.Verdict.Conclusion], name), part)
			continue
		}
		t.line("%s%s", indent, part)
	}
	for i, reason := range rest {
		if t.folded(i, len(rest), indent, "reasons") {
			break
		}
		t.item(indent, Sanitize(reason, 1000), len(rest) > 1)
	}
	if r.Advisory {
		t.wrap(indent, "Advisory: this verdict blocks nothing, the exit status is 0.")
	}
}

// item prints a paragraph, marked as one of several.
func (t *text) item(indent, paragraph string, several bool) {
	if !several {
		t.wrap(indent, paragraph)
		return
	}
	for i, line := range t.broken(paragraph, len(indent)+2) {
		if i == 0 {
			t.line("%s- %s", indent, line)
			continue
		}
		t.line("%s  %s", indent, line)
	}
}

// folded tells whether a list ends here, and then says how much is left.
func (t *text) folded(i, total int, indent, what string) bool {
	if t.verbose || i < fold {
		return false
	}
	if total-i == 1 {
		t.line("%s... and 1 more %s (--verbose shows it)", indent, strings.TrimSuffix(what, "s"))
		return true
	}
	t.line("%s... and %s more %s (--verbose shows them)", indent, number(total-i), what)
	return true
}

// own shows the change's own checks, by what they prove.
func (t *text) own(r *gate.Report) {
	own := ownChecks(r)
	if len(own) == 0 && !provable(r.Split) {
		return
	}
	t.heading("Tests of this change: " + origins(own))
	all := sections(own)
	before, head := columns(all)
	if len(all) > 0 {
		t.line("    %-*s  %-*s  %s", before, "base+tests", head, "head", "test")
	}
	for _, s := range all {
		t.title("  ", s.title())
		t.section(s, before, head)
	}
}

// columns measures the words for what was seen.
func columns(all []section) (before, head int) {
	before, head = len("base+tests"), len("head")
	for _, s := range all {
		for _, g := range s.groups {
			before, head = max(before, len(g.before)), max(head, len(g.head))
		}
	}
	return before, head
}

// section lists checks: one by one where they are few, a crowd of one cause as
// one line, ten lines in all.
func (t *text) section(s section, before, head int) {
	lines, told := 0, 0
	for _, g := range s.groups {
		for i, c := range g.checks {
			if lines == fold && !t.verbose {
				t.line("    ... and %s more, %s (--verbose shows them)", number(s.checks-told), strings.ToLower(s.kind.short))
				return
			}
			whole := g.crowded() && !t.verbose
			t.row(g, c, whole, before, head)
			lines++
			if whole {
				told += len(g.checks)
				t.explain("for one, ", explanation(c), g)
				break
			}
			told++
			if i == len(g.checks)-1 || explanation(c) != explanation(g.checks[i+1]) {
				t.explain("", explanation(c), g)
			}
		}
	}
}

func (t *text) row(g group, c gate.Check, whole bool, before, head int) {
	id, at := c.ID, place(c)
	if whole {
		id, at = g.label(), ""
	}
	room := max(t.width-before-head-8, 24)
	id = Sanitize(id, 0)
	if !t.verbose {
		id = cutMiddle(id, room)
	}
	at = Sanitize(at, 0)
	beside := at != "" && utf8.RuneCountInString(id+at)+2 <= room
	if beside {
		id += "  " + at
	}
	t.line("    %-*s  %-*s  %s", before, g.before, head, g.head, id)
	if at != "" && !beside {
		t.line("      %s", t.id(at, t.width-6))
	}
}

// explain prints the message behind a row. A crowd whose checks each have their
// own is told by one of them.
func (t *text) explain(one, message string, g group) {
	if message == "" {
		return
	}
	if one != "" && shared(g.checks[0]) != "" {
		one = ""
	}
	limit := 240
	if t.verbose {
		limit = 2000
	}
	t.wrap("      ", one+Sanitize(message, limit))
}

func (t *text) flips(flips []gate.Flip) {
	if len(flips) == 0 {
		return
	}
	t.heading(fmt.Sprintf("Flips: %s on base, %s on head, untouched by this change", passWord(len(flips)), failWord(len(flips))))
	for i, flip := range flips {
		if t.folded(i, len(flips), "  ", "flips") {
			break
		}
		t.line("  %s", t.id(flip.ID, t.width-2))
		t.wrap("      ", Sanitize("fails on head "+firm(flip)+after(": ", flip.Message), 300))
		for _, cause := range blamedFor(flip) {
			t.wrap("      ", Sanitize(cause, 300))
		}
		if len(flip.Reproduce) > 0 {
			t.line("      to see it: %s", Shell(flip.Reproduce))
		}
	}
}

func passWord(n int) string { return number(n) + verb(n, " test passes", " tests pass") }
func failWord(n int) string { return verb(n, "fails", "fail") }

func (t *text) lost(lost []gate.Lost) {
	if len(lost) == 0 {
		return
	}
	t.heading(fmt.Sprintf("Lost: %s ran on base and %s no result on head", count(len(lost), "test"), verb(len(lost), "has", "have")))
	for i, l := range lost {
		if t.folded(i, len(lost), "  ", "lost tests") {
			break
		}
		how := Sanitize(spaced(l.How), 20)
		t.line("  %-13s  %s", how, t.id(l.ID, t.width-17))
		if words := onHeadWords[l.OnHead]; words != "" {
			t.wrap(strings.Repeat(" ", 17), words)
		}
	}
}

// id is an id in its room; whole when verbose.
func (t *text) id(id string, room int) string {
	if t.verbose {
		return Sanitize(id, 0)
	}
	return cutMiddle(Sanitize(id, 0), room)
}

func (t *text) findings(findings []gate.Finding) {
	if len(findings) == 0 {
		return
	}
	t.heading("Findings")
	for i, f := range findings {
		if t.folded(i, len(findings), "  ", "findings") {
			break
		}
		t.wrap("  ", Sanitize(fmt.Sprintf("%s: %s%s (%s)", f.Severity, where(f), f.Message, f.Rule), 500))
	}
}

// footer says what was compared and what it took.
func (t *text) footer(r *gate.Report) {
	t.line("")
	if r.Change.Base != "" || r.Change.Head != "" {
		t.wrap("", Sanitize(compared(r.Change), 500))
	}
	t.split(r.Split)
	if words := coverage(r.Selection, r.Audit); words != "" {
		t.wrap("", Sanitize(words, 500))
	}
	for _, words := range furtherWords(r) {
		t.wrap("", Sanitize(words, 500))
	}
	t.wrap("", Sanitize(cost(r), 500))
	for _, words := range r.Notes {
		t.wrap("", "Note: "+Sanitize(words, 1000))
	}
	if t.verbose {
		t.made(r)
	}
}

func (t *text) split(split []gate.SplitEntry) {
	if len(split) == 0 {
		t.line("No file changed.")
		return
	}
	t.wrap("", "Split: "+files(split)+".")
	if !t.verbose {
		return
	}
	for _, entry := range split {
		path := Sanitize(entry.Path, 0)
		if entry.OldPath != nil {
			path = Sanitize(*entry.OldPath, 0) + " -> " + path
		}
		why := Sanitize(entry.Why, 0)
		if parts := hunks(entry); parts != "" {
			why += "; " + Sanitize(parts, 300)
		}
		t.line("  %-10s  %s  (%s)", Sanitize(entry.Part, 20), path, why)
	}
}

// made says how each state was made, and what ran there.
func (t *text) made(r *gate.Report) {
	for _, name := range stateNames(r) {
		s := r.States[name]
		words := fmt.Sprintf("State %s: %s", name, s.Sandbox)
		if len(s.Layers) > 0 {
			words += " (" + strings.Join(s.Layers, ", ") + ")"
		}
		words += fmt.Sprintf(", made in %.3f s", s.PreparedSeconds)
		if s.SameAs != "" {
			words += fmt.Sprintf("; the same tree as %s", s.SameAs)
		}
		t.wrap("", Sanitize(words, 1000))
		for _, c := range r.Commands {
			if c.State == name {
				t.line("  %s", Shell(c.Argv))
			}
		}
	}
}

// Wrap breaks a paragraph into lines of a terminal's width (0: unknown), the
// first one after lead and the others below its end. None of them is a command
// to a CI runner, wherever a line happens to break.
func Wrap(lead, paragraph string, width int) string {
	if width < narrow {
		width = usual
	}
	t := &text{width: width}
	indent := utf8.RuneCountInString(lead)
	for _, line := range t.broken(paragraph, indent) {
		t.line("%s%s", lead, line)
		lead = strings.Repeat(" ", indent)
	}
	return t.String()
}

// wrap prints a paragraph within the width, every line indented.
func (t *text) wrap(indent, paragraph string) {
	for _, line := range t.broken(paragraph, len(indent)) {
		t.line("%s%s", indent, line)
	}
}

// broken breaks a paragraph into lines that leave room for an indent. A word
// longer than a line stays whole: it is a path or a command to copy.
func (t *text) broken(paragraph string, indent int) []string {
	room := max(min(t.width, wide)-indent, 20)
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(paragraph) {
		size := utf8.RuneCountInString(word)
		if used > 0 && used+1+size > room {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+size
	}
	return append(lines, line)
}
