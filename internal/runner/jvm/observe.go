package jvm

import (
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

var (
	frame      = lazyregexp.New(`(?m)^\s*at (?:[\w.@-]+/+)*([\w.$]+)\.([\w$<>]+)\(([\w$]+\.(?:java|kt)):(\d+)\)`)
	notThere   = lazyregexp.New(`(?:ClassNotFoundException|NoClassDefFoundError|NoSuchFieldException|NoSuchFieldError): ([\w./$]+)`)
	noMethod   = lazyregexp.New(`(?:NoSuchMethodException|NoSuchMethodError): (?:.*?[.' ])?([\w$]+)(?:\(|$)`)
	notStarted = lazyregexp.New(`^(?:org\.junit\.jupiter\.api\.extension\.Parameter|org\.junit\.platform\.commons\.(?:PreconditionViolation|JUnit)|org\.junit\.runners\.model\.(?:InvalidTestClass|Initialization))`)
)

// observations are the attempts that a report tells of a case, oldest first.
func (s *session) observations(c junit.Case, row gate.Row) []gate.Observation {
	all := c.Attempts()
	at := 0
	for _, p := range c.Problems {
		if p.Tag == "skipped" || at >= len(all) {
			continue
		}
		o := &all[at]
		if strings.HasPrefix(p.Tag, "flaky") || strings.HasPrefix(p.Tag, "rerun") {
			at++
		} else {
			o = &all[len(all)-1]
		}
		s.explain(o, p, row)
	}
	return all
}

// explain adds to a red observation what the stack tells: the place, set-up, and
// names that were not there.
func (s *session) explain(o *gate.Observation, p junit.Problem, row gate.Row) {
	if o.Outcome != gate.Failed {
		return
	}
	words := p.Kind + ": " + p.Message + "\n" + p.Text
	for _, m := range notThere.FindAllStringSubmatch(words, 2) {
		o.Missing = append(o.Missing, gate.Missing{Name: simple(strings.ReplaceAll(m[1], "/", "."))})
	}
	if m := noMethod.FindStringSubmatch(words); m != nil {
		o.Missing = append(o.Missing, gate.Missing{Name: m[1]})
	}
	frames := frame.FindAllStringSubmatch(p.Text, -1)
	inTest, setUp, production := false, false, false
	for _, m := range frames {
		file := s.fileOfFrame(m[1], m[3])
		if file == "" {
			continue
		}
		if o.Place.File == "" {
			o.Place = gate.Place{File: file, Line: number(m[4])}
			production = !s.project.isTestSource(file)
		}
		if f := s.project.file(file); f != nil && s.project.isTestSource(file) {
			inTest = inTest || m[2] == row.Name || strings.HasPrefix(row.Name, m[2])
			setUp = setUp || f.setsUp(m[2])
		}
	}
	for i := range o.Missing {
		o.Missing[i].FromProduction = production
	}
	switch {
	case notStarted.MatchString(p.Kind):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case setUp && !inTest && production:
		o.Message = gate.Message("in set-up: " + o.Message)
	case setUp && !inTest:
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	}
}

func (f *testFile) setsUp(name string) bool {
	for _, c := range f.classes {
		for _, m := range c.methods {
			if m.Name == name && isSetUp(m) {
				return true
			}
		}
	}
	return name == "<clinit>" || name == "<init>"
}

// fileOfFrame is the repository's source of a frame of a stack, "" for one
// elsewhere.
func (s *session) fileOfFrame(class, base string) string {
	dir := ""
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		dir = strings.ReplaceAll(class[:i], ".", "/")
	}
	if s.sources == nil {
		s.sources = make(map[string][]string)
		for _, file := range s.state.Tree().Paths() {
			if isSource(file) && treepath.Within(s.Dir, path.Dir(file)) {
				s.sources[path.Base(file)] = append(s.sources[path.Base(file)], file)
			}
		}
	}
	for _, file := range s.sources[base] {
		if strings.HasSuffix("/"+path.Dir(file), "/"+dir) || path.Ext(file) == ".kt" {
			return file
		}
	}
	return ""
}
