package ctest

import (
	"path"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// compileError is one error of GCC, Clang or the linker.
type compileError struct {
	file      string // repository-relative
	line, col int    // 0 of the linker
	text      string
	roots     []string // what included the file, innermost first, as "file:line"
}

var (
	errorLine    = lazyregexp.New(`^(/[^:]+|[\w.][^:]*):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$`)
	includedFrom = lazyregexp.New(`^(?:In file included|\s+) ?from ([^:]+):(\d+)`)
	linkerLine   = lazyregexp.New("^(?:.*/)?(?:ld|collect2|lld)?:? ?(?:([^:]+\\.(?:c|cc|cpp|cxx)):(\\d*):?)?.*undefined reference to [`']([^']+)'")

	notDeclared = lazyregexp.New(`(?:use of undeclared identifier |unknown type name |no template named )?'([^']+)' (?:was not declared|has not been declared|does not name a|is not a (?:member|type|class|template|namespace)|undeclared|is undefined)|(?:use of undeclared identifier|unknown type name|no template named) '([^']+)'`)
	memberOf    = lazyregexp.New(`'([^']+)' is not a member of '([^']+)'|no member named '([^']+)' in (?:namespace )?'([^']+)'`)
	noMember    = lazyregexp.New(`'(?:(?:const )?(?:class|struct|union) )?([^']+)' has no member named '([^']+)'`)
	badCall     = lazyregexp.New(`(?:no matching (?:member )?function for call to|no matching constructor for initialization of|too (?:many|few) arguments to function(?: call)?|cannot convert|could not convert) '?([^']*)'?`)
	noFile      = lazyregexp.New(`^'?([^':]+?)'?(?:: No such file or directory| file not found)`)
	accessible  = lazyregexp.New(`'([^']+)' is (?:private|protected)`)
	overridden  = lazyregexp.New(`'([^']+)' marked '?override'?,? but does not override`)
	nameInCall  = lazyregexp.New(`([A-Za-z_]\w*)\s*(?:<[^()]*>)?\s*\(`)
)

// missing are the names that an error is about.
func (e compileError) missing(s *braces.Source) []gate.Missing {
	switch m := noFile.FindStringSubmatch(e.text); {
	case m != nil:
		base := path.Base(m[1])
		return []gate.Missing{{Name: strings.TrimSuffix(base, path.Ext(base))}, {Name: base}}
	case e.line == 0:
		return []gate.Missing{{Name: called(e.text)}}
	}
	if m := memberOf.FindStringSubmatch(e.text); m != nil {
		return []gate.Missing{{Name: last(m[1] + m[3]), Owner: last(m[2] + m[4])}}
	}
	if m := noMember.FindStringSubmatch(e.text); m != nil {
		return []gate.Missing{{Name: m[2], Owner: last(m[1])}}
	}
	if m := notDeclared.FindStringSubmatch(e.text); m != nil {
		return []gate.Missing{{Name: last(m[1] + m[2])}}
	}
	for _, re := range []*lazyregexp.Regexp{accessible, overridden} {
		if m := re.FindStringSubmatch(e.text); m != nil {
			return []gate.Missing{{Name: called(m[1]), Signature: re == accessible}}
		}
	}
	if m := badCall.FindStringSubmatch(e.text); m != nil && called(m[1]) != "" {
		return []gate.Missing{{Name: called(m[1]), Signature: true}}
	}
	return e.used(s)
}

// used are the names that the line of an error calls.
func (e compileError) used(s *braces.Source) []gate.Missing {
	if s == nil || s.Offset(e.line, 1) < 0 {
		return nil
	}
	line, _, _ := strings.Cut(string(s.Masked[s.Offset(e.line, 1):]), "\n")
	var found []gate.Missing
	for _, m := range nameInCall.FindAllStringSubmatch(line, 8) {
		if isMacro(m[1]) {
			continue // the test case itself
		}
		found = append(found, gate.Missing{Name: m[1], Signature: true})
	}
	return found
}

// called is the function's name in a signature or a call.
func called(text string) string {
	if m := nameInCall.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return last(text)
}

var lastName = lazyregexp.New(`([A-Za-z_]\w*)\W*$`)

func last(text string) string {
	text, _, _ = strings.Cut(text, "<")
	if m := lastName.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// observation is what errors come to for the code that holds them.
func observation(errors []compileError, s *braces.Source) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile}
	for i, e := range errors {
		missing := e.missing(s)
		if i == 0 || len(o.Missing) == 0 && len(missing) > 0 {
			o.Message, o.Place = gate.Message(e.text), gate.Place{File: e.file, Line: e.line}
		}
		for _, m := range missing {
			if len(o.Missing) < 50 && !has(o.Missing, m) {
				o.Missing = append(o.Missing, m)
			}
		}
	}
	return o
}

