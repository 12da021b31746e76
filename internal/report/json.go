package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

// renderJSON writes report.json as the contract has it: lists and tables are
// never null, and no byte of it can steer a terminal or a CI runner.
func renderJSON(r *gate.Report) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(complete(r)); err != nil {
		return nil, err
	}
	return inert(out.Bytes()), nil
}

// complete returns the report with empty lists in place of missing ones.
func complete(r *gate.Report) *gate.Report {
	full := *r
	full.Split = filled(full.Split)
	full.Checks = slices.Clone(filled(full.Checks))
	full.Flips = filled(full.Flips)
	full.Lost = filled(full.Lost)
	full.Findings = filled(full.Findings)
	full.Commands = slices.Clone(filled(full.Commands))
	full.Notes = filled(full.Notes)
	full.Verdict.Reasons = filled(full.Verdict.Reasons)
	full.Change.Agent.Signals = filled(full.Change.Agent.Signals)
	if full.States == nil {
		full.States = map[gate.StateName]gate.StateReport{}
	}
	for i := range full.Checks {
		c := &full.Checks[i]
		c.SelectedBy = filled(c.SelectedBy)
		c.Cells = filledCells(c.Cells)
	}
	for i := range full.Commands {
		full.Commands[i].Argv = filled(full.Commands[i].Argv)
	}
	return &full
}

func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func filledCells(cells map[gate.StateName][]gate.Cell) map[gate.StateName][]gate.Cell {
	full := make(map[gate.StateName][]gate.Cell, len(cells))
	for state, list := range maps.All(cells) {
		full[state] = filled(list)
	}
	return full
}

// inert writes what could act where the JSON is printed as \u escapes, which
// mean the same to every reader of JSON: direction marks and control characters
// that JSON allows, and "##[", which a CI runner reads anywhere in a line.
func inert(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text[i:])
		}
		switch {
		case c >= ' ' && c < 0x7f && c != '#':
			out = append(out, byte(c))
		case c == utf8.RuneError: // the encoder's sign for bytes that are no text
			out = appendEscape(out, c)
		case c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)):
			out = appendEscape(out, c)
		case c == '#' && i > 0 && text[i-1] == '#':
			out = appendEscape(out, c)
		default:
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return out
}

func appendEscape(out []byte, c rune) []byte {
	if high, low := utf16.EncodeRune(c); high != unicode.ReplacementChar {
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, c)
}

// Read reads one report.json, the inverse of writing it. Unknown fields are
// allowed; another schema, an unknown outcome or conclusion, and anything after
// the report are not.
func Read(from io.Reader) (*gate.Report, error) {
	var r gate.Report
	decoder := json.NewDecoder(from)
	if err := decoder.Decode(&r); err != nil {
		return nil, fmt.Errorf("reading a report, at byte %d: %w", decoder.InputOffset(), err)
	}
	if r.Schema != gate.SchemaVersion {
		return nil, fmt.Errorf("reading a report: its schema is %d and this touchstone reads %d: use the touchstone that wrote it", r.Schema, gate.SchemaVersion)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading a report: there is more after it, at byte %d", decoder.InputOffset())
	}
	return &r, nil
}
