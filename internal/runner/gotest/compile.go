package gotest

import (
	"go/doc"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// compileError is one sentence of the compiler or the go command.
type compileError struct {
	file    string // repository-relative, "" when it has no place
	line    int
	message string
}

var placed = lazyregexp.New(`^((?:[A-Za-z]:)?[^\s:][^:]*\.\w+):(\d+)(?::\d+)?: (.+)$`)

// compileErrors reads what the compiler printed. dir is the directory that its
// paths are relative to.
func compileErrors(output, dir string) []compileError {
	var found []compileError
	for line := range strings.SplitSeq(output, "\n") {
		switch {
		case strings.HasPrefix(line, "\t") && len(found) > 0:
			found[len(found)-1].message += " " + strings.TrimSpace(line)
		case strings.HasPrefix(line, "#"), strings.TrimSpace(line) == "", strings.HasSuffix(line, "too many errors"):
		default:
			if m := placed.FindStringSubmatch(line); m != nil {
				number, _ := strconv.Atoi(m[2])
				found = append(found, compileError{path.Join(dir, strings.ReplaceAll(m[1], `\`, "/")), number, m[3]})
			}
		}
	}
	return found
}

// missingNames are the patterns of sentences about names that do not exist, or
// exist otherwise than they are used.
var missingNames = []struct {
	pattern   *lazyregexp.Regexp
	name      int // index of the group with the name
	owner     int // of the group with what it was looked up on; 0 for none
	signature bool
}{
	{lazyregexp.New(`^undefined: (\w+)\.(\w+)`), 2, 1, false},
	{lazyregexp.New(`^undefined: (\w+)`), 1, 0, false},
	{lazyregexp.New(`undefined \(type (.+?) has no (?:field or )?method (\w+)`), 2, 1, false},
	{lazyregexp.New(`(?:^|\s)(?:\w+\.)*(\w+) undefined \(`), 1, 0, false},
	{lazyregexp.New(`^unknown field (\w+) in struct literal of type (.+)`), 1, 2, false},
	{lazyregexp.New(`missing method (\w+)`), 1, 0, false},
	{lazyregexp.New(`wrong type for method (\w+)`), 1, 0, true},
	{lazyregexp.New(`too (?:few|many) values in struct literal of type (?:\w+\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`in call to non-variadic (?:\w+\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`(?:not enough|too many) arguments in call to (?:\w+\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`assignment mismatch: .* but (?:\w+(?:\([^)]*\))?\.)*(\w+)(?:\(.*\))? returns`), 1, 0, true},
	{lazyregexp.New(`in argument to (?:\w+(?:\([^)]*\))?\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`^(?:\w+\.)*(\w+)\(.*\) \(no value\) used as value`), 1, 0, true},
	{lazyregexp.New(`cannot call non-function (?:\w+\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`got \d+ type arguments? but (?:\w+\.)*(\w+)`), 1, 0, true},
	{lazyregexp.New(`^(?:no required module provides package|cannot find package|cannot find module providing package) "?([^\s:;"]+)`), 1, 0, false},
	{lazyregexp.New(`^package (\S+) is not in (?:std|GOROOT)`), 1, 0, false},
	{lazyregexp.New(`^could not import (\S+)`), 1, 0, false},
	{lazyregexp.New(`name (\w+) not exported by package (\S+)`), 1, 2, false},
}

// importLine is a source line that imports one package.
var importLine = lazyregexp.New(`^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"]+)"\s*(?://.*)?$`)

// missing reads the names that the sentences about one source say are not there,
// then the other names on their lines: a wrong use of a changed declaration names no
// culprit of its own.
func missing(faults []compileError, source []byte) []gate.Missing {
	var found []gate.Missing
	add := func(m gate.Missing, e compileError) {
		m.FromProduction = e.file != "" && !isTest(e.file)
		if !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	for _, e := range faults {
		if m, certain := e.missing(); certain {
			add(m, e)
		}
	}
	certain := len(found)
	for _, e := range faults {
		line := lineOf(source, e.line)
		if imported := importLine.FindStringSubmatch(line); imported != nil {
			if _, said := e.missing(); !said && e.isImport() {
				add(gate.Missing{Name: imported[1]}, e)
			}
			continue
		}
		for _, word := range identifiers(line) {
			if !slices.ContainsFunc(found[:certain], func(m gate.Missing) bool { return m.Name == word }) {
				add(gate.Missing{Name: word}, e)
				add(gate.Missing{Name: word, Signature: true}, e)
			}
		}
	}
	return found
}

// missing is the name that a sentence itself says is not there.
func (e compileError) missing() (name gate.Missing, ok bool) {
	for _, m := range missingNames {
		if groups := m.pattern.FindStringSubmatch(e.message); groups != nil {
			name = gate.Missing{Name: groups[m.name], Signature: m.signature}
			if m.owner > 0 {
				name.Owner = strings.TrimLeft(groups[m.owner], "*")
			}
			return name, true
		}
	}
	return gate.Missing{}, false
}

// isImport tells whether the sentence is about a package that cannot be had,
// not about an import that is not used.
func (e compileError) isImport() bool {
	for _, words := range []string{"no required module", "is not in std", "is not in GOROOT", "could not import", "cannot find", "no Go files", "use of internal package", "missing go.sum entry", "import cycle", "build constraints exclude all Go files", "GOPROXY=off", "not in your go.mod"} {
		if strings.Contains(e.message, words) {
			return true
		}
	}
	return false
}

// isUnused tells whether the sentence is about an import that is not used.
func (e compileError) isUnused() bool { return strings.HasSuffix(e.message, "and not used") }

// identifiers lists the names in a piece of source, outside strings and
// comments.
func identifiers(source string) []string {
	var found []string
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(source)), []byte(source), func(token.Position, string) {}, 0)
	for {
		_, tok, word := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok == token.IDENT && word != "_" && !doc.IsPredeclared(word) && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
}

func lineOf(source []byte, line int) string {
	lines := strings.Split(string(source), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return lines[line-1]
}
