package patchsplit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Sides is one changed production file with its runs. A side that does not have
// the file is nil; then its one run is the whole file.
type Sides struct {
	Path     string
	Old, New []byte
	Runs     []Run
}

// HunkGroup is runs that cannot be taken back without each other, as far as
// that shows in the text: those of one declaration, and those of which one
// declares a name that another uses.
type HunkGroup struct {
	Runs []Run
	Why  string // why no check can tell it, "" when one may: comments or layout, logging
	// Quiet is why a group that no check notices needs none, "" when it does.
	Quiet string
}

// Lines is how many lines the group changes, on either side.
func (g HunkGroup) Lines() int {
	n := 0
	for _, run := range g.Runs {
		n += max(len(run.Old), len(run.New))
	}
	return n
}

// Groups sorts runs into groups, in the order of their first runs.
func Groups(files []Sides) []HunkGroup {
	var facts []runFacts
	for _, file := range files {
		was, is := outline(file.Path, file.Old), outline(file.Path, file.New)
		for _, run := range file.Runs {
			facts = append(facts, runFacts{
				run: run, inside: is.inside(run.NewStart, len(run.New)),
				declares: [2][]string{was.declared(run.OldStart, len(run.Old)), is.declared(run.NewStart, len(run.New))},
				uses:     [2]map[string]bool{wordsIn(run.Old), wordsIn(run.New)},
			})
		}
	}
	group := joinRuns(facts)
	var groups []HunkGroup
	place := make(map[int]int)
	for i, f := range facts {
		at, known := place[group[i]]
		if !known {
			at = len(groups)
			place[group[i]] = at
			groups = append(groups, HunkGroup{})
		}
		groups[at].Runs = append(groups[at].Runs, f.run)
	}
	for i := range groups {
		groups[i].Why = untellable(files, groups[i])
		groups[i].Quiet = quiet(files, groups[i])
	}
	return groups
}

// runFacts is what grouping asks of a run, on both sides.
type runFacts struct {
	run      Run
	inside   string // the declaration that holds it, "" for none
	declares [2][]string
	uses     [2]map[string]bool
}

// needs tells whether two runs stand or fall together.
func (f runFacts) needs(other runFacts) bool {
	if f.inside != "" && f.inside == other.inside && f.run.Path == other.run.Path {
		return true
	}
	if extOf(f.run.Path) != extOf(other.run.Path) {
		return false
	}
	for side := range 2 {
		for _, name := range f.declares[side] {
			if local, imported := strings.CutPrefix(name, "import "); imported {
				if f.run.Path == other.run.Path && other.uses[side][local] {
					return true
				}
			} else if other.uses[side][name] {
				return true
			}
		}
	}
	return false
}

// joinRuns numbers the runs so that those of one group have one number.
func joinRuns(facts []runFacts) []int {
	group := make([]int, len(facts))
	for i := range group {
		group[i] = i
	}
	for i := range facts {
		for j := range facts {
			if i == j || group[i] == group[j] || !facts[i].needs(facts[j]) {
				continue
			}
			from, to := max(group[i], group[j]), min(group[i], group[j])
			for k := range group {
				if group[k] == from {
					group[k] = to
				}
			}
		}
	}
	return group
}

var word = lazyregexp.New(`[A-Za-z_]\w*`)

func wordsIn(lines []string) map[string]bool {
	found := make(map[string]bool)
	for _, line := range lines {
		for _, w := range word.FindAllString(line, -1) {
			found[w] = true
		}
	}
	return found
}

// declaration spans of a source: functions with their bodies, and where names
// that others can use are declared.
type sourceOutline struct {
	bodies []bodySpan
	names  []declaredAt
}

type bodySpan struct {
	name     string
	from, to int // lines
}

type declaredAt struct {
	name     string // "import x" for what an import brings
	from, to int    // lines whose change changes the declaration
}

func outline(file string, source []byte) sourceOutline {
	switch {
	case source == nil:
	case extOf(file) == ".go":
		return outlineGo(source)
	case extOf(file) == ".py":
		return outlinePython(source)
	}
	return sourceOutline{}
}

