package jvm

import (
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// compileError is one error of javac or kotlinc.
type compileError struct {
	file      string // repository-relative
	line, col int
	text      string
	more      []string // "symbol: ...", "location: ..."
}

var (
	symbolIs    = lazyregexp.New(`^symbol\s*:\s+(?:(?:static|method|variable|class|interface|enum|constructor|record|@interface) )+([\w$]+)`)
	locationIs  = lazyregexp.New(`^location\s*:\s+(?:(?:class|interface|enum|record|package|@interface) |variable \w+ of type )([\w.$]+)`)
	notInto     = lazyregexp.New(`^(?:method|constructor) ([\w$]+) in (?:class|interface|enum|record) ([\w.$]+)`)
	unsuitable  = lazyregexp.New(`^no suitable (?:method|constructor) found for ([\w$]+)\(`)
	notAbstract = lazyregexp.New(`does not override abstract method ([\w$]+)\(`)
	noPackage   = lazyregexp.New(`^package ([\w.]+) does not exist`)
	noAccess    = lazyregexp.New(`^([\w$]+)(?:\([^)]*\))? (?:has (?:private|protected) access|is not public) in`)
	unresolved  = lazyregexp.New("[Uu]nresolved reference:? [`']?([\\w$]+)")
	wrongCall   = lazyregexp.New(`^(?:Too many arguments for|No parameter with name|Cannot find a parameter with this name|No value passed for parameter|(?:Argument )?[Tt]ype mismatch)`)
	lastWord    = lazyregexp.New(`([A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>)?\s*$`)
	notOverride = lazyregexp.New(`does not override or implement|overrides nothing`)
	calledWord  = lazyregexp.New(`([A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>)?\s*\(`)
	importedAs  = lazyregexp.New(`([\w$]+)\s*(?:;|$)`)
)

// missing are the names that an error is about.
func (e compileError) missing(s *braces.Source) []gate.Missing {
	if m := unresolved.FindStringSubmatch(e.text); m != nil {
		return append([]gate.Missing{{Name: m[1]}}, e.imported(s, m[1])...)
	}
	if call := e.call(s); call != "" && wrongCall.MatchString(e.text) {
		return []gate.Missing{{Name: call, Signature: true}}
	}
	if m := noPackage.FindStringSubmatch(e.text); m != nil {
		last := m[1][strings.LastIndexByte(m[1], '.')+1:]
		return append(e.imported(s, last), gate.Missing{Name: last})
	}
	if m := notAbstract.FindStringSubmatch(e.text); m != nil {
		return []gate.Missing{{Name: m[1]}}
	}
	if m := notInto.FindStringSubmatch(e.text); m != nil {
		return []gate.Missing{{Name: m[1], Owner: simple(m[2]), Signature: true}}
	}
	for _, re := range []*lazyregexp.Regexp{unsuitable, noAccess} {
		if m := re.FindStringSubmatch(e.text); m != nil {
			return []gate.Missing{{Name: m[1], Signature: true}}
		}
	}
	if strings.Contains(e.text, "cannot find symbol") {
		return e.symbol()
	}
	return e.used(s)
}

// imported is what the line of an error imports, unless that is the name itself.
func (e compileError) imported(s *braces.Source, name string) []gate.Missing {
	line := strings.TrimSpace(e.source(s))
	if word := importedAs.FindStringSubmatch(line); strings.HasPrefix(line, "import") && word != nil && word[1] != name {
		return []gate.Missing{{Name: word[1]}}
	}
	return nil
}

// call is the function in whose arguments a Kotlin error stands, "" for none.
func (e compileError) call(s *braces.Source) string {
	if s == nil || path.Ext(e.file) != ".kt" {
		return ""
	}
	at := s.Offset(e.line, e.col)
	around := s.At(max(0, at))
	if at < 0 || len(around) == 0 {
		return ""
	}
	from, closed := around[len(around)-1].From, 0
	for i := at - 1; i > from; i-- {
		switch s.Masked[i] {
		case ')':
			closed++
		case '(':
			if closed--; closed < 0 {
				if m := lastWord.FindStringSubmatch(string(s.Masked[from:i])); m != nil {
					return m[1]
				}
				return ""
			}
		}
	}
	return ""
}

// symbol is the name that javac did not find, and what it looked for it on.
func (e compileError) symbol() []gate.Missing {
	var found gate.Missing
	for _, line := range e.more {
		if m := symbolIs.FindStringSubmatch(line); m != nil {
			found.Name = m[1]
		}
		if m := locationIs.FindStringSubmatch(line); m != nil {
			found.Owner = simple(m[1])
		}
	}
	if found.Name == "" {
		return nil
	}
	return []gate.Missing{found}
}

// used are the names that the line of an error calls or declares, which may be
// there in another shape.
func (e compileError) used(s *braces.Source) []gate.Missing {
	if s == nil {
		return nil
	}
	if at := s.At(max(0, s.Offset(e.line, e.col))); notOverride.MatchString(e.text) && len(at) > 0 {
		return []gate.Missing{{Name: at[len(at)-1].Name}}
	}
	var found []gate.Missing
	for _, m := range calledWord.FindAllStringSubmatch(e.source(s), 8) {
		found = append(found, gate.Missing{Name: m[1], Signature: true})
	}
	return found
}

// source is the line of an error, literals blanked.
func (e compileError) source(s *braces.Source) string {
	if s == nil || s.Offset(e.line, 1) < 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(s.Masked[s.Offset(e.line, 1):]), "\n")
	return line
}

