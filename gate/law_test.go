package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// alphabet is one observation of every kind that the reading tells apart.
var alphabet = []Observation{
	{Outcome: Passed},
	{Outcome: Failed, Reason: Assertion},
	{Outcome: Failed, Reason: Exception, Missing: []Missing{{Name: "added"}}},
	{Outcome: Errored, Reason: Import},
	{Outcome: Errored, Reason: Setup},
	{Outcome: Skipped},
	{Outcome: TimedOut, Reason: Timeout, Duration: time.Minute},
}

// cells is one row as a list of observations per state, small enough to
// enumerate and to remove observations from.
type cells struct {
	onBase bool // base knows the row
	same   bool // its source is the same on base and head
	gone   bool // head does not know it
	around bool // the change puts something in place of code, in test code around the row
	other  bool // its new version asks about something else
	seen   map[StateName][]Observation
}

func world(production, steered bool, rows []cells) *replay {
	split := []SplitEntry{{Path: "a_test.py", Part: "test"}}
	if production {
		split = append(split, SplitEntry{Path: "a.py", Part: "production"})
	}
	r := newReplay(Inputs{
		Split:      split,
		Policy:     DefaultPolicy(),
		SameTree:   func(a, b StateName) bool { return false },
		Introduced: func(m Missing) bool { return m.Name == "added" },
	})
	r.ranFull = true
	r.m.Steered = steered
	r.forsakes = make(map[Key]bool)
	for i, c := range rows {
		row := Row{ID: fmt.Sprint("t", i), Runner: "x", Unit: "u", File: "a_test.py", Digest: "head"}
		if !c.gone {
			r.m.See(Head, row)
		}
		if c.around {
			r.support, r.touchedU["x"] = supportReplaces, map[StateName][]string{Base: {"u"}}
		}
		r.forsakes[row.Key()] = c.other
		if c.onBase {
			base := row
			if !c.same {
				base.Digest = "base"
			}
			r.m.See(Base, base)
		}
		for state, list := range c.seen {
			for _, o := range list {
				r.m.Add(state, row, o) // a state that did not know it does now
			}
		}
	}
	return r
}

func conclude(production, steered bool, rows []cells) Conclusion {
	r := world(production, steered, rows)
	return Decide(read(r).facts, r.in.Policy).Conclusion
}

// greener tells whether b lets through what a holds back.
func greener(a, b Conclusion) bool {
	ok := func(c Conclusion) bool { return c == Pass || c == NotApplicable }
	return !ok(a) && ok(b)
}

// without returns the rows with one observation taken away.
func without(rows []cells, row int, state StateName, index int) []cells {
	out := make([]cells, len(rows))
	copy(out, rows)
	seen := make(map[StateName][]Observation)
	for s, list := range rows[row].seen {
		seen[s] = append([]Observation(nil), list...)
	}
	seen[state] = append(seen[state][:index:index], seen[state][index+1:]...)
	out[row].seen = seen
	return out
}

func checkLaw(t *testing.T, production, steered bool, rows []cells) {
	t.Helper()
	before := conclude(production, steered, rows)
	for i := range rows {
		for state, list := range rows[i].seen {
			for j := range list {
				if after := conclude(production, steered, without(rows, i, state, j)); greener(before, after) {
					t.Fatalf("production %v: taking observation %d of %s of row %d away turns %s into %s\nrows: %+v", production, j, state, i, before, after, rows)
				}
			}
		}
	}
}

