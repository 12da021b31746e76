package dotnet

import (
	"path"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// compileError is one error of C#'s compiler or of MSBuild.
type compileError struct {
	file      string // repository-relative; "" for one of the build itself
	line, col int
	code      string // CS1061
	text      string
}

var (
	errorLine  = lazyregexp.New(`^\s*(.+?\.cs)\((\d+),(\d+)(?:,\d+,\d+)?\): error (\w+): (.*?)(?: \[[^\]]*proj(?:::[^\]]*)?\])?\s*$`)
	buildError = lazyregexp.New(`^\s*(?:.*? ?: )?error (\w+): (.*?)(?: \[[^\]]*proj(?:::[^\]]*)?\])?\s*$`)
	ofOwner    = lazyregexp.New(`^'([^']+)' does not contain a definition for '(\w+)'`)
	firstName  = lazyregexp.New("'(?:[\\w.]*\\.)?(\\w+)[^']*'")
	overload   = lazyregexp.New(`^No overload for method '(\w+)'`)
	ofCall     = lazyregexp.New(`of '(?:[\w.<>]*\.)?(\w+)\(`)
	constructs = lazyregexp.New(`^'(?:[\w.]*\.)?(\w+)[^']*' does not contain a constructor`)
	bestOne    = lazyregexp.New(`^The best overload for '(\w+)'`)
	member     = lazyregexp.New(`interface member '(?:[\w.<>]*\.)?(\w+)[(']`)
	calledWord = lazyregexp.New(`([A-Za-z_]\w*)\s*(?:<[^<>()]*>)?\s*\(`)
)

// readError reads a line of the build's output as an error.
func readError(line, root string) (compileError, bool) {
	if m := errorLine.FindStringSubmatch(line); m != nil {
		at, _ := strconv.Atoi(m[2])
		col, _ := strconv.Atoi(m[3])
		return compileError{strings.TrimPrefix(path.Clean(strings.ReplaceAll(m[1], `\`, "/")), root+"/"), at, col, m[4], m[5]}, true
	}
	if m := buildError.FindStringSubmatch(line); m != nil {
		return compileError{code: m[1], text: m[2]}, true
	}
	return compileError{}, false
}

// missing are the names that an error is about. What each code says is Roslyn's
// own wording.
func (e compileError) missing(s *braces.Source) []gate.Missing {
	named := func(pattern *lazyregexp.Regexp, signature bool) []gate.Missing {
		if m := pattern.FindStringSubmatch(e.text); m != nil {
			return []gate.Missing{{Name: m[1], Signature: signature}}
		}
		return nil
	}
	switch e.code {
	case "CS0117", "CS1061": // no such member
		if m := ofOwner.FindStringSubmatch(e.text); m != nil {
			return []gate.Missing{{Name: m[2], Owner: simple(m[1])}}
		}
	case "CS0103", "CS0246", "CS0234", "CS0122": // no such name, or none that may be used
		return named(firstName, false)
	case "CS1501":
		return named(overload, true)
	case "CS7036":
		return named(ofCall, true)
	case "CS1729":
		return named(constructs, true)
	case "CS1739":
		return named(bestOne, true)
	case "CS0535", "CS0534":
		return named(member, false)
	case "CS0115": // nothing to override
		return named(firstName, false)
	case "CS1503", "CS0029", "CS0266", "CS1502", "CS0019", "CS1660": // types: what the line calls may be there in another shape
		return e.called(s)
	}
	return nil
}

func (e compileError) called(s *braces.Source) []gate.Missing {
	if s == nil || s.Offset(e.line, 1) < 0 {
		return nil
	}
	line, _, _ := strings.Cut(string(s.Masked[s.Offset(e.line, 1):]), "\n")
	var found []gate.Missing
	for _, m := range calledWord.FindAllStringSubmatch(line, 8) {
		found = append(found, gate.Missing{Name: m[1], Signature: true})
	}
	return found
}

func simple(name string) string {
	name, _, _ = strings.Cut(name, "<")
	return name[strings.LastIndexAny(name, ".+")+1:]
}

// failure is what errors come to for the code that holds them.
func failure(errors []compileError, s *braces.Source) gate.Observation {
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile}
	for i, e := range errors {
		missing := e.missing(s)
		if i == 0 || len(o.Missing) == 0 && len(missing) > 0 {
			o.Message, o.Place = gate.Message(e.code+": "+e.text), gate.Place{File: e.file, Line: e.line}
		}
		if len(o.Missing) < 50 {
			o.Missing = append(o.Missing, missing...)
		}
		if strings.HasPrefix(e.code, "NETSDK") || strings.HasPrefix(e.code, "NU") {
			o.Reason, o.Message = gate.Import, gate.Message("a package is not at hand offline: name setup: [[dotnet, restore]] in .github/touchstone.yml ("+e.code+": "+e.text+")")
		}
	}
	return o
}

// culprit is the declaration that can be taken out alone to be rid of what stands
// at an offset: a test, a helper, a using; nil for the whole source.
func culprit(s *braces.Source, offset int) *braces.Member {
	chain := s.At(max(0, offset))
	for i := len(chain) - 1; i >= 0; i-- {
		m := chain[i]
		header := s.Header(m)
		switch {
		case m.Kind == braces.Import && !strings.HasPrefix(header, "namespace"):
			return m
		case m.Kind == braces.Type && !strings.HasPrefix(header, "namespace"):
			if i > 0 && chain[i-1].Kind == braces.Type && !strings.HasPrefix(s.Header(chain[i-1]), "namespace") {
				return m
			}
			return nil
		case m.Kind == braces.Method && !around.MatchString(m.Notes) && !overrides.MatchString(header) && (i == 0 || m.Name != chain[i-1].Name):
			return m
		case m.Kind == braces.Field && m.Notes == "" && m.Name != "" && m.Open == 0:
			return m
		}
	}
	return nil
}

var (
	around    = lazyregexp.New(`\b(?:SetUp|TearDown|OneTimeSetUp|OneTimeTearDown|TestInitialize|TestCleanup|ClassInitialize|ClassCleanup|AssemblyInitialize|AssemblyCleanup)\b`)
	overrides = lazyregexp.New(`\b(?:override|abstract|virtual)\b|\bDispose(?:Async)?\s*\(|\b(?:Initialize|Dispose)Async\b`)
)