func simple(name string) string { return name[strings.LastIndexAny(name, ".$")+1:] }

// observation is what errors come to for the code that holds them.
func observation(errors []compileError, s *braces.Source) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile}
	for i, e := range errors {
		missing := e.missing(s)
		if i == 0 || len(o.Missing) == 0 && len(missing) > 0 {
			o.Message = gate.Message(e.text + " " + strings.Join(e.more, " "))
			o.Place = gate.Place{File: e.file, Line: e.line}
		}
		if len(o.Missing) < 50 {
			o.Missing = append(o.Missing, missing...)
		}
	}
	return o
}

// takeOut blanks the test code in which errors stand, and tells whether there is
// something new to build. It is false as soon as one stands anywhere else.
func (s *session) takeOut(errors []compileError) bool {
	type fault struct {
		file   *testFile
		member *braces.Member
		errors []compileError
	}
	var faults []*fault
	for _, e := range errors {
		f := s.project.file(e.file)
		if f == nil || !isSource(e.file) || !s.project.isTestSource(e.file) {
			return false
		}
		m := f.culprit(f.Offset(e.line, e.col))
		known := false
		for _, one := range faults {
			if one.file == f && one.member == m {
				one.errors, known = append(one.errors, e), true
			}
		}
		if !known {
			faults = append(faults, &fault{f, m, []compileError{e}})
		}
	}
	done := false
	for _, one := range faults {
		o := s.why(one.errors, one.file.Source)
		from, to, names := 0, len(one.file.Text), []string{stemOf(one.file.File)}
		if m := one.member; m != nil {
			from, to, names = m.From, m.To, namesOf(one.file, m)
		}
		done = s.left.Erase(one.file.Source, from, to, o, names...) || done
	}
	return done
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

// culprit is the declaration that can be taken out alone to be rid of what stands
// at an offset: a test, a helper, an import; nil for the whole source. What runs
// around tests, or overrides something, cannot go without its class.
func (f *testFile) culprit(offset int) *braces.Member {
	path := f.At(max(0, offset))
	for i := len(path) - 1; i >= 0; i-- {
		m := path[i]
		switch {
		case m.Kind == braces.Import && !strings.HasPrefix(string(f.Masked[m.Head:m.To]), "package"):
			return m
		case i == 0 && m.Kind == braces.Type:
			return nil
		case m.Kind == braces.Type:
			return m
		case m.Kind == braces.Method && !isSetUp(m) && !strings.Contains(m.Notes, "@Override") && !constructs(path, i) && !strings.Contains(f.Header(m), "override "):
			return m
		case m.Kind == braces.Field && m.Notes == "" && m.Name != "" && (i == 0 || m.Open == 0):
			return m
		}
	}
	return nil
}

// constructs holds for constructors: they have their class's name.
func constructs(path []*braces.Member, i int) bool {
	return i > 0 && (path[i].Name == path[i-1].Name || path[i].Name == "init" || path[i].Name == "constructor")
}

// namesOf are the names that go with a member.
func namesOf(f *testFile, m *braces.Member) []string {
	if m.Kind != braces.Import {
		return []string{m.Name}
	}
	if word := importedAs.FindStringSubmatch(strings.TrimSpace(string(f.Masked[m.Head:m.To]))); word != nil {
		return []string{word[1]}
	}
	return nil
}

// sourceAt is the repository-relative path of a file that a compiler names.
func (s *session) sourceAt(file, root string) string {
	file = path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if rest, ok := strings.CutPrefix(file, root+"/"); ok {
		return rest
	}
	return file
}
