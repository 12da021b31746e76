package rts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// world is a random repository: facts about it and the means to make changes.
type world struct {
	r     *rand.Rand
	facts Facts
	files []string
}

type index map[Relation]map[string][]int

func (m index) Rows(r Relation, key string) ([]int, bool) {
	rows, known := m[r][key]
	return rows, known
}

func newWorld(seed uint64) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 7))}
	for i := range 8 {
		w.files = append(w.files, fmt.Sprintf("pkg%d/f%d.%s", i%3, i, []string{"py", "go", "js", "json"}[i%4]))
	}
	m := index{Loads: {}, Executes: {}, Opens: {}, Lists: {}, Imports: {}, Traced: {}}
	w.facts = Facts{Map: m, Graph: &Graph{}, NoMap: "taken away", NoGraph: "taken away"}
	units := []string{"t/test_a.py", "t/test_b.py", "pkg1", "t/test_c.py"}
	for i := range 14 {
		row := Row{ID: fmt.Sprint("row", i), Unit: units[i%len(units)], File: units[i%len(units)], Seconds: w.r.Float64(), Seen: i < 12, Green: w.r.IntN(9) > 0}
		if w.r.IntN(9) == 0 {
			row.Open = "spawns"
		}
		w.facts.Rows = append(w.facts.Rows, row)
	}
	for _, file := range w.files {
		w.facts.Graph.Know(file)
		w.facts.Graph.Use(units[w.r.IntN(len(units))], file)
		w.facts.Graph.Use(w.files[w.r.IntN(len(w.files))], file)
		if strings.HasSuffix(file, ".js") && w.r.IntN(2) == 0 {
			m[Traced][file] = nil // every function of it would have been seen
		}
		m[Loads][file] = w.some(6)
		m[Opens][file] = w.some(1)
		for _, symbol := range []string{"f", "g"} {
			m[Executes][Key(file, symbol)] = w.some(3)
			if w.r.IntN(4) > 0 {
				m[Traced][Key(file, symbol)] = nil
			}
			if w.r.IntN(5) == 0 {
				m[Imports][Key(file, symbol)] = nil
			}
		}
	}
	for _, dir := range []string{".", "pkg0", "pkg1"} {
		m[Lists][dir] = w.some(2)
	}
	for _, unit := range units {
		w.facts.Graph.Unit(unit)
	}
	words := map[string][]string{"alpha": {units[0]}, "beta": {units[1], units[2]}}
	w.facts.Mentions = func(word string, _ bool) []string { return words[word] }
	return w
}

func (w *world) some(most int) []int {
	chosen := make(map[int]bool)
	for range w.r.IntN(most + 1) {
		chosen[w.r.IntN(12)] = true
	}
	return slices.Sorted(maps.Keys(chosen))
}

func (w *world) change(size int) Change {
	var files []FileChange
	for range size {
		f := FileChange{Path: w.files[w.r.IntN(len(w.files))], Status: Status(w.r.IntN(3)), Compared: w.r.IntN(4) > 0, Shape: w.r.IntN(3) == 0, Neutral: w.r.IntN(8) == 0}
		for _, symbol := range []string{"f", "g"} {
			if w.r.IntN(3) == 0 {
				f.Bodies = append(f.Bodies, symbol)
			}
		}
		f.Names = []string{"alpha", "beta", "gamma"}[:w.r.IntN(4)]
		switch w.r.IntN(60) {
		case 0:
			f.Path = "strange.bin"
		case 1:
			f.Path = "go.mod"
		}
		files = append(files, f)
	}
	return NewChange(files...)
}

func selected(s Selection) map[string]bool {
	set := make(map[string]bool)
	for _, row := range s.Rows {
		set[row.ID] = true
	}
	return set
}

func without(big, small map[string]bool) []string {
	var lost []string
	for id := range small {
		if !big[id] {
			lost = append(lost, id)
		}
	}
	return lost
}