func has(list []gate.Missing, one gate.Missing) bool {
	for _, m := range list {
		if m == one {
			return true
		}
	}
	return false
}

// built is what a compiler said, line by line.
type built struct {
	root     string
	included []string
	errors   []compileError
}

func (b *built) take(line string) {
	if m := includedFrom.FindStringSubmatch(line); m != nil {
		if strings.HasPrefix(line, "In file") {
			b.included = nil
		}
		b.included = append(b.included, b.path(m[1])+":"+m[2])
		return
	}
	if m := errorLine.FindStringSubmatch(line); m != nil && len(b.errors) < 2000 {
		e := compileError{file: b.path(m[1]), text: m[4], roots: b.included}
		e.line, _ = strconv.Atoi(m[2])
		e.col, _ = strconv.Atoi(m[3])
		b.errors = append(b.errors, e)
		return
	}
	if m := linkerLine.FindStringSubmatch(line); m != nil {
		b.errors = append(b.errors, compileError{file: b.path(m[1]), text: "undefined reference to " + m[3]})
	}
	if !strings.HasPrefix(line, " ") && !strings.Contains(line, ": note: ") {
		b.included = nil
	}
}

func (b *built) path(file string) string {
	return strings.TrimPrefix(path.Clean(file), b.root+"/")
}

// takeOut blanks the test code in which errors stand, and tells whether there is
// something new to build. It is false as soon as one stands anywhere else: where
// a library's header is at fault, the test code that included or used it is.
func (s *session) takeOut(errors []compileError) bool {
	type fault struct {
		source *braces.Source
		member *braces.Member
		errors []compileError
	}
	var faults []*fault
	for _, e := range errors {
		file, line, col, ok := s.testPlace(e)
		if !ok {
			return false
		}
		src := s.project.file(file)
		if src == nil {
			return false
		}
		at := e
		at.file, at.line, at.col = file, line, col
		m := culprit(src, src.Offset(line, col))
		known := false
		for _, one := range faults {
			if one.source == src && one.member == m {
				one.errors, known = append(one.errors, at), true
			}
		}
		if !known {
			faults = append(faults, &fault{src, m, []compileError{at}})
		}
	}
	done := false
	for _, one := range faults {
		o := s.why(one.errors, one.source)
		if m := one.member; m != nil {
			done = s.left.Erase(one.source, m.From, m.To, o, nameOf(m)) || done
		} else {
			done = s.left.Erase(one.source, 0, len(one.source.Text), o) || done
		}
	}
	return done
}

// isMacro holds for what test cases are declared with: no name that another
// declaration could need.
func isMacro(name string) bool { return testMacro.MatchString(name) || caseMacro.MatchString(name) }

// nameOf is the name that a declaration gives to others, "" for a test case.
func nameOf(m *braces.Member) string {
	if isMacro(m.Name) {
		return ""
	}
	return m.Name
}

func (s *session) testPlace(e compileError) (file string, line, col int, ok bool) {
	if e.line > 0 && s.project.isTestCode(e.file) {
		return e.file, e.line, e.col, true
	}
	for _, root := range e.roots {
		name, at, _ := strings.Cut(root, ":")
		if n, err := strconv.Atoi(at); err == nil && s.project.isTestCode(name) {
			return name, n, 1, true
		}
	}
	return "", 0, 0, false
}

// why is the observation of what is taken out. Errors about a name that was
// itself taken out are that one's, unless there are others.
func (s *session) why(errors []compileError, source *braces.Source) gate.Observation {
	own, inherited := braces.Own(s.left.LeftOut, errors, func(e compileError) []gate.Missing { return e.missing(source) })
	if len(own) == 0 {
		return inherited
	}
	return observation(own, source)
}

// culprit is the declaration that can be taken out alone: a test case, a function,
// an include; nil for the whole source. Members of a class go with their class.
func culprit(s *braces.Source, offset int) *braces.Member {
	path := s.At(max(0, offset))
	for i, m := range path {
		if m.Kind == braces.Type && strings.HasPrefix(strings.TrimSpace(s.Header(m)), "namespace") || m.Kind == braces.Type && strings.HasPrefix(strings.TrimSpace(s.Header(m)), "extern") {
			if i == len(path)-1 {
				return nil
			}
			continue
		}
		return m
	}
	return nil
}
