package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/report"
	"github.com/touchstone-gate/touchstone/rts"
)

// printed is a selection on its way out.
type printed struct {
	rts.Selection
	left    []rts.Selected // beyond the budget
	runners []gate.Runner
	tree    gate.Tree // head's
}

// commander is a runner that knows the exact command for some of its units: the
// repository's own script says how the framework is started.
type commander interface {
	Shown(tree gate.Tree, units []string) []string
}

// selectionJSON is the shape of select --format json, schema 1.
type selectionJSON struct {
	Schema      int       `json:"schema"`
	Strategy    string    `json:"strategy"`
	Fallback    string    `json:"fallback"`
	Of          int       `json:"of"`
	ShareOfTime float64   `json:"share_of_time"`
	Rows        []rowJSON `json:"rows"`
	LeftOut     []rowJSON `json:"left_out,omitempty"` // by the budget
	Commands    []string  `json:"commands"`
}

type rowJSON struct {
	ID      string   `json:"id"`
	Runner  string   `json:"runner"`
	File    string   `json:"file"`
	Reasons []string `json:"reasons"`
	Seconds float64  `json:"seconds"`
	Whole   bool     `json:"whole,omitempty"` // id is a file or package: all its tests
}

func printSelection(out, words io.Writer, format string, p printed) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return undecided(encoder.Encode(p.json()))
	case "args":
		if p.Fallback != "" {
			fmt.Fprintf(words, "touchstone: %s\n", p.Fallback)
		}
		for _, arg := range p.arguments() {
			if strings.ContainsAny(arg, " \t\n\"'\\*?[$`") {
				arg = path.Clean(strings.SplitN(arg, "::", 2)[0]) // the shell would take it apart: its file
			}
			fmt.Fprintln(out, arg)
		}
		return nil
	}
	p.text(out)
	return nil
}

func (p printed) json() selectionJSON {
	return selectionJSON{
		Schema: 1, Strategy: string(p.Strategy), Fallback: p.Fallback, Of: p.Of, ShareOfTime: p.Share,
		Rows: rowsJSON(p.Rows), LeftOut: rowsJSON(p.left), Commands: p.commands(),
	}
}

func rowsJSON(rows []rts.Selected) []rowJSON {
	list := make([]rowJSON, len(rows))
	for i, row := range rows {
		list[i] = rowJSON{row.ID, row.Runner, row.File, row.Reasons, row.Seconds, row.Whole}
	}
	return list
}

func (p printed) text(out io.Writer) {
	for _, row := range p.Rows {
		fmt.Fprintf(out, "%s  (%s)\n", clean(row.ID), clean(strings.Join(row.Reasons, ", ")))
	}
	fmt.Fprintf(out, "%d of %d selected, %.0f %% of the suite's time, strategy %s\n", len(p.Rows), p.Of, 100*p.Share, p.Strategy)
	if p.Fallback != "" {
		fmt.Fprintf(out, "fallback: %s\n", clean(p.Fallback))
	}
	if len(p.left) > 0 {
		fmt.Fprintf(out, "left out by the budget: %d, as %s\n", len(p.left), clean(p.left[0].ID))
	}
	for _, command := range p.commands() {
		fmt.Fprintf(out, "run: %s\n", clean(command))
	}
}

// clean makes text of the repository's harmless for a terminal.
func clean(text string) string { return report.Sanitize(text, 4096) }

// byRow and byFile are how frameworks are started that take rows, or test files,
// as arguments; any other runs whole.
var (
	byRow  = map[string]string{"gotest": "go test", "pytest": "python -m pytest"}
	byFile = map[string]string{"jest": "npx jest", "vitest": "npx vitest run", "mocha": "npx mocha", "ava": "npx ava", "node": "node --test", "rspec": "rspec"}
	whole  = map[string]string{"cargo": "cargo test", "maven": "mvn test", "gradle": "gradle test", "ctest": "ctest", "phpunit": "phpunit", "dotnet": "dotnet test", "minitest": "rake test", "unittest": "python -m unittest", "django": "python manage.py test"}
)

// commands are what a person would paste to run the rows.
func (p printed) commands() []string {
	commands := []string{}
	for _, r := range p.runners {
		args := p.of(r.Name(), r.Framework())
		start := byRow[r.Framework()] + byFile[r.Framework()]
		own, knows := r.(commander)
		switch {
		case len(args) == 0:
		case knows:
			commands = append(commands, report.Shell(own.Shown(p.tree, args)))
		case start != "":
			commands = append(commands, start+" "+report.Shell(args))
		case whole[r.Framework()] != "":
			commands = append(commands, whole[r.Framework()])
		}
	}
	return commands
}

func (p printed) arguments() []string {
	var all []string
	for _, r := range p.runners {
		all = append(all, p.of(r.Name(), r.Framework())...)
	}
	return all
}

// of are the arguments that name a runner's rows to its framework: pytest takes
// files and ids, go test packages and one pattern of names, others files.
func (p printed) of(runner, framework string) []string {
	var args, names []string
	narrow := true
	for _, row := range p.Rows {
		if row.Runner != runner {
			continue
		}
		arg := row.ID
		if framework == "gotest" {
			arg = "./" + row.Unit
			narrow = narrow && !row.Whole && !row.All
			names = append(names, row.ID[strings.LastIndexByte(row.ID, '.')+1:])
		} else if byRow[framework] == "" || row.All || strings.Contains(arg, "#") || strings.Contains(arg, "0x_") {
			arg = row.Unit
		}
		if !slices.Contains(args, arg) {
			args = append(args, arg)
		}
	}
	if framework == "gotest" && narrow && len(names) > 0 {
		slices.Sort(names)
		args = append([]string{"-run", "^(" + strings.Join(slices.Compact(names), "|") + ")$"}, args...)
	}
	return args
}
