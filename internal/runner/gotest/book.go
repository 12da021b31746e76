package gotest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// book is one package in one call of Run: what was asked of it and what is
// known so far.
type book struct {
	*testPackage
	at      *layout
	asked   map[string]bool   // names of tests and parts, made steady; nil asks for all
	seen    map[string]bool   // names with an answer
	answers []answer          // in the order in which they started
	failed  *gate.Observation // why the whole package has no answers
	extra   []gate.Observed   // the package itself as a row
	whole   bool              // that row was asked for
	absent  map[string]bool   // test files that the build turned out to leave out

	culprits []string        // parts that brought the binary down so far
	pending  map[string]bool // tests whose other parts are to run without them

	builds, reruns, timeouts int
}

// answer is one observed test.
type answer struct {
	id, name string
	observed gate.Observation
}

func newBook(l *layout, p *testPackage) *book {
	return &book{testPackage: p, at: l, seen: make(map[string]bool), pending: make(map[string]bool)}
}

// ask adds a row id to what is wanted of the package, if the id is one of it.
func (b *book) ask(id string) {
	b.whole = b.whole || id == b.importPath
	name, ok := strings.CutPrefix(id, b.importPath+".")
	if !ok || strings.Contains(topOf(name), ".") {
		return // of a package whose path goes on with a dot
	}
	if b.asked == nil {
		b.asked = make(map[string]bool)
	}
	b.asked[name] = true
}

// wants tells whether a test was asked for, by itself or with one above it.
func (b *book) wants(name string) bool {
	if b.asked == nil || b.whole {
		return true
	}
	for name = steady(name); name != ""; name = parentOf(name) {
		if b.asked[name] {
			return true
		}
	}
	return false
}

// names are the tests and parts to ask the go command for; nil for all.
func (b *book) names() []string {
	if b.asked == nil || b.whole {
		return nil
	}
	var list []string
	for name := range b.asked {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// expected lists the tests that the sources have and that were asked for.
func (b *book) expected() []gate.Row {
	var rows []gate.Row
	for _, row := range b.rows {
		if b.wants(row.Name) && !b.absent[row.File] {
			rows = append(rows, row)
		}
	}
	return rows
}

// record keeps the first answer of a test: what a later run without the culprit
// says of its parent does not count.
func (b *book) record(id, name string, o gate.Observation) {
	if !b.seen[name] {
		b.seen[name] = true
		b.answers = append(b.answers, answer{id, name, o})
	}
}

// results are the package's rows: those that ran, then those that were left
// out, then those that should have run and did not.
func (b *book) results(left *leftOut, filtered bool) []gate.Observed {
	list := make([]gate.Observed, 0, len(b.answers))
	observations := make([]gate.Observation, len(b.answers))
	used := make(map[string]int)
	for i, a := range b.answers {
		row := b.rowOf(a)
		if steady(a.id) != a.id {
			if used[row.ID]++; used[row.ID] > 1 {
				row.ID = fmt.Sprintf("%s#%d", row.ID, used[row.ID])
			}
		}
		observations[i] = left.doubted(b.dir, a.observed)
		list = append(list, gate.Observed{Row: row, Observations: observations[i : i+1 : i+1]})
	}
	for _, row := range b.expected() {
		if b.seen[row.Name] {
			continue
		}
		observed := gate.Observed{Row: row}
		if o, out := left.row(row); out {
			observed.Observations = []gate.Observation{o}
		} else if b.failed == nil {
			observed.Observations = []gate.Observation{left.doubted(b.dir, unanswered(filtered))}
		}
		list = append(list, observed)
	}
	for _, extra := range b.extra {
		if _, without := left.setUps[b.dir]; !without {
			list = append(list, extra)
		}
	}
	return list
}

// blamePackage makes the package itself a row: its binary failed and no test of
// it did, which would else be seen nowhere.
func (b *book) blamePackage(o gate.Observation) {
	row := gate.Row{ID: b.importPath, Name: path.Base(b.importPath), Unit: b.dir}
	b.extra = []gate.Observed{{Row: row, Observations: []gate.Observation{o}}}
}

func unanswered(filtered bool) gate.Observation {
	if filtered {
		return gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the configured command's -run or -skip leaves it out"}
	}
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "the package ended and the test never ran"}
}

// rowOf describes a test or a part of one. A part has its test's source.
func (b *book) rowOf(a answer) gate.Row {
	row, ok := b.row(topOf(a.name))
	if !ok {
		row = gate.Row{Unit: b.dir}
	}
	row.ID, row.Name = steady(a.id), path.Base(steady(a.name))
	for above := parentOf(a.name); above != ""; above = parentOf(above) {
		if b.seen[above] || parentOf(above) == "" { // a part's own name may hold slashes
			row.Name = steady(strings.TrimPrefix(a.name, above+"/"))
			row.Parent = steady(a.id[:len(a.id)-len(a.name)+len(above)])
			break
		}
	}
	return row
}
