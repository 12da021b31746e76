package gotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// compileError is one sentence of the compiler or the go command.
type compileError struct {
	file    string // repository-relative, "" when it has no place
	line    int
	message string
}

var placed = regexp.MustCompile(`^((?:[A-Za-z]:)?[^\s:][^:]*\.\w+):(\d+)(?::\d+)?: (.+)$`)

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

// missingNames are the patterns of sentences about names that do not exist.
var missingNames = []struct {
	pattern   *regexp.Regexp
	name      int // index of the group with the name
	owner     int // of the group with what it was looked up on; 0 for none
	signature bool
}{
	{regexp.MustCompile(`^undefined: (\w+)\.(\w+)`), 2, 1, false},
	{regexp.MustCompile(`^undefined: (\w+)`), 1, 0, false},
	{regexp.MustCompile(`undefined \(type (\S+) has no field or method (\w+)`), 2, 1, false},
	{regexp.MustCompile(`(?:^|\s)(?:\w+\.)*(\w+) undefined \(`), 1, 0, false},
	{regexp.MustCompile(`^unknown field (\w+) in struct literal of type (\S+)`), 1, 2, false},
	{regexp.MustCompile(`missing method (\w+)`), 1, 0, false},
	{regexp.MustCompile(`(?:not enough|too many) arguments in call to (?:\w+\.)*(\w+)`), 1, 0, true},
	{regexp.MustCompile(`assignment mismatch: .* but (?:\w+\.)*(\w+)(?:\(.*\))? returns`), 1, 0, true},
	{regexp.MustCompile(`in argument to (?:\w+\.)*(\w+)`), 1, 0, true},
	{regexp.MustCompile(`^(?:no required module provides package|cannot find package|cannot find module providing package) "?([^\s:;"]+)`), 1, 0, false},
	{regexp.MustCompile(`^package (\S+) is not in (?:std|GOROOT)`), 1, 0, false},
	{regexp.MustCompile(`^could not import (\S+)`), 1, 0, false},
	{regexp.MustCompile(`name (\w+) not exported by package`), 1, 0, false},
}

// missing reads the names that a sentence says are not there, then the other
// names on its source line: a wrong use of a changed declaration names no
// culprit of its own.
func missing(e compileError, sourceLine string) []gate.Missing {
	var found []gate.Missing
	production := e.file != "" && !strings.HasSuffix(e.file, "_test.go")
	for _, m := range missingNames {
		if groups := m.pattern.FindStringSubmatch(e.message); groups != nil {
			name := gate.Missing{Name: groups[m.name], Signature: m.signature, FromProduction: production}
			if m.owner > 0 {
				name.Owner = strings.TrimLeft(groups[m.owner], "*")
			}
			found = append(found, name)
			break
		}
	}
	for _, word := range identifiers.FindAllString(sourceLine, -1) {
		if !token.IsKeyword(word) && !slices.ContainsFunc(found, func(m gate.Missing) bool { return m.Name == word }) {
			found = append(found, gate.Missing{Name: word, FromProduction: production}, gate.Missing{Name: word, Signature: true, FromProduction: production})
		}
	}
	return found
}

var identifiers = regexp.MustCompile(`[\pL_][\pL\d_]*`)

// leftOut is a set of test sources with the declarations blanked that do not
// compile. Positions of what remains do not move.
type leftOut struct {
	sources map[string][]byte // rewritten test files
	rows    map[string]gate.Observation
	names   map[string]gate.Observation // what each blanked declaration stands for
}

func newLeftOut() *leftOut {
	return &leftOut{make(map[string][]byte), make(map[string]gate.Observation), make(map[string]gate.Observation)}
}

