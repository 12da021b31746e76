// Package report writes a gate.Report for people and programs: text for a
// terminal, Markdown for GitHub (a check run, a comment, a job summary), JSON,
// SARIF and JUnit for programs, HTML for a browser; and draws the progress line.
//
// Goals: the verdict first, then why and what to do next, then the evidence;
// many rows with one cause are one line; nothing that came out of a test or a
// path takes effect as markup, as an escape sequence or as a command of a CI
// runner. The same report always gives the same bytes.
//
// Non-goals: deciding anything, reading files, posting. What cannot be seen in
// the report is not said.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Options say for whom a report is written.
type Options struct {
	Color   bool // the caller has minded NO_COLOR and whether it is a terminal
	Width   int  // columns of the terminal; 0 when unknown
	Verbose bool // every file, row and command
}

// Formats are the names that Write knows.
func Formats() []string { return []string{"text", "markdown", "json", "html", "sarif", "junit"} }

// Write writes a report in one of the formats. It does not change the report.
func Write(w io.Writer, format string, r *gate.Report, o Options) error {
	var content []byte
	var err error
	switch format {
	case "text":
		content = renderText(r, o)
	case "markdown":
		content = renderMarkdown(r, o)
	case "json":
		content, err = renderJSON(r)
	case "html":
		content, err = renderHTML(r)
	case "sarif":
		content, err = renderSARIF(r)
	case "junit":
		content, err = renderJUnit(r)
	default:
		return fmt.Errorf("report format %q: use one of %s", format, strings.Join(Formats(), ", "))
	}
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return fmt.Errorf("writing the report as %s: %w", format, err)
	}
	return nil
}
