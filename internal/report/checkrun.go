package report

import (
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// CheckText is a report as a check run shows it.
type CheckText struct {
	Title   string // one sentence of plain text
	Summary string // Markdown: the verdict, why, what to do; then what was seen
	Text    string // Markdown: what was compared, every test, what it took
}

// titleLength is how many bytes of a title GitHub keeps.
const titleLength = 255

// Check draws a report as a check run. omitted is how many remarks were left
// out of its annotations.
func Check(r *gate.Report, omitted int) CheckText {
	var summary, text markdown
	summary.verdict(r)
	summary.own(r)
	summary.flips(r.Flips)
	summary.lost(r.Lost)
	summary.findings(other(r.Findings))
	if omitted > 0 {
		summary.line("\n%s more stand in report.json, not beside the code.", count(omitted, "remark"))
	}
	text.details(r, Options{})
	text.everyTest(r, Options{})
	return CheckText{Title: Title(r), Summary: cut(summary.String(), Limit), Text: cut(text.String(), Limit)}
}

// Title is the verdict in one sentence.
func Title(r *gate.Report) string {
	line, _ := headline(r.Verdict)
	title := Sanitize(capital(spaced(r.Verdict.Conclusion.String()))+": "+line, titleLength/2)
	if r.Advisory {
		title += " (advisory)"
	}
	for len(title) > titleLength {
		runes := []rune(title)
		title = string(runes[:len(runes)-1])
	}
	return title
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// Remark is a finding beside the lines it is about, in plain text.
type Remark struct {
	Path    string
	Line    int
	Level   string // failure, warning
	Title   string
	Message string
}

// Remarks are the findings that are worth a place beside the code, the gravest
// first, at most limit of them, and how many more there are. Notes are none.
func Remarks(r *gate.Report, limit int) (remarks []Remark, omitted int) {
	levels := map[gate.Severity]string{gate.SeverityError: "failure", gate.SeverityWarning: "warning"}
	for _, severity := range []gate.Severity{gate.SeverityError, gate.SeverityWarning} {
		for _, f := range r.Findings {
			if f.Severity != severity || !annotatable(f.Path) {
				continue
			}
			if len(remarks) == limit {
				omitted++
				continue
			}
			remarks = append(remarks, Remark{
				Path: f.Path, Line: min(max(f.Line, 1), 10_000_000), Level: levels[severity],
				Title: Sanitize(spaced(strings.ReplaceAll(f.Rule, "-", " ")), 100), Message: Sanitize(f.Message, 2000),
			})
		}
	}
	return remarks, omitted
}

// annotatable holds for a path of the repository that can be shown as it is.
func annotatable(file string) bool {
	return file != "" && file != "." && len(file) < 1000 && path.Clean(file) == file && !path.IsAbs(file) && file != ".." && !strings.HasPrefix(file, "../") && Sanitize(file, 0) == file
}
