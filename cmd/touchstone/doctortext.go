package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/report"
)

// writeText prints a diagnosis: one block for each runner, what is wrong last.
func (d *diagnosis) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "commit   %.12s\nsandbox  %s\n", d.Commit, d.Sandbox.Kind)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "  %-8s %s\n", name, report.Sanitize(text, 0))
		}
	}
	line("because", d.Sandbox.Why)
	line("layers", strings.Join(d.Sandbox.Layers, ", "))
	for _, r := range d.Runners {
		fmt.Fprintf(out, "\n%s %s in %s\n", mark(r), report.Sanitize(r.Name, 0), report.Sanitize(r.Dir, 0))
		line("why", r.Why)
		line("version", r.Version)
		if r.Units > 0 {
			line("tests", fmt.Sprintf("%s in %s", counted(r.Rows, "row"), counted(r.Units, "unit")))
		}
		if r.Proof != nil {
			line("proof", r.Proof.words())
		}
		if len(r.Command) > 0 {
			line("command", report.Shell(r.Command))
		}
		for _, problem := range r.Problems {
			line("problem", problem)
		}
	}
	for _, note := range d.Notes {
		fmt.Fprintf(out, "\nnote: %s\n", report.Sanitize(note, 0))
	}
	if d.OK {
		fmt.Fprintln(out, "\nevery runner ran a test here")
	} else {
		fmt.Fprintln(out, "\nnot every runner could run a test here: mend the problems above; docs/runners.md tells how each framework is found and started")
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

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
