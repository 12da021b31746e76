package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/internal/report"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// splitJSON is what split prints for programs. Each entry has the shape that it
// has in report.json, with its status and both sides of its hunks.
type splitJSON struct {
	Schema       int              `json:"schema"`
	Tool         string           `json:"tool"`
	Base         string           `json:"base,omitempty"`
	Head         string           `json:"head,omitempty"`
	Kind         string           `json:"kind"`
	KindEvidence string           `json:"kind_evidence"`
	Counts       map[string]int   `json:"counts"`
	Split        []splitEntry     `json:"split"`
	TestConfig   []string         `json:"test_config"` // paths that can change which tests run, and how
	Explain      []splitExplained `json:"explain,omitempty"`
}

type splitEntry struct {
	Path    string      `json:"path"`
	OldPath *string     `json:"old_path"`
	Status  string      `json:"status"`
	Part    string      `json:"part"`
	Class   string      `json:"class,omitempty"`
	Why     string      `json:"why"`
	Hunks   []splitHunk `json:"hunks,omitempty"`
}

type splitHunk struct {
	OldStart int    `json:"old_start"`
	OldLines int    `json:"old_lines"`
	NewStart int    `json:"new_start"`
	NewLines int    `json:"new_lines"`
	Part     string `json:"part"`
}

type splitExplained struct {
	Path  string        `json:"path"`
	Part  string        `json:"part"`
	Class string        `json:"class,omitempty"`
	Why   string        `json:"why"`
	Asked []splitAnswer `json:"asked"`
}

type splitAnswer struct {
	Rule string `json:"rule"`
	Part string `json:"part"` // "" where the rule did not know
}

func (d *division) writeJSON(w io.Writer, explain []string) error {
	out := splitJSON{
		Schema: 1, Tool: "touchstone " + version, Base: d.base, Head: d.head, Kind: d.kind, KindEvidence: d.evidence,
		Counts: make(map[string]int), Split: []splitEntry{}, TestConfig: d.testConfig(),
	}
	for _, part := range d.parts {
		out.Counts[part.Part.String()]++
		out.Split = append(out.Split, entryOf(part))
	}
	for _, path := range explain {
		out.Explain = append(out.Explain, d.explained(path))
	}
	return writeIndented(w, out)
}

