package gotest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// leftOut is a set of test sources with the declarations blanked that do not
// compile.
//
// Invariants: positions of what remains do not move; what a name stands for is
// kept apart for the package and its external test package; TestMain and init
// functions are taken out only where setUps is not nil, and of a package without
// its set-up only what passes counts: a failure may be the missing set-up's.
type leftOut struct {
	sources map[string]*blanked
	rows    map[rowKey]gate.Observation
	names   map[nameKey]gate.Observation // what each blanked name stands for
	setUps  map[string]gate.Observation  // by directory: why its set-up was taken out
}

// blanked is one rewritten test file.
type blanked struct{ original, text []byte }

type rowKey struct{ file, name string }

type nameKey struct{ dir, pkg, name string } // methods are ".Name"

func newLeftOut() *leftOut {
	return &leftOut{sources: make(map[string]*blanked), rows: make(map[rowKey]gate.Observation), names: make(map[nameKey]gate.Observation)}
}

func (l *leftOut) clone() *leftOut {
	copied := &leftOut{make(map[string]*blanked), maps.Clone(l.rows), maps.Clone(l.names), maps.Clone(l.setUps)}
	for file, b := range l.sources {
		copied.sources[file] = &blanked{b.original, slices.Clone(b.text)}
	}
	return copied
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

// withSetUps lets set-ups be taken out where a state is not held against what
// it comes to as a whole: base's code under head's tests.
func (l *leftOut) withSetUps(name gate.StateName) *leftOut {
	if name == gate.BaseTests && l.setUps == nil {
		l.setUps = make(map[string]gate.Observation)
	}
	return l
}

// doubted is what an observation of a package comes to whose set-up was taken
// out.
func (l *leftOut) doubted(dir string, o gate.Observation) gate.Observation {
	if without, out := l.setUps[dir]; out && o.Outcome != gate.Passed {
		return without
	}
	return o
}

// row returns why a test was left out.
func (l *leftOut) row(row gate.Row) (gate.Observation, bool) {
	o, out := l.rows[rowKey{row.File, number.ReplaceAllString(row.Name, "")}]
	return o, out
}

// any tells whether something of these packages was left out.
func (l *leftOut) any(books []*book) bool {
	for file := range l.sources {
		if slices.ContainsFunc(books, func(b *book) bool { return b.dir == path.Dir(file) }) {
			return true
		}
	}
	return false
}

// overlay hands the rewritten sources, and those to be added, to the go
// command, as auxiliary files.
func (l *leftOut) overlay(at *layout, books []*book, added map[string][]byte) (map[string]string, error) {
	if !l.any(books) && len(added) == 0 {
		return nil, nil
	}
	files := make(map[string]string)
	replace := make(map[string]string)
	up := "./"
	if at.dir != "." {
		up = strings.Repeat("../", strings.Count(at.dir, "/")+1)
	}
	for i, file := range slices.Sorted(maps.Keys(l.sources)) {
		name := fmt.Sprintf("%d_test.go", i)
		files[name] = string(l.sources[file].positioned(file))
		replace[up+file] = "{aux}/" + name
	}
	for i, file := range slices.Sorted(maps.Keys(added)) {
		name := fmt.Sprintf("added%d_test.go", i)
		files[name] = string(added[file])
		replace[up+file] = "{aux}/" + name
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, fmt.Errorf("writing the overlay of %q: %w", at.dir, err)
	}
	files["overlay.json"] = string(text)
	return files, nil
}

// positioned is the text with a directive that gives positions in it the file's
// own name: what a test prints shall name its source, not the auxiliary file.
func (b *blanked) positioned(file string) []byte {
	clause := packageClause.FindIndex(b.text)
	if clause == nil {
		return b.text
	}
	line := bytes.Count(b.text[:clause[0]], []byte("\n")) + 1
	return slices.Concat(b.text[:clause[0]], fmt.Appendf(nil, "/*line %s:%d:1*/", file, line), b.text[clause[0]:])
}

// unalias names the tree's files where the compiler named auxiliary ones.
func (l *leftOut) unalias(tree gate.Tree, faults []compileError) []compileError {
	known := tree.Paths()
	for i, e := range faults {
		if _, in := slices.BinarySearch(known, e.file); in {
			continue
		}
		best := ""
		for file := range l.sources {
			if strings.HasSuffix("/"+e.file, "/"+file) && len(file) > len(best) {
				best = file
			}
		}
		if best != "" {
			faults[i].file = best
		}
	}
	return faults
}
