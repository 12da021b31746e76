package figures

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

func writeText(w io.Writer, s audit.Summary) error {
	out := bufio.NewWriter(w)
	for _, l := range lines(s) {
		fmt.Fprintf(out, "%s: %s\n", l.name, l.value)
		fmt.Fprintf(out, "    %s\n", l.means)
		if l.not != "" {
			fmt.Fprintf(out, "    (%s)\n", l.not)
		}
	}
	for _, t := range tables(s) {
		if len(t.parts) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s (%s)\n", t.title, t.not)
		for _, p := range t.parts {
			fmt.Fprintf(out, "    %-32s %s\n", plain(p.Name), strings.Join(cells(t, p), "  "))
		}
	}
	return out.Flush()
}

// cells are what a table says of one part.
func cells(t table, p audit.Part) []string {
	flips := fmt.Sprintf("%d found, about %.1f in all", p.Found, p.Estimated)
	if !t.rates {
		return []string{flips}
	}
	return []string{fmt.Sprintf("%d passing, %d audited", p.Passing, p.Audited), flips, percent(p.Rate)}
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
	fmt.Fprint(out, "## Audit of what selection misses\n\n| | | what it means | what it does not |\n|---|---|---|---|\n")
	for _, l := range lines(s) {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", l.name, cell(l.value), cell(l.means), cell(l.not))
	}
	for _, t := range tables(s) {
		if len(t.parts) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n### %s\n\n%s\n\n", t.title, t.not)
		header := []string{"", "flips"}
		if t.rates {
			header = []string{"", "attempts", "flips", "rate"}
		}
		fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
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