// TestMoreChangeNeverSelectsLess holds for every strategy, with and without a
// map or a graph: what two changes select alone is in what they select together.
func TestMoreChangeNeverSelectsLess(t *testing.T) {
	refined := 0
	for seed := range uint64(3000) {
		w := newWorld(seed)
		a, b := w.change(1+w.r.IntN(2)), w.change(1+w.r.IntN(2))
		facts := w.facts
		switch w.r.IntN(4) {
		case 0:
			facts.Map = nil
			for i := range facts.Rows {
				facts.Rows[i].Seen = false
			}
		case 1:
			facts.Graph = nil
		case 2:
			facts.Gap = w.change(1)
		}
		for _, strategy := range Strategies() {
			o := Options{Strategy: strategy, Most: 0.98, Always: func(file string) bool { return file == "t/test_c.py" }}
			one, other, both := selected(Select(a, facts, o)), selected(Select(b, facts, o)), selected(Select(a.Union(b), facts, o))
			if lost := append(without(both, one), without(both, other)...); len(lost) > 0 {
				t.Fatalf("seed %d, %s: together they lose %q\n%+v\n%+v", seed, strategy, lost, a, b)
			}
			if strategy == Auto && len(both) < len(facts.Rows) {
				refined++
			}
		}
	}
	if refined < 300 {
		t.Errorf("only %d of the changes selected less than everything: the test shows nothing", refined)
	}
}

// TestAutoIsWithinFiles: without names, which only add, auto selects among what
// files does, and all of that where it no longer narrows it down.
func TestAutoIsWithinFiles(t *testing.T) {
	smaller, widened := 0, 0
	for seed := range uint64(2000) {
		w := newWorld(seed)
		w.facts.Mentions = nil
		facts := w.facts.Map.(index)
		for key, rows := range facts[Executes] { // who executes a file loads it
			file, _, _ := strings.Cut(key, "#")
			facts[Loads][file] = append(facts[Loads][file], rows...)
		}
		change := w.change(1 + int(seed%3))
		files := selected(Select(change, w.facts, Options{Strategy: ByFiles}))
		for _, most := range []float64{1, 0.9, 0.5, 0.0001} {
			chosen := Select(change, w.facts, Options{Most: most})
			auto := selected(chosen)
			if more := without(files, auto); len(more) > 0 {
				t.Fatalf("seed %d, at most %g: files leaves out %q", seed, most, more)
			}
			switch less := without(auto, files); {
			case strings.HasPrefix(chosen.Fallback, "the selection would be") && len(less) > 0:
				t.Fatalf("seed %d, at most %g: auto leaves out %q", seed, most, less)
			case chosen.Fallback != "":
				widened++
			case len(less) > 0:
				smaller++
			}
		}
	}
	if smaller < 100 || widened < 100 {
		t.Errorf("auto was smaller than files only %d times, and as large again %d times", smaller, widened)
	}
}