// blank takes the declarations at fault out of the sources. It returns false
// when an error has no place in a test file that it could take out: then
// nothing can be isolated.
func (l *leftOut) blank(tree gate.Tree, errors []compileError) bool {
	some := false
	for _, e := range errors {
		if !strings.HasSuffix(e.file, "_test.go") {
			return false
		}
		source, ok := l.sources[e.file]
		if !ok {
			var err error
			if source, err = tree.ReadFile(e.file); err != nil {
				return false
			}
			source = slices.Clone(source)
			l.sources[e.file] = source
		}
		if l.blankAt(e, source) {
			some = true
		}
	}
	return some
}

// blankAt takes out the declaration that holds the error's line.
func (l *leftOut) blankAt(e compileError, source []byte) bool {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	unused := strings.HasSuffix(e.message, "imported and not used") || strings.Contains(e.message, " imported as ") && strings.HasSuffix(e.message, "and not used")
	for _, decl := range parsed.Decls {
		for _, node := range pieces(decl) {
			from, to := files.Position(node.Pos()), files.Position(node.End())
			if e.line < from.Line || e.line > to.Line {
				continue
			}
			if spec, ok := node.(*ast.ImportSpec); ok && unused {
				return l.keepForEffect(e.file, files, spec)
			}
			if group, ok := decl.(*ast.GenDecl); ok && !group.Lparen.IsValid() {
				from, to = files.Position(decl.Pos()), files.Position(decl.End())
			}
			o := l.fault(e, source)
			for _, name := range declared(node) {
				l.names[name] = o
				l.rows[name] = o
			}
			erase(source[from.Offset:min(to.Offset, len(source))])
			return true
		}
	}
	return false
}

// pieces are the parts of a declaration that can be taken out alone.
func pieces(decl ast.Decl) []ast.Node {
	d, ok := decl.(*ast.GenDecl)
	if !ok || !d.Lparen.IsValid() || d.Tok == token.CONST { // iota counts lines of a const group
		if ok && d.Tok == token.IMPORT && len(d.Specs) == 1 {
			return []ast.Node{d.Specs[0]}
		}
		return []ast.Node{decl}
	}
	nodes := make([]ast.Node, len(d.Specs))
	for i, spec := range d.Specs {
		nodes[i] = spec
	}
	return nodes
}

// declared are the names that a piece brings into the package.
func declared(node ast.Node) []string {
	var names []string
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil {
			names = append(names, n.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			names = append(names, declared(spec)...)
		}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			names = append(names, name.Name)
		}
	case *ast.TypeSpec:
		names = append(names, n.Name.Name)
	case *ast.ImportSpec:
		value := strings.Trim(n.Path.Value, `"`)
		names = append(names, path.Base(value))
		if n.Name != nil {
			names = append(names, n.Name.Name)
		}
	}
	return names
}

// fault is the observation of what was taken out. An error about a name that
// was itself taken out is that one's error.
func (l *leftOut) fault(e compileError, source []byte) gate.Observation {
	names := missing(e, lineOf(source, e.line))
	if len(names) > 0 && names[0].Name != "" && strings.HasPrefix(e.message, "undefined: ") {
		root := names[0].Name
		if names[0].Owner != "" {
			root = names[0].Owner
		}
		if o, ok := l.names[root]; ok {
			return o
		}
	}
	return gate.Observation{
		Outcome: gate.Errored, Reason: gate.Compile, Message: clean(e.message),
		Place: gate.Place{File: e.file, Line: e.line}, Missing: names,
	}
}

// keepForEffect turns an import that nothing uses any more into one for its
// effects.
func (l *leftOut) keepForEffect(file string, files *token.FileSet, spec *ast.ImportSpec) bool {
	source := l.sources[file]
	from := files.Position(spec.Pos()).Offset
	to := files.Position(spec.Path.Pos()).Offset
	l.sources[file] = slices.Concat(source[:from], []byte("_ "), source[to:])
	return spec.Name == nil || spec.Name.Name != "_"
}

func lineOf(source []byte, line int) string {
	lines := strings.Split(string(source), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// erase blanks text and keeps its lines.
func erase(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
