package rts

import (
	"fmt"
	"strings"
)

// file selects for one changed file, or says why nothing less than everything
// will do.
func (s *selector) file(f FileChange) (why string) {
	s.readers(f)
	if _, own := s.units[f.Path]; own {
		s.addUnit(f.Path, "changed:"+f.Path)
	}
	ext := extOf(f.Path)
	switch {
	case f.Neutral || f.inert():
		return ""
	case sourceTypes[ext] || nativeTypes[ext]:
		return s.source(f)
	case s.facts.Graph.Knows(f.Path): // embedded, imported or named as data
		s.reaching(f, "imports")
		if s.facts.Map == nil {
			s.doubted("data")
		}
		return ""
	case s.facts.Map == nil:
		return f.Path + " is read by tests that only a coverage map can tell: " + s.facts.NoMap
	case dataTypes[ext]:
		return "" // whoever reads it was observed to
	}
	if rows, _ := s.facts.Map.Rows(Opens, f.Path); len(rows) > 0 {
		return ""
	}
	return fmt.Sprintf("%s is of a type that is not known, and no test was seen to open it", f.Path)
}

// readers selects the rows that open the file as data, or list the directory in
// which it comes or goes.
func (s *selector) readers(f FileChange) {
	if s.facts.Map == nil || s.o.Strategy == ByLines {
		return
	}
	s.observedRows(Opens, f.Path, "opened:")
	if f.Status == Modified {
		return
	}
	// A new directory shows in the listing of the one above.
	for dir, _ := split(f.Path); ; dir, _ = split(dir) {
		s.observedRows(Lists, dir, "listed:")
		if dir == "." {
			return
		}
	}
}

func (s *selector) observedRows(r Relation, key, reason string) {
	rows, _ := s.facts.Map.Rows(r, key)
	for _, row := range rows {
		s.add(row, reason+key)
	}
}

// source selects for a changed source file.
func (s *selector) source(f FileChange) (why string) {
	if s.facts.Map != nil && s.o.Strategy != ByFiles {
		observable := s.executed(f) || s.o.Strategy == ByLines
		if observable && f.Compared && !f.Shape {
			s.distance(f.Path)
			return ""
		}
	}
	if s.facts.Map != nil {
		s.observedRows(Loads, f.Path, "loaded:")
	}
	switch {
	case s.o.Strategy == ByLines:
		return ""
	case s.facts.Graph.Knows(f.Path):
		s.reaching(f, "imports")
	case s.facts.Map == nil:
		return f.Path + " is not in the import graph"
	case s.facts.Graph == nil:
		return "no import graph: " + s.facts.NoGraph
	case nativeTypes[extOf(f.Path)]:
		return f.Path + " belongs to no package that is known"
	}
	if s.facts.Map == nil {
		s.doubted("imports")
	}
	return ""
}

// executed selects the rows that executed the changed functions, and tells
// whether all of these were observable. One that ran while its file was loaded
// concerns everybody who loads the file.
func (s *selector) executed(f FileChange) (observable bool) {
	_, whole := s.facts.Map.Rows(Traced, f.Path)
	observable = true
	for _, symbol := range f.Bodies {
		key := Key(f.Path, symbol)
		_, traced := s.facts.Map.Rows(Traced, key)
		_, atImport := s.facts.Map.Rows(Imports, key)
		observable = observable && (traced || whole) && !atImport
		rows, _ := s.facts.Map.Rows(Executes, key)
		for _, row := range rows {
			s.add(row, "coverage:"+key)
			if n, known := s.rare[row]; !known || len(rows) < n {
				s.rare[row] = len(rows)
			}
		}
	}
	return observable
}

func (s *selector) reaching(f FileChange, reason string) {
	for unit, steps := range s.facts.Graph.Reaching(f.Path) {
		s.addUnit(unit, reason+":"+f.Path)
		s.near(unit, steps)
	}
}

func (s *selector) distance(path string) {
	if s.facts.Graph.Knows(path) {
		for unit, steps := range s.facts.Graph.Reaching(path) {
			s.near(unit, steps)
		}
	}
}

func (s *selector) near(unit string, steps int) {
	if before, known := s.steps[unit]; !known || steps < before {
		s.steps[unit] = steps
	}
}

// doubted selects the units of which sources do not tell everything: without a
// map nothing else does.
func (s *selector) doubted(kind string) {
	if s.doubtful == nil {
		s.doubtful = s.facts.Graph.Doubtful()
	}
	for unit, why := range s.doubtful {
		if kind == "data" || why != readsFiles {
			s.addUnit(unit, "unclear:"+why)
		}
	}
}

// always selects the rows that any change needs: those that nothing is known
// of, and those that the user names.
func (s *selector) always(change Change) {
	live := false
	for _, f := range change.Files {
		live = live || !f.Neutral && !f.inert()
	}
	for i, row := range s.facts.Rows {
		if s.o.Always != nil && s.o.Always(row.File) {
			s.add(i, "always")
		}
		if s.facts.Map == nil || !live {
			continue
		}
		switch {
		case !row.Seen:
			s.add(i, "new")
		case !row.Green:
			s.add(i, "not green on base")
		case row.Open != "":
			s.add(i, row.Open)
		}
	}
}

// quoted adds the units that may look a changed name up at run time: they hold
// it inside a string.
func (s *selector) quoted(change Change) {
	if s.facts.Mentions == nil {
		return
	}
	for _, f := range change.Files {
		if f.Neutral || !sourceTypes[extOf(f.Path)] {
			continue
		}
		if ext := extOf(f.Path); s.facts.Map != nil && (scriptTypes[ext] || ext == ".go") {
			continue // there no string finds what its file's family, which is known, does not
		}
		for _, name := range f.Names {
			if strings.Contains("/"+f.Path, "/"+name+"/") {
				continue // a package's name is in the name of everything in it
			}
			for _, unit := range s.facts.Mentions(name, true) {
				s.addUnit(unit, "names:"+name)
			}
		}
	}
}

// names selects the units that mention a changed name anywhere.
func (s *selector) names() (why string) {
	if s.facts.Mentions == nil {
		return "the tests' sources could not be read"
	}
	for _, f := range s.change.Files {
		s.addUnit(f.Path, "changed:"+f.Path)
		if f.Neutral {
			continue
		}
		_, base := split(f.Path)
		words := append(Words(strings.TrimSuffix(base, extOf(base))), f.Names...)
		for _, symbol := range f.Bodies {
			words = append(words, lastName(symbol))
		}
		for _, word := range sortedSet(words) {
			for _, unit := range s.facts.Mentions(word, false) {
				s.addUnit(unit, "names:"+word)
			}
		}
	}
	return ""
}

// imports selects by the import graph alone.
func (s *selector) imports() (why string) {
	if s.facts.Graph == nil {
		return "no import graph: " + s.facts.NoGraph
	}
	for _, f := range s.change.Files {
		if why := global(f, s.o.AllIfChanged); why != "" {
			return why
		}
		if f.Neutral {
			continue
		}
		if !s.facts.Graph.Knows(f.Path) {
			return f.Path + " is not in the import graph"
		}
		s.addUnit(f.Path, "changed:"+f.Path)
		s.reaching(f, "imports")
	}
	for i, row := range s.facts.Rows {
		if s.o.Always != nil && s.o.Always(row.File) {
			s.add(i, "always")
		}
	}
	return ""
}
