package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// crossTable is whose tests accept whose code: a row for each author of tests, a
// column for each author of code.
type crossTable struct {
	Names []string
	Rows  []crossRow
}

type crossRow struct {
	Tests string
	Cells []crossCell
}

// crossCell is how many checks accept, and some that do not; empty where nobody
// was asked.
type crossCell struct{ Words, Rejected string }

// crossesTitle says how to read the table.
const crossesTitle = "Whose tests (rows) accept whose code (columns)"

// maxAttempts bounds the table: a report may come from elsewhere.
const maxAttempts = 20

// maxRejected bounds how many checks a cell names.
const maxRejected = 5

// crossesOf is nil where no other attempt was asked about.
func crossesOf(r *gate.Report) *crossTable {
	if len(r.Peers) == 0 {
		return nil
	}
	t := &crossTable{Names: []string{"head"}}
	for _, c := range r.Peers {
		for _, name := range []string{c.Tests, c.Code} {
			if name = Sanitize(name, 60); !slices.Contains(t.Names, name) && len(t.Names) < maxAttempts {
				t.Names = append(t.Names, name)
			}
		}
	}
	for _, tests := range t.Names {
		row := crossRow{Tests: tests}
		for _, code := range t.Names {
			row.Cells = append(row.Cells, cellOf(r.Peers, tests, code))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func cellOf(crosses []gate.Cross, tests, code string) (cell crossCell) {
	for _, c := range crosses {
		if Sanitize(c.Tests, 60) != tests || Sanitize(c.Code, 60) != code {
			continue
		}
		if c.Accepted+len(c.Rejected) == 0 {
			return crossCell{Words: "none ran"}
		}
		cell.Rejected = strings.Join(c.Rejected[:min(len(c.Rejected), maxRejected)], ", ")
		if more := len(c.Rejected) - maxRejected; more > 0 {
			cell.Rejected += fmt.Sprintf(" and %s more", number(more))
		}
		cell.Rejected = Sanitize(cell.Rejected, 500)
		cell.Words = fmt.Sprintf("%s of %s", number(c.Accepted), number(c.Accepted+len(c.Rejected)))
		return cell
	}
	return cell
}

func (t *text) crosses(r *gate.Report) {
	table := crossesOf(r)
	if table == nil {
		return
	}
	t.heading(crossesTitle)
	widths := make([]int, len(table.Names)+1)
	for i, name := range table.Names {
		widths[0] = max(widths[0], len([]rune(name)))
		widths[i+1] = len([]rune(name))
	}
	for _, row := range table.Rows {
		for i, cell := range row.Cells {
			widths[i+1] = max(widths[i+1], len(cell.Words), 1)
		}
	}
	words := fmt.Sprintf("    %-*s", widths[0], "")
	for i, name := range table.Names {
		words += fmt.Sprintf("  %-*s", widths[i+1], name)
	}
	t.line("%s", words)
	for _, row := range table.Rows {
		words = fmt.Sprintf("    %-*s", widths[0], row.Tests)
		for i, cell := range row.Cells {
			words += fmt.Sprintf("  %-*s", widths[i+1], cmp.Or(cell.Words, "-"))
		}
		t.line("%s", words)
	}
	for _, row := range table.Rows {
		for i, cell := range row.Cells {
			if cell.Rejected != "" {
				t.wrap("    ", fmt.Sprintf("the tests of %s reject the code of %s: %s", row.Tests, table.Names[i], cell.Rejected))
			}
		}
	}
}

// crosses is the same as a list: GitHub's columns are few.
func (m *markdown) crosses(r *gate.Report) {
	table := crossesOf(r)
	if table == nil {
		return
	}
	m.line("\n**Whose tests accept whose code**\n")
	m.line("| tests of | code of | accepted | rejected by |")
	m.line("|---|---|---|---|")
	for _, row := range table.Rows {
		for i, cell := range row.Cells {
			if cell.Words == "" {
				continue
			}
			rejected := ""
			if cell.Rejected != "" {
				rejected = code(cell.Rejected)
			}
			m.line("| %s | %s | %s | %s |", code(row.Tests), code(table.Names[i]), cell.Words, rejected)
		}
	}
}
