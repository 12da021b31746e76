package gotest

import (
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// isolate takes what did not compile out of a package's tests and tells whether
// to build again. When nothing can be taken out, the package fails.
func (s *session) isolate(b *book, said *stream, run *packageRun) bool {
	text := s.compilerWords(b, said, run)
	faults := s.left.unalias(s.tree, compileErrors(text, s.Dir))
	b.builds++
	if b.builds <= maxBuilds && len(faults) > 0 && s.left.takeOut(s.layout, b.dir, faults) {
		return true
	}
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message(text)}
	if len(faults) > 0 {
		o.Message, o.Place = gate.Message(faults[0].message), gate.Place{File: faults[0].file, Line: faults[0].line}
		o.Missing = s.missing(faults)
	}
	switch {
	case noModule(text):
		o.Reason = gate.Import
		if len(faults) == 0 {
			o.Message = gate.Message(text + " (run go mod download first)")
		}
	case len(faults) > 0 && faults[0].isImport():
		o.Reason = gate.Import
	case strings.Contains(run.out.String(), "[setup failed]") && len(faults) == 0:
		o.Reason = gate.Setup
	}
	b.failed = &o
	return false
}

// missing reads the names that the sentences are about, file by file, those of
// the first file first.
func (s *session) missing(faults []compileError) []gate.Missing {
	var found []gate.Missing
	for len(faults) > 0 {
		first := faults[0].file
		source, _ := s.tree.ReadFile(first)
		var here, rest []compileError
		for _, e := range faults {
			if e.file == first {
				here = append(here, e)
			} else {
				rest = append(rest, e)
			}
		}
		found, faults = append(found, missing(here, source)...), rest
	}
	return found
}

// compilerWords collects what the build of a test package printed: as build
// events, or before go 1.24 as text in sections that begin with "# path".
func (s *session) compilerWords(b *book, said *stream, run *packageRun) string {
	concerns := func(name string) bool {
		bare, _, _ := strings.Cut(name, " ")
		return name == run.failedBuild || bare == b.importPath || bare == b.importPath+"_test" || bare == b.importPath+".test" || strings.Contains(name, "["+b.importPath+".test]")
	}
	var words strings.Builder
	for name, out := range said.builds {
		if concerns(name) {
			words.WriteString(out.String())
		}
	}
	if words.Len() > 0 {
		return words.String()
	}
	for _, section := range strings.Split("\n"+said.words(), "\n# ") {
		if header, body, _ := strings.Cut(section, "\n"); concerns(header) {
			words.WriteString(body + "\n")
		}
	}
	if words.Len() > 0 {
		return words.String()
	}
	return run.out.String() + said.words()
}
