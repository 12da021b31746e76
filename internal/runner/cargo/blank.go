package cargo

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
)

// leftOut is a state's test code that does not compile, blanked in its sources.
//
// Invariants: what remains keeps its place; only test code is ever blanked; what
// was blanked stays so, since a build of the state is kept.
type leftOut struct {
	mu      sync.Mutex // held for the whole of a call
	sources map[string]*blanked
	names   map[string][]namedPiece // what each blanked name stands for
}

// namedPiece is a name that was blanked in a file, and why.
type namedPiece struct {
	file string
	why  gate.Observation
}

// blanked is one rewritten source.
type blanked struct {
	original, text []byte
	pieces         []piece
}

// piece is a blanked part of a source.
type piece struct {
	from, to int
	why      gate.Observation
}

func newLeftOut() *leftOut {
	return &leftOut{sources: make(map[string]*blanked), names: make(map[string][]namedPiece)}
}

// note remembers what a name of a source stood for; the first word counts.
func (l *leftOut) note(file, name string, why gate.Observation) {
	if name == "" || slices.ContainsFunc(l.names[name], func(p namedPiece) bool { return p.file == file }) {
		return
	}
	l.names[name] = append(l.names[name], namedPiece{file, why})
}

// cause is why a name is not there that a target's own sources had: another
// target's of the same name is nothing to it.
func (l *leftOut) cause(c *crate, name string) *gate.Observation {
	for _, p := range l.names[name] {
		if c.byFile[p.file] != nil {
			return &p.why
		}
	}
	return nil
}

// holds tells whether the sources are still those that were rewritten.
func (l *leftOut) holds(tree gate.Tree) bool {
	for file, b := range l.sources {
		if content, err := tree.ReadFile(file); err != nil || !bytes.Equal(content, b.original) {
			return false
		}
	}
	return true
}

// takeOut blanks the test code in which a target's errors stand, and tells
// whether there is something new to build. It is false as soon as an error
// stands anywhere else.
func (l *leftOut) takeOut(c *crate, errors []compileError) bool {
	type fault struct {
		m      *module
		it     *item
		errors []compileError
	}
	var faults []*fault
	done := false
	for _, e := range errors {
		m, offset, ok := c.testPlace(e)
		if !ok {
			return false
		}
		path := m.at(offset)
		if len(path) == 0 {
			return false
		}
		it := path[len(path)-1]
		if it.kind == useItem && l.cutUse(c, m, it, e) {
			done = true
			continue
		}
		at := slices.IndexFunc(faults, func(f *fault) bool { return f.m.file == m.file && f.it == it })
		if at < 0 {
			at, faults = len(faults), append(faults, &fault{m: m, it: it})
		}
		faults[at].errors = append(faults[at].errors, e)
	}
	for _, f := range faults {
		o := l.why(c, f.m, f.errors)
		for _, name := range f.m.names(f.it) {
			if f.it.kind != modItem {
				l.note(f.m.file, name, o)
			}
		}
		from, to := f.it.from, f.it.to
		if f.it.kind == modItem && f.it.open > 0 {
			from, to = f.it.open, f.it.end
		}
		done = l.erase(f.m, from, to, o) || done
	}
	return done
}

// testPlace is the first mark of an error that stands in test code.
func (c *crate) testPlace(e compileError) (*module, int, bool) {
	for _, s := range e.spans {
		at := s.root()
		m := c.sourceOf(at.File)
		if m == nil {
			continue
		}
		offset := m.offset(at.Line, at.Column)
		if offset < 0 {
			continue
		}
		if m.test || slices.ContainsFunc(m.at(offset), (*item).testOnly) {
			return m, offset, true
		}
	}
	return nil, 0, false
}

// why is the observation of what is taken out. Errors about a name that was
// itself taken out are that one's; they count when there is no other.
func (l *leftOut) why(c *crate, m *module, errors []compileError) gate.Observation {
	var own []compileError
	var inherited *gate.Observation
	for _, e := range errors {
		cause := func() *gate.Observation {
			for _, name := range e.missing(m.source) {
				if o := l.cause(c, name.Name); o != nil {
					return o
				}
			}
			return nil
		}()
		if cause == nil {
			own = append(own, e)
		} else if inherited == nil {
			inherited = cause
		}
	}
	if len(own) == 0 {
		return *inherited
	}
	return c.observation(own)
}

