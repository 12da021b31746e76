package gate

import (
	"slices"
)

// StateName names a column of the matrix: a tree made of a commit and parts
// of a patch.
type StateName string

const (
	Base          StateName = "base"            // the base commit as it is
	BaseTests     StateName = "base+tests"      // base and the change's test part
	Head          StateName = "head"            // the change
	HeadBaseTests StateName = "head+base-tests" // head's source with base's version of the test part and of the test set-up
	HeadBaseInfra StateName = "head+base-infra" // head with base's hooks, plugins and options of the test framework
)

// Row is one check, named the way its framework names it.
type Row struct {
	ID     string // the framework's own id, repository-relative, stable between states
	Runner string // the configured runner's name
	Name   string // the last part of the id, for people
	Unit   string // what loads or fails as one: a test file, a Go package directory
	File   string // repository-relative path of the check's source, "" when unknown
	Line   int    // first line of its source, from 1; 0 when unknown
	End    int    // last line of its source

	// Digest identifies the check's own source and parameters; equal digests on
	// two states mean the check itself did not change. Empty when unknown.
	Digest string
	// Context identifies the test code around the check that its unit shares:
	// imports, helpers, constants, set-up. Empty when unknown.
	Context string
	// Parent is the id of the row that this one is a part of (a Go subtest's
	// test), "" for none. Parts have their parent's Digest.
	Parent string
}

// Key names a row across runners: two runner entries may run the same check
// under different conditions, and each is evidence of its own.
type Key struct {
	Runner string
	ID     string
}

// Key returns the row's key.
func (r Row) Key() Key { return Key{r.Runner, r.ID} }

// Matrix is the evidence: rows by states, each cell the list of what was
// observed there, oldest first. The zero Matrix is empty and ready for use.
type Matrix struct {
	// Repeat is how many observations a cell needs before it decides anything.
	Repeat int
	// Steered is set when the change edits what decides which tests run or what is
	// reported of them: then a proof must stand under base's version of that too.
	Steered bool
	// Gold is set when a reference fix is a column: a check is then comparable
	// only when gold+tests gave an evaluable outcome too.
	Gold bool

	rows  map[Key]*entry
	order []Key
	twins map[StateName]StateName // states that another state's cells stand for
}

// Twin declares that two states hold the same tree, so that what was observed
// on one stands for the other too.
func (m *Matrix) Twin(state, standsFor StateName) {
	if m.twins == nil {
		m.twins = make(map[StateName]StateName)
	}
	m.twins[state] = standsFor
}

type entry struct {
	seen  map[StateName]Row // the row as that state describes it
	cells map[StateName][]Observation
}

// See records that a state knows a row, without any observation of it.
func (m *Matrix) See(state StateName, row Row) {
	m.at(row.Key()).seen[state] = row
}

// Add appends one observation to the cell (row, state).
func (m *Matrix) Add(state StateName, row Row, o Observation) {
	e := m.at(row.Key())
	if _, known := e.seen[state]; !known {
		e.seen[state] = row
	}
	e.cells[state] = append(e.cells[state], o)
}

func (m *Matrix) at(key Key) *entry {
	if m.rows == nil {
		m.rows = make(map[Key]*entry)
	}
	e := m.rows[key]
	if e == nil {
		e = &entry{seen: make(map[StateName]Row), cells: make(map[StateName][]Observation)}
		m.rows[key] = e
		m.order = append(m.order, key)
	}
	return e
}

// Keys lists the rows in the order in which they were first seen.
func (m *Matrix) Keys() []Key { return slices.Clone(m.order) }

// Forget takes out the rows that drop names.
func (m *Matrix) Forget(drop func(Key) bool) {
	m.order = slices.DeleteFunc(m.order, func(key Key) bool {
		gone := drop(key)
		if gone {
			delete(m.rows, key)
		}
		return gone
	})
}

// listedOnly holds for a row that one state lists, no other knows, and nobody
// observed.
func (m *Matrix) listedOnly(key Key, state StateName) bool {
	e := m.rows[key]
	if e == nil || len(e.cells) > 0 || len(e.seen) != 1 {
		return false
	}
	_, ok := e.seen[state]
	return ok
}

// Cell returns what was observed, nil when nothing was.
func (m *Matrix) Cell(key Key, state StateName) []Observation {
	if twin, ok := m.twins[state]; ok {
		state = twin
	}
	if e := m.rows[key]; e != nil {
		return e.cells[state]
	}
	return nil
}

// Seen returns the row as the state describes it, and whether it knows it.
func (m *Matrix) Seen(key Key, state StateName) (Row, bool) {
	if e := m.rows[key]; e != nil {
		row, ok := e.seen[state]
		return row, ok
	}
	return Row{}, false
}

// setAside moves all but the first observation of a cell to another state's.
func (m *Matrix) setAside(row Row, from, to StateName) {
	cells := m.at(row.Key()).cells
	for _, o := range cells[from][1:] {
		m.Add(to, row, o)
	}
	cells[from] = cells[from][:1:1]
}

// Row returns the row as head describes it, else as base+tests or base does.
func (m *Matrix) Row(key Key) Row {
	for _, state := range []StateName{Head, BaseTests, Base, HeadBaseTests, HeadBaseInfra} {
		if row, ok := m.Seen(key, state); ok {
			return row
		}
	}
	return Row{ID: key.ID, Runner: key.Runner}
}

// Distrust replaces every observation that a runner made on a state by one
// that says nothing: the state was found not to be what it claims to be.
func (m *Matrix) Distrust(runner string, state StateName, why string) {
	for key, e := range m.rows {
		if key.Runner != runner {
			continue
		}
		for i := range e.cells[state] {
			e.cells[state][i] = Observation{Outcome: Errored, Reason: Inconsistent, Message: why}
		}
	}
}