// TestTakingAFactAwayNeverPasses is the law that everything rests on, over
// every matrix of one row.
func TestTakingAFactAwayNeverPasses(t *testing.T) {
	n := 0
	for _, shape := range []struct{ onBase, same bool }{{false, false}, {true, false}, {true, true}} {
		for _, base := range alphabet {
			for _, b1 := range alphabet {
				for _, b2 := range alphabet {
					checkRemoved(t, base, b1, b2)
					n++
					for _, h1 := range alphabet {
						for _, h2 := range alphabet {
							seen := map[StateName][]Observation{BaseTests: {b1, b2}, Head: {h1, h2}}
							if shape.onBase {
								seen[Base] = []Observation{base}
							}
							for _, production := range []bool{true, false} {
								checkLaw(t, production, false, []cells{{onBase: shape.onBase, same: shape.same, seen: seen}})
								n++
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d matrices", n)
}

// checkRemoved is the law for a row that head took out, beside one that proves
// the change: whatever base's version comes to, knowing less never helps.
func checkRemoved(t *testing.T, old1, old2, base2 Observation) {
	t.Helper()
	proof := cells{seen: map[StateName][]Observation{BaseTests: {alphabet[1], alphabet[1]}, Head: {alphabet[0], alphabet[0]}}}
	for _, base1 := range alphabet {
		removed := cells{onBase: true, gone: true, seen: map[StateName][]Observation{Base: {base1, base2}, HeadBaseTests: {old1, old2}}}
		checkLaw(t, true, false, []cells{removed, proof})
	}
}

// TestTakingAFactAwayNeverPassesInCompany is the same law over drawn matrices
// of up to four rows.
func TestTakingAFactAwayNeverPassesInCompany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() Observation { return alphabet[random.IntN(len(alphabet))] }
	drawn := 30_000
	if testing.Short() {
		drawn = 3_000
	}
	for range drawn {
		rows := make([]cells, 1+random.IntN(4))
		for i := range rows {
			rows[i] = cells{onBase: random.IntN(2) == 0, same: random.IntN(2) == 0, seen: map[StateName][]Observation{
				BaseTests: {pick(), pick()}, Head: {pick(), pick()},
			}}
			if rows[i].onBase {
				rows[i].seen[Base] = []Observation{pick(), pick()}[:1+random.IntN(2)]
			}
			if random.IntN(2) == 0 {
				rows[i].seen[HeadBaseInfra] = []Observation{pick(), pick()}[:1+random.IntN(2)]
			}
			if random.IntN(2) == 0 {
				rows[i].seen[HeadAlone] = []Observation{pick(), pick()}[:1+random.IntN(2)]
			}
		}
		checkLaw(t, random.IntN(4) > 0, random.IntN(2) == 0, rows)
	}
}

// TestTakingAFactAwayNeverPassesWithOldVersions is the law for rows whose base
// version is asked on head's source, modified ones and untouched ones, beside
// one that proves the change.
func TestTakingAFactAwayNeverPassesWithOldVersions(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	letters := append([]Observation{{Outcome: NotRun, Reason: Deselected}}, alphabet...)
	draw := func() []Observation {
		if random.IntN(4) > 0 {
			o := letters[random.IntN(len(letters))]
			if random.IntN(2) == 0 {
				o = alphabet[random.IntN(2)] // passed, or failed by its own assertion
			}
			return []Observation{o, o}
		}
		return []Observation{letters[random.IntN(len(letters))], letters[random.IntN(len(letters))]}[:random.IntN(3)]
	}
	proof := cells{seen: map[StateName][]Observation{BaseTests: {alphabet[1], alphabet[1]}, Head: {alphabet[0], alphabet[0]}}}
	drawn, came := 8_000, make(map[Conclusion]int)
	if testing.Short() {
		drawn = 2_000
	}
	for range drawn {
		row := cells{onBase: true, same: random.IntN(2) == 0, around: random.IntN(2) == 0, other: random.IntN(2) == 0, seen: map[StateName][]Observation{
			Base: draw(), BaseTests: draw(), Head: {alphabet[0], alphabet[0]}, HeadBaseTests: draw(), Bridge: draw(),
		}}
		rows := []cells{row, proof}
		checkLaw(t, true, random.IntN(4) == 0, rows)
		came[conclude(true, false, rows)]++
	}
	if came[Pass] == 0 || came[Fail] == 0 || came[Undecided] == 0 {
		t.Errorf("the matrices came to %v", came)
	}
}

// TestWeaker lists what base's version of a test on head's source says.
func TestWeaker(t *testing.T) {
	pass, fail, raise := Observation{Outcome: Passed}, Observation{Outcome: Failed, Reason: Assertion}, Observation{Outcome: Failed, Reason: Exception}
	missing := Observation{Outcome: Errored, Reason: Import, Missing: []Missing{{Name: "added"}}}
	twice := func(o Observation) []Observation { return []Observation{o, o} }
	for _, c := range []struct {
		name         string
		same, around bool
		other        bool
		tests, old   Observation
		want         Conclusion
	}{
		{"loosened, which the default policy warns of", false, false, false, pass, fail, Pass},
		{"loosened, and the new one is about something else", false, false, true, pass, fail, Fail},
		{"loosened, the old one calls what has moved", false, false, false, pass, raise, Pass},
		{"rewritten and holds", false, false, false, pass, pass, Pass},
		{"changed in the open", false, false, false, fail, fail, Pass},
		{"asked by a new name", false, false, false, missing, fail, Pass},
		{"another question under the old name", false, false, true, missing, fail, Fail},
		{"untouched, and nothing around it", true, false, false, pass, fail, Pass},
		{"untouched, and repaired by what is around it", true, true, false, pass, fail, Fail},
		{"untouched, and the fixture follows the product", true, true, false, pass, raise, Pass},
		{"untouched, and what is around it fails on base", true, true, false, fail, fail, Pass},
	} {
		rows := []cells{
			{onBase: true, same: c.same, around: c.around, other: c.other, seen: map[StateName][]Observation{Base: twice(pass), BaseTests: twice(c.tests), Head: twice(pass), HeadBaseTests: twice(c.old)}},
			{seen: map[StateName][]Observation{BaseTests: twice(fail), Head: twice(pass)}},
		}
		if got := conclude(true, false, rows); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	strict := world(true, false, []cells{{onBase: true, seen: map[StateName][]Observation{Base: twice(pass), BaseTests: twice(pass), Head: twice(pass), HeadBaseTests: twice(fail)}}})
	strict.in.Policy.LoosenedTests = LevelFail
	if facts := read(strict).facts; facts.Loosened != 1 || Decide(facts, strict.in.Policy).Conclusion != Fail {
		t.Errorf("with policy.loosened_tests: fail: %+v", facts)
	}
}
