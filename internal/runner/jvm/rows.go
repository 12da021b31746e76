package jvm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// group is what a run said of one method of one class.
type group struct {
	class, name string
	cases       []junit.Case
}

var methodName = lazyregexp.New(`^[\pL\pN_$]+`)

// base is the method that a report's case is of: without parameters, index and
// display name. Kotlin's names may hold anything but those.
func (p *project) base(declared []gate.Row, c junit.Case) string {
	name := strings.TrimPrefix(c.Name, c.Class+".")
	best := ""
	for _, row := range declared {
		class, method, _ := strings.Cut(row.ID, "#")
		if class == c.Class && strings.HasPrefix(name, method) && len(method) > len(best) {
			if rest := name[len(method):]; rest == "" || strings.ContainsAny(rest[:1], "([{ :") {
				best = method
			}
		}
	}
	if best == "" {
		best = methodName.FindString(name)
	}
	return best
}

// classLevel holds for cases that speak of a whole class.
func classLevel(c junit.Case) bool {
	return c.Name == "" || c.Name == c.Class || c.Name == "initializationError" || c.Name == "classMethod" || c.Name == "null" || strings.HasSuffix(c.Class, "."+c.Name)
}

// absorb enters what a run said of the asked units. It returns the units that
// said anything.
func (s *session) absorb(asked []ask, h *heard) map[string]bool {
	heardOf := make(map[string]bool)
	for _, a := range asked {
		f := s.project.file(a.unit)
		declared := s.project.declaredRows(a.unit)
		var groups []*group
		whole := make(map[string]gate.Observation)
		for _, c := range h.cases {
			if !slices.ContainsFunc(f.classes, func(k *class) bool { return k.name == c.Class }) || !s.inModule(c, a.unit) {
				continue
			}
			heardOf[a.unit] = true
			if classLevel(c) {
				whole[c.Class] = s.classWide(c)
				continue
			}
			base := s.project.base(declared, c)
			if base == "" { // a display name of which nobody said whose it is
				continue
			}
			at := slices.IndexFunc(groups, func(g *group) bool { return g.class == c.Class && g.name == base })
			if at < 0 {
				at, groups = len(groups), append(groups, &group{class: c.Class, name: base})
			}
			groups[at].cases = append(groups[at].cases, c)
		}
		for _, g := range groups {
			s.enter(a, declared, g)
		}
		s.silent(a, declared, whole, heardOf[a.unit])
	}
	return heardOf
}

// inModule tells whose report a case was in, where two modules have a class of
// one name.
func (s *session) inModule(c junit.Case, unit string) bool {
	return c.Report == "" || s.project.moduleOf(unit) == s.project.moduleOf(c.Report)
}

// enter records a method: one row, with parts where the run made several of it.
func (s *session) enter(a ask, declared []gate.Row, g *group) {
	id := g.class + "#" + g.name
	row := gate.Row{ID: id, Name: g.name, Unit: a.unit, File: a.unit}
	if at := slices.IndexFunc(declared, func(r gate.Row) bool { return r.ID == id }); at >= 0 {
		row = declared[at]
	}
	if !s.wants(row) {
		return
	}
	if o, out := s.takenWith(row); out {
		s.add(row, o)
		return
	}
	cases := s.attempts(g, row)
	if len(cases) == 1 && !strings.ContainsAny(cases[0].name[min(len(g.name), len(cases[0].name)):], "[{ :") {
		s.add(row, cases[0].observations...)
		return
	}
	total := gate.Observation{Outcome: gate.Skipped}
	count := make(map[string]int)
	var parts []gate.Observed
	for _, c := range cases {
		part := row
		part.Parent, part.Name, part.ID = id, c.name, g.class+"#"+c.name
		if count[c.name]++; part.ID == id || count[c.name] > 1 {
			part.ID += fmt.Sprintf("#%d", count[c.name])
		}
		total = stronger(total, c.observations[len(c.observations)-1])
		parts = append(parts, gate.Observed{Row: part, Observations: c.observations})
	}
	s.add(row, total)
	for _, part := range parts {
		s.add(part.Row, part.Observations...)
	}
}

// named is one case with its attempts.
type named struct {
	name, report string
	observations []gate.Observation
}

// attempts are a method's cases. A plain test that a report tells of twice was
// run again; so was any case that stands in two reports.
func (s *session) attempts(g *group, row gate.Row) []named {
	plain := s.plain(row)
	var all []named
	for _, c := range g.cases {
		name := strings.TrimPrefix(c.Name, c.Class+".")
		at := slices.IndexFunc(all, func(n named) bool { return n.name == name && (plain || n.report != c.Report) })
		if at < 0 {
			at, all = len(all), append(all, named{name: name, report: c.Report})
		}
		all[at].observations = append(all[at].observations, s.observations(c, row)...)
	}
	return all
}

// plain holds for methods of which a run makes one test.
func (s *session) plain(row gate.Row) bool {
	f := s.project.file(row.File)
	if f == nil {
		return false
	}
	c, m := f.methodOf(row)
	return m != nil && !manyNote.MatchString(m.Notes) && !manyNote.MatchString(c.member.Notes)
}

// methodOf is the method that a row, or what it is a part of, runs.
func (f *testFile) methodOf(row gate.Row) (*class, *braces.Member) {
	for _, c := range f.classes {
		for _, m := range c.methods {
			if (m.Name == row.Name || strings.HasSuffix(row.Parent, "#"+m.Name)) && f.LineAt(m.From) == row.Line {
				return c, m
			}
		}
	}
	return nil, nil
}

// stronger is what two parts come to together: red before green before skipped,
// and a failure of its own before one that needs a missing name.
func stronger(a, b gate.Observation) gate.Observation {
	weight := func(o gate.Observation) int {
		switch {
		case o.Outcome == gate.Skipped:
			return 0
		case o.Outcome == gate.Passed:
			return 1
		case len(o.Missing) > 0:
			return 2
		}
		return 3
	}
	took := a.Duration + b.Duration
	if weight(b) > weight(a) {
		a = b
	}
	a.Duration = took
	return a
}

// silent speaks of declared rows of which a run said nothing.
func (s *session) silent(a ask, declared []gate.Row, whole map[string]gate.Observation, some bool) {
	for _, row := range declared {
		if s.answered[row.ID] || !s.wants(row) {
			continue
		}
		class, _, _ := strings.Cut(row.ID, "#")
		o, known := s.takenWith(row)
		if !known {
			o, known = classWide(whole, class)
		}
		if !known && some {
			o, known = gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the build's own configuration leaves it out"}, s.complete
		}
		if known {
			s.add(row, o)
		}
	}
}

// classWide is what is known of a class or of one around it.
func classWide(whole map[string]gate.Observation, class string) (gate.Observation, bool) {
	for {
		if o, known := whole[class]; known {
			return o, true
		}
		i := strings.LastIndexByte(class, '$')
		if i < 0 {
			return gate.Observation{}, false
		}
		class = class[:i]
	}
}

// classWide is the observation of a class that could not be set up, or that is
// skipped as a whole.
func (s *session) classWide(c junit.Case) gate.Observation {
	all := s.observations(c, gate.Row{})
	o := all[len(all)-1]
	if o.Outcome == gate.Failed {
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	}
	return o
}
