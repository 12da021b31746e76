package figures

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

func writeText(w io.Writer, s audit.Summary) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", words)
	for _, l := range lines(s) {
		fmt.Fprintf(out, "%s: %s\n    %s.\n", l.name, l.value, l.means)
		if l.not != "" {
			fmt.Fprintf(out, "    %s.\n", l.not)
		}
	}
	for _, t := range tables(s) {
		if len(t.parts) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n%s\n", t.title, t.not)
		columns := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintf(columns, "%s\t\n", strings.Join(t.header(), "\t"))
		for _, p := range t.parts {
			fmt.Fprintf(columns, "%s\t%s\t\n", plain(p.Name), strings.Join(cells(t, p), "\t"))
		}
		columns.Flush()
	}
	return out.Flush()
}

// cells are what a table says of one part, below its header.
func cells(t table, p audit.Part) []string {
	flips := []string{fmt.Sprint(p.Found), fmt.Sprintf("%.1f", p.Estimated)}
	if !t.rates {
		return flips
	}
	return append([]string{fmt.Sprint(p.Passing), fmt.Sprint(p.Audited)}, append(flips, percent(p.Rate))...)
}

// plain makes a name that came out of a repository harmless on one line.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, name)
}

func writeMarkdown(w io.Writer, s audit.Summary) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "## Audit of what selection misses\n\n%s\n\n| | | what it means | what it does not |\n|---|---|---|---|\n", words)
	for _, l := range lines(s) {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", l.name, cell(l.value), cell(l.means), cell(l.not))
	}
	for _, t := range tables(s) {
		if len(t.parts) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n### %s\n\n%s\n\n", t.title, t.not)
		fmt.Fprintf(out, "| %s |\n|---%s|\n", strings.Join(t.header(), " | "), strings.Repeat("|--:", len(t.header())-1))
		for _, p := range t.parts {
			fmt.Fprintf(out, "| %s | %s |\n", cell(plain(p.Name)), strings.Join(cells(t, p), " | "))
		}
	}
	return out.Flush()
}

// cell keeps a text within its cell, and from being markup or a mention.
func cell(text string) string {
	return strings.NewReplacer("|", "&#124;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "`", "&#96;", "[", "&#91;", "*", "&#42;", "_", "&#95;").Replace(text)
}
