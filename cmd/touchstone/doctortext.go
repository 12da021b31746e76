package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/report"
)

// writeText prints a diagnosis for a terminal of a width (0: unknown): one block
// for each runner, what is wrong last. A command stays one line, to be copied.
func (d *diagnosis) writeText(w io.Writer, width int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "commit   %.12s\nsandbox  %s\n", d.Commit, d.Sandbox.Kind)
	line := func(name, text string) {
		if text != "" {
			out.WriteString(report.Wrap(fmt.Sprintf("  %-8s ", name), report.Sanitize(text, 0), width))
		}
	}
	line("because", d.Sandbox.Why)
	line("layers", strings.Join(d.Sandbox.Layers, ", "))
	for _, r := range d.Runners {
		fmt.Fprintf(out, "\n%s %s in %s\n", mark(r), report.Sanitize(r.Name, 0), report.Sanitize(r.Dir, 0))
		line("why", r.Why)
		line("version", r.Version)
		if r.Units > 0 {
			line("tests", fmt.Sprintf("%d, in %d %s", r.Rows, r.Units, holders(r)))
		}
		if r.Proof != nil {
			line("proof", r.Proof.words())
		}
		if len(r.Command) > 0 {
			fmt.Fprintf(out, "  command  %s\n", report.Shell(r.Command))
		}
		for _, problem := range r.Problems {
			line("problem", problem)
		}
	}
	for _, note := range d.Notes {
		out.WriteString("\n" + report.Wrap("note: ", report.Sanitize(note, 0), width))
	}
	if d.OK {
		fmt.Fprintln(out, "\nevery runner ran a test here")
	} else {
		out.WriteString("\n" + report.Wrap("", "not every runner could run a test here: mend the problems above; docs/runners.md tells how each framework is found and started", width))
	}
	return out.Flush()
}

func mark(r runnerFound) string {
	if r.Proof != nil {
		return "ok  "
	}
	return "FAIL"
}

func (p *proof) words() string {
	text := fmt.Sprintf("%s %s in %.2f s", p.ID, p.Outcome, p.Seconds)
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// holders is what the tests of a framework are found in.
func holders(r runnerFound) string {
	one, many := "file", "files"
	switch r.Framework {
	case "gotest":
		one, many = "package", "packages"
	case "cargo":
		one, many = "test target", "test targets"
	case "junit", "tap": // a command that cannot be asked for one file
		one, many = "file or directory", "files or directories"
	}
	if r.Units == 1 {
		return one
	}
	return many
}
