package gate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// concludeWith decides over rows with or without a reference fix as a column.
func concludeWith(gold, production bool, rows []cells) Conclusion {
	r := world(production, false, rows)
	r.m.Gold = gold
	return Decide(read(r).facts, r.in.Policy).Conclusion
}

// TestTakingAFurtherFactAwayNeverPasses is the law of law_test.go over the
// columns that are asked beyond the plain replay.
func TestTakingAFurtherFactAwayNeverPasses(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	reached := Observation{Outcome: Errored, Reason: MissingSymbol, Reached: "F()"}
	pick := func() Observation { return alphabet[random.IntN(len(alphabet))] }
	pair := func() []Observation {
		o := pick()
		if random.IntN(3) == 0 {
			return []Observation{o, pick()}
		}
		return []Observation{o, o} // cells that agree decide more
	}
	passed := 0
	for range 6_000 {
		gold, production := random.IntN(2) == 0, random.IntN(5) > 0
		rows := make([]cells, 1+random.IntN(3))
		for i := range rows {
			rows[i] = cells{onBase: random.IntN(3) == 0, same: random.IntN(2) == 0, seen: map[StateName][]Observation{
				BaseTests: pair(), Head: pair(), Bridge: pair(), GoldTests: pair(), Emptied: pair(),
			}}
			if random.IntN(4) == 0 {
				rows[i].seen[Bridge] = []Observation{reached, reached}
			}
			if random.IntN(2) == 0 {
				rows[i].seen[Head] = []Observation{{Outcome: Passed}, {Outcome: Passed}}
			}
			if random.IntN(2) == 0 {
				o := Observation{Outcome: Failed, Reason: Exception, Missing: []Missing{{Name: "added"}}}
				rows[i].seen[BaseTests] = []Observation{o, o}
			}
			if rows[i].onBase {
				rows[i].seen[Base] = pair()
			}
		}
		before := concludeWith(gold, production, rows)
		if before == Pass {
			passed++
		}
		for i := range rows {
			for state, list := range rows[i].seen {
				for j := range list {
					if after := concludeWith(gold, production, without(rows, i, state, j)); greener(before, after) {
						t.Fatalf("gold %v, production %v: taking observation %d of %s of row %d away turns %s into %s\nrows: %+v", gold, production, j, state, i, before, after, rows)
					}
				}
			}
		}
	}
	if passed < 300 {
		t.Errorf("only %d of the drawn matrices pass: the law is hardly asked", passed)
	}
}

var (
	ok      = Observation{Outcome: Passed}
	no      = Observation{Outcome: Failed, Reason: Assertion}
	missing = Observation{Outcome: Errored, Reason: Compile, Missing: []Missing{{Name: "added"}}}
)

func twice(o Observation) []Observation { return []Observation{o, o} }

// TestGoldRoles is the table of the four full roles, in their fixed order.
func TestGoldRoles(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, gold []Observation
		want       Role
	}{
		{"fails on base, passes on gold", twice(no), twice(ok), GoldAligned},
		{"fails on both", twice(no), twice(no), CandidateSpecific},
		{"passes on both", twice(ok), twice(ok), RegressionOnly},
		{"passes on base, fails on gold", twice(ok), twice(no), Misleading},
		{"no gold", twice(no), nil, NotComparable},
		{"gold seen once", twice(no), []Observation{ok}, NotComparable},
		{"gold disagrees", twice(no), []Observation{ok, no}, NotComparable},
		{"gold does not load", twice(no), twice(missing), NotComparable},
		{"gold skips", twice(ok), twice(Observation{Outcome: Skipped}), NotComparable},
		{"base does not load", twice(missing), twice(ok), NotComparable},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world(true, false, []cells{{seen: map[StateName][]Observation{Head: twice(ok), BaseTests: c.base, GoldTests: c.gold}}})
			r.m.Gold = true
			if got := read(r).rows[0].read; got.Role != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
}

