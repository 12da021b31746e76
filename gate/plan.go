package gate

import "slices"

// The functions of this file choose rows. They read the matrix and write
// nothing.

// needsBase lists the rows that base must be asked about: those that head lost,
// those that are red somewhere, and, when a fixture or another file that any
// test may read has changed, all that it may have affected. A row that passes
// on base+tests and on head proves nothing, whatever base says of it, and is not
// worth a run. When neither production code nor data of the tests changed (code
// is false) nothing can be evidence, and only what head lost or is red on matters.
func needsBase(m *Matrix, runner string, code, support bool) []Row {
	var rows []Row
	for _, key := range m.Keys() {
		base, onBase := m.Seen(key, Base)
		if key.Runner != runner || key.ID == selfCheckID || !onBase || base.Parent != "" || len(m.Cell(key, Base)) > 0 {
			continue
		}
		head, onHead := m.Seen(key, Head)
		quiet := onHead && allGreen(m.Cell(key, Head)) && (!code || allGreen(m.Cell(key, BaseTests)) && !support)
		if modified := onHead && base.Digest != head.Digest; modified && allGreen(m.Cell(key, Head)) {
			quiet = true // it is the change's own, and passes: base's version of it is another test
		}
		if !quiet {
			rows = append(rows, base)
		}
	}
	return rows
}

// needsRepeat lists the rows that a state must be asked about again: they decide
// something and were not seen often enough there. Parts are asked for through
// their test.
func needsRepeat(m *Matrix, runner string, state StateName) []Row {
	var rows []Row
	chosen := make(map[Key]bool)
	for _, key := range m.Keys() {
		row, onHead := m.Seen(key, Head)
		cell := m.Cell(key, state)
		if key.Runner != runner || key.ID == selfCheckID || !onHead || len(cell) >= m.Repeat || !agree(cell) || !decides(m, key, state) {
			continue
		}
		top := topOf(m, row, Head)
		if state == Base {
			if top, onHead = m.Seen(top.Key(), Base); !onHead {
				continue
			}
		}
		if !chosen[top.Key()] {
			chosen[top.Key()] = true
			rows = append(rows, top)
		}
	}
	return rows
}

// decides holds for the change's own checks on head and base+tests, and on
// every state for untouched ones that are not of one colour throughout: they
// may be affected, repaired or flipped.
func decides(m *Matrix, key Key, state StateName) bool {
	switch OriginOf(m, key) {
	case Added, Modified:
		return state == Head || state == BaseTests
	case Removed:
		return false
	}
	var all []Observation
	for _, s := range []StateName{Base, BaseTests, Head} {
		if cell := m.Cell(key, s); !(s == BaseTests && unitLevel(cell)) {
			all = append(all, cell...)
		}
	}
	return len(all) > 0 && !agree(all)
}

// topOf climbs from a part to the test that a runner can be asked for on the
// state.
func topOf(m *Matrix, row Row, state StateName) Row {
	for row.Parent != "" {
		above, ok := m.Seen(Key{row.Runner, row.Parent}, state)
		if !ok {
			break
		}
		row = above
	}
	return row
}

func allGreen(cell []Observation) bool {
	return len(cell) > 0 && agree(cell) && colour(cell[0]) == green
}

func ids(rows []Row) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = row.ID
	}
	return list
}

func unitsOf(rows []Row) []string {
	var units []string
	for _, row := range rows {
		units = append(units, row.Unit)
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// paths lists the changed paths of one part, under their old and new names.
func paths(split []SplitEntry, part string) []string {
	var list []string
	for _, entry := range split {
		if entry.Part != part && entry.Part != "mixed" {
			continue
		}
		list = append(list, entry.Path)
		if entry.OldPath != nil && *entry.OldPath != entry.Path {
			list = append(list, *entry.OldPath)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hasSupport tells whether the test part holds files that are no unit's own
// source: fixtures, goldens, helpers. Those can affect any row that reads them.
func hasSupport(m *Matrix, runner string, testPaths []string) bool {
	sources := make(map[string]bool)
	for _, key := range m.Keys() {
		for _, state := range []StateName{Head, Base} {
			if row, ok := m.Seen(key, state); ok && key.Runner == runner {
				sources[row.File] = true
			}
		}
	}
	return slices.ContainsFunc(testPaths, func(path string) bool { return !sources[path] })
}