// erase blanks a piece of a source; false when that changes nothing.
func (l *leftOut) erase(m *module, from, to int, why gate.Observation) bool {
	b := l.sources[m.file]
	if b == nil {
		b = &blanked{original: m.text, text: slices.Clone(m.text)}
		l.sources[m.file] = b
	}
	if len(bytes.TrimSpace(b.text[from:to])) == 0 {
		return false
	}
	braces.Spaces(b.text[from:to])
	b.pieces = append(b.pieces, piece{from, to, why})
	return true
}

var importErrors = []string{"E0432", "E0433", "E0603", "E0364", "E0365", "E0252", "E0255", "E0583", "unused_imports"}

// cutUse takes the names that an error is about out of a declaration of imports,
// and leaves the other names in.
func (l *leftOut) cutUse(c *crate, m *module, it *item, e compileError) bool {
	if !slices.Contains(importErrors, e.code) {
		return false
	}
	o := c.observation([]compileError{e})
	done := false
	for _, s := range e.spans {
		at := s.root()
		offset := m.offset(at.Line, at.Column)
		if !s.Primary || c.sourceOf(at.File) != m || offset < it.from || offset >= it.to {
			continue
		}
		from, to := m.useElement(it, offset)
		for _, name := range imported(string(m.masked[from:to])) {
			if e.code != "unused_imports" {
				l.note(m.file, name, o)
			}
		}
		done = l.erase(m, from, to, o) || done
	}
	return done
}

// useElement is the piece of an import that holds a place: the member of the
// innermost braces with the comma behind it, else the whole declaration.
func (m *module) useElement(it *item, offset int) (from, to int) {
	depth := 0
	for from = offset; from > it.head; from-- {
		switch m.masked[from-1] {
		case '}':
			depth++
		case '{':
			depth--
		}
		if depth < 0 || depth == 0 && m.masked[from-1] == ',' {
			break
		}
	}
	if from <= it.head {
		return it.from, it.to
	}
	depth = 0
	for to = offset; to < it.to; to++ {
		switch m.masked[to] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return from, to
			}
		case ',':
			if depth == 0 {
				return from, to + 1
			}
		}
	}
	return it.from, it.to
}

var importedName = lazyregexp.New(`(\w+)\s*(?:[,;}]|$)`)

// imported are the names that a piece of an import brings in.
func imported(text string) []string {
	var names []string
	for _, m := range importedName.FindAllStringSubmatch(strings.TrimSpace(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// leftRows are a target's tests that were taken out, by name. partly tells why
// when there may be others whose names the sources do not show.
func (l *leftOut) leftRows(c *crate) (rows map[string]gate.Observation, partly *gate.Observation) {
	rows = make(map[string]gate.Observation)
	for _, m := range c.modules {
		b := l.sources[m.file]
		if b == nil {
			continue
		}
		for _, it := range m.functions() {
			at := slices.IndexFunc(b.pieces, func(p piece) bool { return p.from <= it.head && it.head < p.to })
			switch {
			case at < 0:
			case it.attributeIs(plainTest) && !manyCases.MatchString(it.attributes):
				rows[joined(m.path, it.name)] = b.pieces[at].why
			case it.isTest():
				partly = &b.pieces[at].why
			}
		}
		for _, it := range m.items {
			at := slices.IndexFunc(b.pieces, func(p piece) bool { return p.from <= it.head && it.head < p.to })
			if at >= 0 && it.kind == macroItem && len(it.inside) == 0 {
				partly = &b.pieces[at].why
			}
		}
	}
	return rows, partly
}

// manyCases are attributes that make several tests of one function.
var manyCases = lazyregexp.New(`\[\s*(?:[\w:]+::)?(?:rstest|case|test_case|test_matrix|parameterized|values)\b`)

// put writes the shell lines that put the rewritten sources into the tree, and
// adds them to the files of a command. A source keeps its time as long as its
// text stays, so that what was built of it is not built again.
func (l *leftOut) put(files map[string]string) string {
	var script strings.Builder
	for i, file := range slices.Sorted(maps.Keys(l.sources)) {
		name := fmt.Sprintf("left%d%s", i, path.Ext(file))
		files[name] = string(l.sources[file].text)
		fmt.Fprintf(&script, "put \"{aux}\"/%s %s %s\n", name, quote(file), digest(l.sources[file].text)[:24])
	}
	return script.String()
}

// quote makes a word for the shell.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