// TestNotKnowingSelectsEverything lists what a selector cannot judge.
func TestNotKnowingSelectsEverything(t *testing.T) {
	w := newWorld(1)
	source := NewChange(FileChange{Path: w.files[0], Compared: true, Bodies: []string{"f"}})
	for name, c := range map[string]struct {
		change Change
		facts  Facts
		o      Options
	}{
		"lines without a map":    {source, Facts{Rows: w.facts.Rows, Graph: w.facts.Graph, NoMap: "none"}, Options{Strategy: ByLines}},
		"files without a map":    {source, Facts{Rows: w.facts.Rows, Graph: w.facts.Graph, NoMap: "none"}, Options{Strategy: ByFiles}},
		"auto without anything":  {source, Facts{Rows: w.facts.Rows, NoMap: "none", NoGraph: "none"}, Options{}},
		"imports without graph":  {source, Facts{Rows: w.facts.Rows, Map: w.facts.Map, NoGraph: "none"}, Options{Strategy: ByImports}},
		"names without sources":  {source, Facts{Rows: w.facts.Rows}, Options{Strategy: ByNames}},
		"unknown strategy":       {source, w.facts, Options{Strategy: "coverag"}},
		"unknown file type":      {NewChange(FileChange{Path: "x.bin"}), w.facts, Options{}},
		"lock file":              {NewChange(FileChange{Path: "a/uv.lock"}), w.facts, Options{}},
		"root conftest":          {NewChange(FileChange{Path: "conftest.py", Compared: true, Bodies: []string{"fix"}}), w.facts, Options{}},
		"gap with a lock file":   {source, Facts{Rows: w.facts.Rows, Map: w.facts.Map, Graph: w.facts.Graph, Gap: NewChange(FileChange{Path: "go.sum"})}, Options{}},
		"configured trigger":     {source, w.facts, Options{AllIfChanged: func(p string) bool { return p == w.files[0] }}},
		"data without a map":     {NewChange(FileChange{Path: "d.json"}), Facts{Rows: w.facts.Rows, Graph: w.facts.Graph}, Options{}},
		"source not in a graph":  {NewChange(FileChange{Path: "new/x.py"}), Facts{Rows: w.facts.Rows, Graph: w.facts.Graph}, Options{}},
		"everything asked for":   {Change{}, w.facts, Options{Strategy: Everything}},
		"no graph beside a map ": {NewChange(FileChange{Path: w.files[0]}), Facts{Rows: w.facts.Rows, Map: w.facts.Map, NoGraph: "broken"}, Options{}},
	} {
		s := Select(c.change, c.facts, c.o)
		if len(s.Rows) != len(c.facts.Rows) {
			t.Errorf("%s: %d of %d rows", name, len(s.Rows), len(c.facts.Rows))
		}
		if s.Fallback == "" && name != "everything asked for" {
			t.Errorf("%s: no reason is given", name)
		}
	}
}

// TestForgettingARowSelectsIt: a row that the map does not know, or of which
// not everything was seen, runs whatever the change is.
func TestForgettingARowSelectsIt(t *testing.T) {
	for seed := range uint64(500) {
		w := newWorld(seed)
		change := w.change(2)
		before := selected(Select(change, w.facts, Options{}))
		i := w.r.IntN(12)
		facts := w.facts
		facts.Rows = slices.Clone(facts.Rows)
		facts.Rows[i].Open = "its trace was lost"
		after := selected(Select(change, facts, Options{}))
		if lost := without(after, before); len(lost) > 0 {
			t.Fatalf("seed %d: knowing less of row %d lost %q", seed, i, lost)
		}
	}
}

// TestUnseenScriptsKeepTheirFamily: where not all that a script executes was
// seen, a changed body concerns everybody who loads the file.
func TestUnseenScriptsKeepTheirFamily(t *testing.T) {
	smaller := 0
	for seed := range uint64(500) {
		w := newWorld(seed)
		file := w.files[2] // the first script
		change := NewChange(FileChange{Path: file, Compared: true, Bodies: []string{"f"}})
		m := w.facts.Map.(index)
		m[Traced][file] = nil
		seen := selected(Select(change, w.facts, Options{Most: 1}))
		delete(m[Traced], file)
		delete(m[Traced], Key(file, "f"))
		unseen := selected(Select(change, w.facts, Options{Most: 1}))
		if lost := without(unseen, seen); len(lost) > 0 {
			t.Fatalf("seed %d: not seeing %s lost %q", seed, file, lost)
		}
		for _, row := range m[Loads][file] {
			if !unseen[w.facts.Rows[row].ID] {
				t.Fatalf("seed %d: row %d loads %s, of which not all was seen, and is left out", seed, row, file)
			}
		}
		if len(seen) < len(unseen) {
			smaller++
		}
	}
	if smaller < 50 {
		t.Errorf("seeing all of a script made the selection smaller only %d times", smaller)
	}
}