// TestBehindTheBridge reads what a check that base cannot load came to there.
func TestBehindTheBridge(t *testing.T) {
	again := Observation{Outcome: Failed, Reason: Exception, Missing: []Missing{{Name: "added"}}}
	for _, c := range []struct {
		name   string
		bridge []Observation
		role   Role
		reason Reason
	}{
		{"fails by its assertion", twice(no), Discriminating, Assertion},
		{"fails by an exception", twice(Observation{Outcome: Failed, Reason: Exception}), Discriminating, Exception},
		{"passes", twice(ok), RegressionOnly, ""},
		{"reaches a stand-in", twice(Observation{Outcome: Errored, Reason: MissingSymbol, Reached: "F()"}), NotComparable, MissingSymbol},
		{"misses yet another new name", twice(again), NotComparable, MissingSymbol},
		{"crashes", twice(Observation{Outcome: Crashed, Reason: Crash}), NotComparable, MissingSymbol},
		{"times out", twice(Observation{Outcome: TimedOut, Reason: Timeout}), NotComparable, MissingSymbol},
		{"does not compile there", twice(Observation{Outcome: Errored, Reason: Compile}), NotComparable, MissingSymbol},
		{"disagrees", []Observation{no, ok}, NotComparable, MissingSymbol},
		{"seen once", []Observation{no}, NotComparable, MissingSymbol},
		{"not asked", nil, NotComparable, MissingSymbol},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world(true, false, []cells{{seen: map[StateName][]Observation{Head: twice(ok), BaseTests: twice(missing), Bridge: c.bridge}}})
			got := read(r)
			if read := got.rows[0].read; read.Role != c.role || read.Reason != c.reason {
				t.Errorf("got %+v, want %s %s", read, c.role, c.reason)
			}
			if bridged := strings.HasPrefix(got.rows[0].read.Words, "bridged: "); bridged != (c.role != NotComparable) {
				t.Errorf("the reason %q is wrong about the bridge", got.rows[0].read.Words)
			}
			if v := Decide(got.facts, r.in.Policy); v.Conclusion != Pass {
				t.Errorf("the verdict is %+v: a check of new behaviour must not be blocked", v)
			}
		})
	}
}

// TestADataReaderIsNotVacuous: a check that names a value which the bridge took
// from head passes on head's data, which says nothing about base.
func TestADataReaderIsNotVacuous(t *testing.T) {
	r := world(true, false, []cells{{seen: map[StateName][]Observation{Head: twice(ok), BaseTests: twice(missing), Bridge: twice(ok)}}})
	r.reads[r.m.Keys()[0]] = true
	if got := read(r).rows[0].read; got.Role != NotComparable {
		t.Errorf("got %+v", got)
	}
}

// TestAPartLacksWhatItsTestDoes: a subtest that base never came to is read off
// the bridge like its test.
func TestAPartLacksWhatItsTestDoes(t *testing.T) {
	for _, c := range []struct {
		name string
		seen map[StateName][]Observation
		want Role
	}{
		{"fails behind the bridge", map[StateName][]Observation{Head: twice(ok), Bridge: twice(no)}, Discriminating},
		{"passes behind the bridge", map[StateName][]Observation{Head: twice(ok), Bridge: twice(ok)}, RegressionOnly},
		{"was not asked there", map[StateName][]Observation{Head: twice(ok)}, NotComparable},
		{"ran on base, once", map[StateName][]Observation{Head: twice(ok), BaseTests: {no}, Bridge: twice(no)}, NotComparable},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world(true, false, []cells{{seen: map[StateName][]Observation{Head: twice(ok), BaseTests: twice(missing)}}})
			part := Row{ID: "t0/part", Runner: "x", Unit: "u", Parent: "t0", Digest: "head"}
			r.m.See(Head, part)
			for state, list := range c.seen {
				for _, o := range list {
					r.m.Add(state, part, o)
				}
			}
			if got := read(r).rows[1].read; got.Role != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
}

func TestUnnoticedBehaviour(t *testing.T) {
	reached := twice(Observation{Outcome: Errored, Reason: MissingSymbol, Reached: "F()"})
	for _, c := range []struct {
		name            string
		bridge, emptied []Observation
		unnoticed       bool
		noticing        int
	}{
		{"passes although what it calls does nothing", reached, twice(ok), true, 0},
		{"fails then", reached, twice(no), false, 1},
		{"calls nothing that is new", twice(Observation{Outcome: Errored, Reason: MissingSymbol, Reached: "LIMIT"}), twice(ok), false, 0},
		{"was not asked", reached, nil, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := world(true, false, []cells{{seen: map[StateName][]Observation{Head: twice(ok), BaseTests: twice(missing), Bridge: c.bridge, Emptied: c.emptied}}})
			got := read(r)
			found := false
			for _, f := range got.findings {
				found = found || f.Rule == "unnoticed-behaviour"
			}
			if found != c.unnoticed || got.facts.Noticing != c.noticing {
				t.Errorf("unnoticed %v, noticing %d; want %v, %d", found, got.facts.Noticing, c.unnoticed, c.noticing)
			}
		})
	}
}

func TestGroupsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name string
		seen []Observation
		want GroupResult
	}{
		{"all pass", []Observation{ok, ok}, Unpinned},
		{"one fails", []Observation{ok, no}, Pinned},
		{"one does not load", []Observation{ok, missing}, LoadBearing},
		{"one fails, one does not load", []Observation{no, missing}, Pinned},
		{"one is skipped", []Observation{ok, {Outcome: Skipped}}, LoadBearing},
	} {
		var n noticed
		for _, o := range c.seen {
			n.add("x", o)
		}
		if got, _ := n.judge(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
