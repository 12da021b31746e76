package rts

import (
	"fmt"
	"slices"
)

// Strategy names a way of selecting.
type Strategy string

const (
	Auto        Strategy = "auto"    // the layers of this package
	ByNames     Strategy = "names"   // units that mention a changed name
	ByLines     Strategy = "lines"   // rows that executed a changed function
	ByFiles     Strategy = "files"   // rows that loaded, opened or listed, or can reach, a changed file
	ByImports   Strategy = "imports" // units that can reach a changed file by its imports
	Everything  Strategy = "all"
	defaultMost          = 0.9
)

// Strategies lists the names.
func Strategies() []Strategy {
	return []Strategy{Auto, ByNames, ByLines, ByFiles, ByImports, Everything}
}

// Options say how to select.
type Options struct {
	Strategy     Strategy               // "" is Auto
	Always       func(file string) bool // rows of these files are always selected; may be nil
	AllIfChanged func(path string) bool // everything is selected when one changes; may be nil
	// Most is the share of the whole suite's time, and of its rows, beyond which
	// auto selects all that files does; 0 is 0.9.
	Most float64
}

// Selected is a row with the reasons for it.
type Selected struct {
	Row
	Reasons []string // sorted
	// All is set when every row of the unit is selected: then the unit is to run
	// as a whole, with rows that nobody knows yet, as new parameters.
	All bool
	// Steps is the shortest static way from the row's unit to a changed file, -1
	// for none.
	Steps int

	executes int // how rare the changed function is that it executes, see Rank
	score    float64
}

// Selection is what was selected.
type Selection struct {
	Strategy Strategy
	// Fallback says why the strategy could not do its work, and everything, or
	// what a weaker strategy finds, is selected. "" when it did.
	Fallback string
	Rows     []Selected // in the order of Facts.Rows
	Of       int        // rows there were to choose from
	// Share is the selected rows' share of the time of all, 0 to 1; by number
	// where times are not known.
	Share float64
}

// Select chooses the rows that the change can break.
func Select(change Change, facts Facts, o Options) Selection {
	if o.Strategy == "" {
		o.Strategy = Auto
	}
	if o.Most == 0 {
		o.Most = defaultMost
	}
	s := &selector{facts: facts, o: o, change: change, seen: facts.seenRows(), reasons: make([][]string, len(facts.Rows)), steps: make(map[string]int), rare: make(map[int]int)}
	for i, row := range facts.Rows {
		s.byUnit(row.Unit, i)
	}
	if why := s.run(); why != "" {
		s.all(why)
	}
	return s.selection()
}

// selector is one call of Select.
type selector struct {
	facts    Facts
	o        Options
	change   Change
	seen     int
	units    map[string][]int // row indices by unit
	reasons  [][]string       // by row index; nil: not selected
	steps    map[string]int
	rare     map[int]int
	whole    map[string]bool
	doubtful map[string]string
	fallback string
}

func (s *selector) byUnit(unit string, row int) {
	if s.units == nil {
		s.units = make(map[string][]int)
	}
	s.units[unit] = append(s.units[unit], row)
}

// run selects, or says why it could not.
func (s *selector) run() (why string) {
	switch s.o.Strategy {
	case Everything:
		s.all("")
		return ""
	case ByNames:
		return s.names()
	case ByLines, ByFiles:
		if s.facts.Map == nil {
			return "no coverage map: " + s.facts.NoMap
		}
	case ByImports:
		return s.imports()
	case Auto:
		if s.facts.Map == nil && s.facts.Graph == nil {
			return fmt.Sprintf("no coverage map: %s; no import graph: %s", s.facts.NoMap, s.facts.NoGraph)
		}
	default:
		return fmt.Sprintf("strategy %q is not known", s.o.Strategy)
	}
	if s.facts.Map == nil {
		s.fallback = "no coverage map: " + s.facts.NoMap + "; selected by imports"
	}
	return s.observed()
}

// observed is what lines, files and auto have in common.
func (s *selector) observed() (why string) {
	change := s.change
	if s.facts.Map != nil {
		change = change.Union(s.facts.Gap) // the map is older: what has changed since is a change too
	}
	for _, f := range change.Files {
		if why := global(f, s.o.AllIfChanged); why != "" {
			return why
		}
	}
	for _, f := range change.Files {
		if why := s.file(f); why != "" {
			return why
		}
	}
	s.always(change)
	if s.o.Strategy == Auto {
		s.quoted(change)
		s.widened(change)
	}
	return ""
}

// widened takes back what was left out of the family of a changed file, where
// what is left saves too little to be worth a doubt.
func (s *selector) widened(change Change) {
	time, rows := s.shares()
	if min(time, rows) <= s.o.Most || rows == 1 {
		return
	}
	s.o.Strategy = ByFiles
	for _, f := range change.Files {
		s.file(f)
	}
	s.o.Strategy = Auto
	if _, all := s.shares(); s.fallback == "" && all > rows {
		s.fallback = fmt.Sprintf("the selection would be %.0f %% of the tests and take %.0f %% of the suite's time; selected by files", 100*rows, 100*time)
	}
}

// add selects a row.
func (s *selector) add(row int, reason string) {
	if row < len(s.reasons) && !s.facts.Rows[row].Gone && !slices.Contains(s.reasons[row], reason) {
		s.reasons[row] = append(s.reasons[row], reason)
	}
}

func (s *selector) addUnit(unit, reason string) {
	for _, row := range s.units[unit] {
		s.add(row, reason)
	}
}

func (s *selector) all(why string) {
	if why != "" {
		s.fallback = why
	}
	for i := range s.facts.Rows {
		s.add(i, "all")
	}
}

// shares are the selected rows' parts of the whole suite's time and of its
// number of rows.
func (s *selector) shares() (time, rows float64) {
	var chosen, whole float64
	number, of := 0, 0
	for i, row := range s.facts.Rows {
		if row.Gone {
			continue
		}
		of++
		whole += row.Seconds
		if len(s.reasons[i]) > 0 {
			chosen += row.Seconds
			number++
		}
	}
	if of == 0 {
		return 0, 0
	}
	rows = float64(number) / float64(of)
	if whole == 0 {
		return rows, rows
	}
	return chosen / whole, rows
}

func (s *selector) wholly(unit string) bool {
	whole, known := s.whole[unit]
	if !known {
		whole = !slices.ContainsFunc(s.units[unit], func(row int) bool { return len(s.reasons[row]) == 0 && !s.facts.Rows[row].Gone })
		s.whole[unit] = whole
	}
	return whole
}

func (s *selector) selection() Selection {
	s.whole = make(map[string]bool)
	out := Selection{Strategy: s.o.Strategy, Fallback: s.fallback}
	out.Share, _ = s.shares()
	for i, row := range s.facts.Rows {
		if !row.Gone {
			out.Of++
		}
		if len(s.reasons[i]) == 0 {
			continue
		}
		slices.Sort(s.reasons[i])
		steps, ok := s.steps[row.Unit]
		if !ok {
			steps = -1
		}
		out.Rows = append(out.Rows, Selected{Row: row, Reasons: s.reasons[i], All: s.wholly(row.Unit), Steps: steps, executes: s.rare[i]})
	}
	return out
}
