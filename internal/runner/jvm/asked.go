package jvm

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// asked are the classes of the batch that the tree has, without those that are
// taken out as a whole.
func (s *session) asked() []ask {
	var asked []ask
	for _, unit := range s.batch.Units {
		f := s.project.file(unit)
		if f == nil || !treepath.Within(s.Dir, unit) || !s.project.isTestSource(unit) {
			continue
		}
		for _, c := range f.classes {
			if strings.Contains(c.name, "$") {
				continue
			}
			a := ask{unit: unit, class: c.name}
			if len(s.batch.Rows) > 0 {
				if a.methods = s.methods(f, c.name); len(a.methods) == 0 {
					continue
				}
			}
			if a.methods != nil || slices.ContainsFunc(s.project.declaredRows(unit), func(r gate.Row) bool { return ofClass(r.ID, c.name) }) {
				asked = append(asked, a)
			}
		}
	}
	return asked
}

// ofClass holds for ids of a class and of those nested in it.
func ofClass(id, class string) bool {
	rest, ok := strings.CutPrefix(id, class)
	return ok && (strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "$"))
}

var manyNote = lazyregexp.New(`Parameter|RepeatedTest|TestFactory|TestTemplate|Theor|RunWith|dataProvider`)

// methods are those of a class that the batch's rows name.
func (s *session) methods(f *testFile, class string) []method {
	var found []method
	for _, id := range s.batch.Rows {
		in, name, ok := strings.Cut(id, "#")
		if !ok || in != class && !strings.HasPrefix(in, class+"$") {
			continue
		}
		m := method{class: in, name: name}
		for _, row := range s.project.declaredRows(f.File) {
			if base := strings.TrimPrefix(row.ID, in+"#"); row.ID != base && strings.HasPrefix(name, base) {
				m.name = base
			}
		}
		m.parts = manyNote.Match(f.Text)
		found = append(found, m)
	}
	return found
}

// wants tells whether a row, or what it is a part of, is asked for.
func (s *session) wants(row gate.Row) bool {
	if len(s.batch.Rows) == 0 || slices.Contains(s.batch.Rows, row.ID) || row.Parent != "" && slices.Contains(s.batch.Rows, row.Parent) {
		return true
	}
	return slices.ContainsFunc(s.batch.Rows, func(id string) bool { // a part that was asked for by its own name
		rest, ok := strings.CutPrefix(id, row.ID)
		return ok && strings.ContainsAny(rest[:1], "([{ :#")
	})
}
