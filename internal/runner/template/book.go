package template

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// book is what one command's report said.
type book struct {
	*Runner
	units []string
	batch gate.Batch
	rows  []gate.Observed
	count map[string]int
	tap   *tap
	owner map[string]string // by class: the file that it belongs to
}

func newBook(r *Runner, units []string, batch gate.Batch) *book {
	return &book{Runner: r, units: units, batch: batch, count: make(map[string]int), owner: make(map[string]string)}
}

func (b *book) read(from io.Reader) (err error) {
	if b.Config.Framework == JUnit {
		return junit.Read(from, b.takeCase)
	}
	b.tap, err = readTAP(from, b.takePoint)
	return err
}

// takeCase enters a JUnit case under "package.Class#method".
func (b *book) takeCase(c junit.Case) {
	class := c.Class
	if class == "" {
		class = c.Suite
	}
	id := c.Name
	if class != "" {
		id = class + "#" + c.Name
	}
	unit := b.unitOf(c, class)
	b.add(gate.Row{ID: id, Name: c.Name, Unit: unit, File: fileOf(unit, c, b.Dir), Line: c.Line}, c.Attempts())
}

// unitOf is the file that a case belongs to: the one it names, the only one
// asked for, the one named as its class is, else the directory.
func (b *book) unitOf(c junit.Case, class string) string {
	if !b.byFile() {
		return b.Dir
	}
	for _, unit := range b.units {
		if c.File != "" && strings.HasSuffix(strings.ReplaceAll(c.File, `\`, "/"), treepath.Relative(b.Dir, unit)) {
			return unit
		}
	}
	if unit, known := b.owner[class]; known {
		return unit
	}
	b.owner[class] = b.named(class)
	return b.owner[class]
}

// named is the file that a class is of by its name, else the only one asked for,
// else the directory.
func (b *book) named(class string) string {
	// A class is named as its file is, or stands inside the file's module.
	parts := strings.FieldsFunc(class, func(r rune) bool { return strings.ContainsRune(`.\/$`, r) })
	for n := len(parts); n > 0; n-- {
		for from := range n {
			named := strings.Join(parts[from:n], "/")
			for _, unit := range b.units {
				stem := strings.TrimSuffix(unit, path.Ext(unit))
				if stem == named || strings.HasSuffix(stem, "/"+named) {
					return unit
				}
			}
		}
	}
	if len(b.units) == 1 {
		return b.units[0]
	}
	return b.Dir
}

func fileOf(unit string, c junit.Case, dir string) string {
	if unit != dir {
		return unit
	}
	return c.File
}

// takePoint enters a point under "file > test > part". Assertions inside a test
// are parts of it.
func (b *book) takePoint(p point) {
	if path.IsAbs(p.path[0]) && strings.HasSuffix(p.path[0], "/"+treepath.Relative(b.Dir, b.units[0])) { // node:test's title of a whole file
		p.path = p.path[1:]
	}
	if len(p.path) == 0 {
		b.add(gate.Row{ID: b.units[0], Name: b.units[0], Unit: b.units[0], File: b.units[0]}, []gate.Observation{b.byParts(b.units[0], p.whole(b.units[0]))})
		return
	}
	top := append([]string{b.units[0]}, p.path...)
	row := gate.Row{ID: strings.Join(top, between), Name: p.path[len(p.path)-1], Unit: b.units[0], File: b.units[0]}
	if !p.subtest && len(p.path) > 1 {
		row.Parent = strings.Join(top[:len(top)-1], between)
	}
	o := p.observation()
	if p.subtest && o.Outcome == gate.Failed {
		o = b.byParts(row.ID, o)
	}
	b.add(row, []gate.Observation{o})
}

// whole is what a point that speaks of a whole file came to.
func (p point) whole(unit string) gate.Observation {
	p.path = []string{unit}
	return p.observation()
}

// byParts gives a test that failed through its parts what the strongest of them
// came to: one that did not hold before one that needs a missing name.
func (b *book) byParts(id string, o gate.Observation) gate.Observation {
	weight := 0
	for _, part := range b.rows {
		if !strings.HasPrefix(part.Row.ID, id+between) || !red(part) {
			continue
		}
		last := part.Observations[len(part.Observations)-1]
		w := 1
		if len(last.Missing) == 0 {
			w++
		}
		if w > weight {
			weight, o = w, last
		}
	}
	return o
}

const between = " > "

func (b *book) add(row gate.Row, observations []gate.Observation) {
	row.Runner = b.Name()
	b.count[row.ID]++
	if n := b.count[row.ID]; n > 1 {
		row.ID += "#" + strconv.Itoa(n)
	}
	b.rows = append(b.rows, gate.Observed{Row: row, Observations: observations})
	if b.batch.Seen != nil {
		b.batch.Seen(row.ID, observations[len(observations)-1].Outcome)
	}
}

// close hands the rows on, or says why they are worth nothing.
func (b *book) close(exit gate.Exit, broken error, words string, result *gate.Result) {
	why := b.doubt(exit, broken)
	b.group(why != "", words)
	if why != "" {
		o := noReport("%s (%s)", why, words)
		o.Missing = junit.Missing(words)
		if exit.TimedOut {
			o = gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: exit.Wall, Message: "still running at the time limit"}
		}
		for _, unit := range b.units {
			result.Units = append(result.Units, gate.UnitFailure{Unit: unit, Observation: o})
		}
	}
	contradicted := why == "" && exit.Code != 0 && !slices.ContainsFunc(b.rows, red)
	for _, observed := range b.rows {
		if len(b.batch.Rows) > 0 && !slices.Contains(b.batch.Rows, observed.Row.ID) && !slices.Contains(b.batch.Rows, observed.Row.Parent) {
			continue
		}
		if contradicted {
			observed.Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("the command exited with %d although its report holds no failure (%s)", exit.Code, words))}}
		}
		result.Rows = append(result.Rows, observed)
	}
}

func red(o gate.Observed) bool {
	last := o.Observations[len(o.Observations)-1].Outcome
	return last != gate.Passed && last != gate.Skipped
}

// doubt says why a report is not whole, "" when it is.
func (b *book) doubt(exit gate.Exit, broken error) string {
	switch {
	case exit.TimedOut:
		return "still running at the time limit"
	case exit.Signal != "":
		return "the command ended by " + exit.Signal
	case broken != nil:
		return broken.Error()
	case b.tap != nil && b.tap.incomplete() != "":
		return b.tap.incomplete()
	case len(b.rows) == 0:
		return "the report holds no test"
	}
	return ""
}

// group makes tests of titles that only head assertions, as tape writes them: a
// test holds when all its assertions do.
func (b *book) group(broken bool, words string) {
	known := make(map[string]bool)
	for _, o := range b.rows {
		known[o.Row.ID] = true
	}
	var groups []gate.Observed
	at := make(map[string]int)
	for _, o := range b.rows {
		parent := o.Row.Parent
		if parent == "" || known[parent] {
			continue
		}
		i, seen := at[parent]
		if !seen {
			i = len(groups)
			at[parent] = i
			groups = append(groups, gate.Observed{Row: gate.Row{
				ID: parent, Runner: b.Name(), Name: parent[strings.LastIndex(parent, between)+len(between):], Unit: o.Row.Unit, File: o.Row.File,
			}, Observations: []gate.Observation{{Outcome: gate.Passed}}})
		}
		if last := o.Observations[0]; groups[i].Observations[0].Outcome == gate.Passed && last.Outcome != gate.Passed && last.Outcome != gate.Skipped {
			groups[i].Observations[0] = last
		}
	}
	if n := len(groups); broken && n > 0 && b.tap != nil && b.tap.title == groups[n-1].Row.Name && groups[n-1].Observations[0].Outcome == gate.Passed {
		// The stream broke off below this title.
		groups[n-1].Observations[0] = gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: gate.Message("the process ended in the middle of it: " + words), Missing: junit.Missing(words)}
	}
	b.rows = append(groups, b.rows...)
}

func noReport(format string, args ...any) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(fmt.Sprintf(format, args...))}
}