// writeIndented prints JSON for programs that a person may read too.
func writeIndented(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

func entryOf(part patchsplit.FilePart) splitEntry {
	entry := splitEntry{Path: part.Path, Status: part.Status.String(), Part: part.Part.String(), Class: part.Class, Why: part.Why}
	if part.OldPath != "" {
		entry.OldPath = &part.OldPath
	}
	for _, h := range part.Hunks {
		entry.Hunks = append(entry.Hunks, splitHunk{h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Part.String()})
	}
	return entry
}

func (d *division) testConfig() []string {
	paths := []string{}
	for _, part := range d.parts {
		if part.Class == patchsplit.ClassTestConfig {
			paths = append(paths, part.Path)
		}
	}
	return paths
}

func (d *division) explained(path string) splitExplained {
	answers := d.classifier.Explain(path)
	last := answers[len(answers)-1]
	out := splitExplained{Path: path, Part: last.Part.String(), Class: last.Class, Why: last.Why}
	for _, answer := range answers {
		out.Asked = append(out.Asked, splitAnswer{answer.Asked, answer.Part.String()})
	}
	if i := slices.IndexFunc(d.parts, func(p patchsplit.FilePart) bool { return p.Path == path }); i >= 0 {
		out.Part, out.Class, out.Why = d.parts[i].Part.String(), d.parts[i].Class, d.parts[i].Why
	}
	return out
}

// writeText prints the parts as a table, or only the explanations when those
// were asked for.
func (d *division) writeText(w io.Writer, explain []string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for _, path := range explain {
		d.explainText(out, path)
	}
	if len(explain) == 0 {
		d.table(out)
	}
	return out.Flush()
}

func (d *division) table(out *bufio.Writer) {
	for _, part := range []patchsplit.Part{patchsplit.Production, patchsplit.Mixed, patchsplit.Test, patchsplit.Neutral} {
		if files := d.filesOf(part); len(files) > 0 {
			fmt.Fprintf(out, "%s (%d)\n", part, len(files))
			writeFiles(out, files)
		}
	}
	if len(d.parts) == 0 {
		out.WriteString("nothing changed\n")
		return
	}
	if paths := d.testConfig(); len(paths) > 0 {
		fmt.Fprintf(out, "can change which tests run, and how: %s\n", report.Sanitize(strings.Join(paths, ", "), 0))
	}
	fmt.Fprintf(out, "kind: %s (%s)\n", d.kind, report.Sanitize(d.evidence, 0))
}

// filesOf are the files of one part.
func (d *division) filesOf(part patchsplit.Part) []*patchsplit.FilePart {
	var files []*patchsplit.FilePart
	for i := range d.parts {
		if d.parts[i].Part == part {
			files = append(files, &d.parts[i])
		}
	}
	return files
}

// writeFiles prints two columns: files, with their hunks below them, and why they
// are where they are. text/tabwriter would take longer than the splitting.
func writeFiles(out *bufio.Writer, files []*patchsplit.FilePart) {
	width := 0
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = fileWords(file)
		width = max(width, len("  ")+utf8.RuneCountInString(names[i]))
		for _, h := range file.Hunks {
			width = max(width, len("    ")+len(hunkWords(h)))
		}
	}
	for i, file := range files {
		writeRow(out, width, "  ", names[i], report.Sanitize(file.Why, 0), classWords(file.Class))
		for _, h := range file.Hunks {
			writeRow(out, width, "    ", hunkWords(h), h.Part.String(), "")
		}
	}
}

const blanks = "                                                                "

// writeRow prints one row; the first column is so many runes wide.
func writeRow(out *bufio.Writer, width int, indent, left, right, more string) {
	out.WriteString(indent)
	out.WriteString(left)
	for gap := width + 2 - len(indent) - utf8.RuneCountInString(left); gap > 0; gap -= len(blanks) {
		out.WriteString(blanks[:min(gap, len(blanks))])
	}
	out.WriteString(right)
	out.WriteString(more)
	out.WriteByte('\n')
}

func fileWords(file *patchsplit.FilePart) string {
	words := report.Sanitize(file.Path, 0)
	if file.OldPath != "" {
		words += " (" + file.Status.String() + " from " + report.Sanitize(file.OldPath, 0) + ")"
	} else if file.Status != patchsplit.Modified {
		words += " (" + file.Status.String() + ")"
	}
	return words
}

func classWords(class string) string {
	if class == "" {
		return ""
	}
	return " [" + class + "]"
}

func hunkWords(h patchsplit.Hunk) string {
	switch {
	case h.NewLines == 1:
		return fmt.Sprintf("line %d", h.NewStart)
	case h.NewLines > 1:
		return fmt.Sprintf("lines %d-%d", h.NewStart, h.NewStart+h.NewLines-1)
	case h.OldLines == 1:
		return fmt.Sprintf("removed line %d", h.OldStart)
	}
	return fmt.Sprintf("removed lines %d-%d", h.OldStart, h.OldStart+h.OldLines-1)
}

func (d *division) explainText(out *bufio.Writer, path string) {
	e := d.explained(path)
	fmt.Fprintf(out, "%s: %s, %s%s\n", report.Sanitize(path, 0), e.Part, report.Sanitize(e.Why, 0), classWords(e.Class))
	columns := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for i, answer := range e.Asked {
		said := answer.Part
		if said == "" {
			said = "-"
		}
		fmt.Fprintf(columns, "  %d.\t%s\t%s\n", i+1, answer.Rule, said)
	}
	columns.Flush()
}