// inside names the function or type that holds some lines whole.
func (o sourceOutline) inside(start, lines int) string {
	for _, body := range o.bodies {
		if body.from <= start && start+max(lines, 1)-1 <= body.to {
			return body.name
		}
	}
	return ""
}

// declared lists the names whose declaration some lines touch.
func (o sourceOutline) declared(start, lines int) []string {
	var found []string
	for _, d := range o.names {
		if lines > 0 && d.from < start+lines && start <= d.to && d.name != "_" && !slices.Contains(found, d.name) {
			found = append(found, d.name)
		}
	}
	return found
}

func outlineGo(source []byte) sourceOutline {
	var o sourceOutline
	files := token.NewFileSet()
	parsed, _ := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if parsed == nil {
		return o
	}
	line := func(p token.Pos) int { return files.Position(p).Line }
	for _, spec := range parsed.Imports {
		o.names = append(o.names, declaredAt{"import " + importedAs(spec), line(spec.Pos()), line(spec.End())})
	}
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			o.bodies = append(o.bodies, bodySpan{goKey(decl), line(decl.Pos()), line(decl.End())})
			o.names = append(o.names, declaredAt{decl.Name.Name, line(decl.Pos()), line(decl.Type.End())})
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				o.spec(spec, line)
			}
		}
	}
	return o
}

func (o *sourceOutline) spec(spec ast.Spec, line func(token.Pos) int) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			o.names = append(o.names, declaredAt{name.Name, line(name.Pos()), line(name.Pos())})
		}
		o.bodies = append(o.bodies, bodySpan{spec.Names[0].Name, line(spec.Pos()), line(spec.End())})
	case *ast.TypeSpec:
		o.names = append(o.names, declaredAt{spec.Name.Name, line(spec.Name.Pos()), line(spec.Name.Pos())})
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok {
				for _, name := range field.Names {
					o.names = append(o.names, declaredAt{name.Name, line(field.Pos()), line(field.End())})
				}
			}
			return true
		})
	}
}

// importedAs is the name that an import is used by.
func importedAs(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	name := strings.Trim(spec.Path.Value, `"`)
	base := path.Base(name)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(name))
	}
	base, _, _ = strings.Cut(base, ".v")
	return strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
}

func outlinePython(source []byte) sourceOutline {
	var o sourceOutline
	lines := pyLines(source)
	end := func(i int) int { // last physical line of a logical one
		if i+1 < len(lines) {
			return max((lines[i].first + 1), (lines[i+1].first+1)-1)
		}
		return strings.Count(string(source), "\n") + 1
	}
	for _, f := range pyFunctions(source) {
		name := f.name[strings.LastIndexByte(f.name, '.')+1:]
		o.bodies = append(o.bodies, bodySpan{f.name, lines[f.from].first + 1, end(f.last)})
		if !strings.HasPrefix(name, "__") {
			o.names = append(o.names, declaredAt{name, lines[f.from].first + 1, lines[f.from].first + 1})
		}
	}
	for i, line := range lines {
		for _, name := range pyDeclares(line) {
			if o.inside(line.first+1, 1) == "" {
				o.names = append(o.names, declaredAt{name, line.first + 1, end(i)})
			}
		}
	}
	return o
}

// pyDeclares are the names that a statement outside functions declares.
func pyDeclares(line pyLine) []string {
	if match := classLine.FindStringSubmatch(line.text); match != nil {
		return []string{match[1]}
	}
	list := ""
	if match := importLine.FindStringSubmatch(line.text); match != nil {
		list = match[1]
	} else if match := fromLine.FindStringSubmatch(line.text); match != nil {
		list = match[1]
	}
	if list != "" {
		var names []string
		for item := range strings.SplitSeq(list, ",") {
			name, alias, renamed := strings.Cut(strings.Join(strings.Fields(item), " "), " as ")
			if renamed {
				name = alias
			}
			name, _, _ = strings.Cut(name, ".")
			names = append(names, "import "+name)
		}
		return names
	}
	before, _, assigned := cutTopLevel(line.text, '=')
	before, _, _ = strings.Cut(before, ":")
	if before = strings.TrimSpace(before); assigned && target.MatchString(before) {
		return []string{before}
	}
	return nil
}
