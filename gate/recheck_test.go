package gate

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// projected is the report of a small world, as it comes back from its file.
func projected(t *testing.T, production bool, rows []cells, doubts ...string) *Report {
	t.Helper()
	return projectedFrom(t, world(production, false, rows), doubts...)
}

func projectedFrom(t *testing.T, w *replay, doubts ...string) *Report {
	t.Helper()
	w.doubts = doubts
	w.heirs = heirs(w.m, w.text)
	w.in.Gone = func(m Missing) bool { return m.Name == "gone" }
	for _, name := range []StateName{Base, BaseTests, Head} {
		w.m.Add(name, Row{ID: selfCheckID, Runner: "x"}, Observation{Outcome: Passed})
	}
	w.in.Runners = []Runner{named("x")}
	out := read(w)
	text, err := json.Marshal(project(w, out, Decide(out.facts, w.in.Policy)))
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// named is a runner that only has a name: nothing runs here.
type named string

func (n named) Name() string      { return string(n) }
func (n named) Framework() string { return string(n) }
func (named) Units(context.Context, Tree, []string, bool) ([]string, error) {
	return nil, nil
}
func (named) List(context.Context, State, []string) (Result, error) { return Result{}, nil }
func (named) Run(context.Context, State, Batch) (Result, error)     { return Result{}, nil }

// TestRecheckAgreesWithTheGate checks over random small matrices that a report
// that the gate wrote is accepted, with the same verdict.
func TestRecheckAgreesWithTheGate(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	seen, kinds := make(map[Conclusion]int), make(map[FlipKind]int)
	for range 5_000 {
		var rows []cells
		for range 1 + random.IntN(3) {
			c := cells{onBase: random.IntN(2) == 0, same: random.IntN(2) == 0, seen: make(map[StateName][]Observation)}
			c.gone = c.onBase && random.IntN(4) == 0
			c.around, c.other = random.IntN(3) == 0, random.IntN(3) == 0
			for _, state := range []StateName{Base, BaseTests, Head, HeadBaseTests, HeadBaseInfra, Bridge, HeadAlone} {
				if (state == Base || state == HeadBaseTests) && !c.onBase || c.gone && state != Base && state != HeadBaseTests {
					continue
				}
				letters := alphabet
				if state == HeadBaseTests {
					letters = append(slices.Clone(alphabet), Observation{Outcome: Failed, Reason: Exception, Missing: []Missing{{Name: "gone"}}})
				}
				o := letters[random.IntN(len(letters))]
				for range random.IntN(3) {
					if random.IntN(4) == 0 {
						o = letters[random.IntN(len(letters))]
					}
					c.seen[state] = append(c.seen[state], o)
				}
			}
			rows = append(rows, c)
		}
		var doubts []string
		if random.IntN(8) == 0 {
			doubts = []string{"the disk was full"}
		}
		w := world(random.IntN(4) > 0, random.IntN(4) == 0, rows)
		if w.m.Steered {
			w.in.Steering = []string{"conftest.py"}
			w.m.Steered = len(w.production) > 0
		}
		if random.IntN(8) == 0 {
			note(w.forged, "x", []StateName{Head, Base}[random.IntN(2)], []string{"u"})
		}
		w.in.Reverts = random.IntN(4) == 0
		r := projectedFrom(t, w, doubts...)
		verdict, err := Recheck(r, DefaultPolicy())
		if err != nil || verdict.Conclusion != r.Verdict.Conclusion {
			text, _ := json.MarshalIndent(r, "", " ")
			t.Fatalf("%v, %v; the gate said %v\n%s", verdict, err, r.Verdict, text)
		}
		seen[verdict.Conclusion]++
		for _, flip := range r.Flips {
			kinds[flip.Kind]++
		}
	}
	for _, c := range []Conclusion{Pass, Fail, Undecided, NotApplicable} {
		if seen[c] == 0 {
			t.Errorf("no random matrix came to %s", c)
		}
	}
	for _, kind := range []FlipKind{Regression, FullRunOnly, Sometimes} {
		if kinds[kind] == 0 {
			t.Errorf("no random matrix has a flip of kind %s", kind)
		}
	}
}

func TestRecheckRefusesWhatDoesNotFollow(t *testing.T) {
	green, red := Observation{Outcome: Passed}, Observation{Outcome: Failed, Reason: Assertion}
	vacuous := []cells{{seen: map[StateName][]Observation{BaseTests: {green, green}, Head: {green, green}}}}
	flipping := []cells{{onBase: true, same: true, seen: map[StateName][]Observation{Base: {green, green}, Head: {red, red}}}}
	hiding := []cells{
		{seen: map[StateName][]Observation{BaseTests: {red, red}, Head: {green, green}}},
		{onBase: true, gone: true, seen: map[StateName][]Observation{Base: {green, green}, HeadBaseTests: {red, red}}},
	}
	proof := []cells{{seen: map[StateName][]Observation{BaseTests: {red, red}, Head: {green, green}}}}
	for _, c := range []struct {
		name   string
		rows   []cells
		forge  func(*Report)
		policy func(*Policy)
		want   string
	}{
		{"verdict", vacuous, func(r *Report) { r.Verdict.Conclusion = Pass }, nil, "its verdict is pass and base's policy makes it fail"},
		{"role", vacuous, func(r *Report) { r.Checks[0].Role = Discriminating }, nil, `is said to be discriminating and its cells make it regression_only`},
		{"summary", vacuous, func(r *Report) { r.Summary.Discriminating = 1 }, nil, "summary"},
		{"origin", vacuous, func(r *Report) { r.Checks[0].Origin = Existing }, nil, "is said to be existing"},
		{"hidden flip", flipping, func(r *Report) { r.Flips = nil }, nil, "flips (0) do not follow from its cells (1)"},
		{"invented flip", vacuous, func(r *Report) { r.Flips = []Flip{{ID: "x", Kind: Regression}} }, nil, "flips (1)"},
		{"hidden loss", hiding, func(r *Report) { r.Lost = nil }, nil, "lost tests (0)"},
		{"invented heir", hiding, func(r *Report) {
			for i := range r.Checks {
				if r.Checks[i].Origin == Removed {
					r.Checks[i].Heir = "t0"
				}
			}
		}, nil, "lost tests (1)"},
		{"invented loss", vacuous, func(r *Report) { r.Lost = []Lost{{ID: "x", How: "deleted"}} }, nil, "lost tests (1)"},
		{"twice", vacuous, func(r *Report) { r.Checks = append(r.Checks, r.Checks[0]) }, nil, "twice"},
		{"no self-check", proof, func(r *Report) { r.Checks = r.Checks[:1] }, nil, "no self-check"},
		{"failed self-check", proof, func(r *Report) { r.Checks[1].Cells[Base] = []Cell{{Outcome: Failed}} }, nil, "no doubt is named"},
		{"same tree", proof, func(r *Report) { r.States = map[StateName]StateReport{BaseTests: {SameAs: Head}} }, nil, "is said to equal head"},
		{"unknown to its state", vacuous, func(r *Report) { delete(r.Checks[0].Sources, Head) }, nil, "does not know it"},
		{"one run too few", proof, nil, func(p *Policy) { p.Repeat = 3 }, "its cells make it not_comparable"},
		{"stricter policy", []cells{proof[0], vacuous[0]}, nil, func(p *Policy) { p.VacuousTests = LevelFail }, "base's policy makes it fail"},
		{"missing doubts", proof, func(r *Report) { r.Verdict.Conclusion = Undecided }, nil, "base's policy makes it pass"},
	} {
		r := projected(t, true, c.rows)
		policy := DefaultPolicy()
		if c.policy != nil {
			c.policy(&policy)
		}
		if c.forge != nil {
			if _, err := Recheck(r, policy); err != nil {
				t.Errorf("%s: refused before it was forged: %v", c.name, err)
			}
			c.forge(r)
		}
		if v, err := Recheck(r, policy); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", c.name, v, err, c.want)
		}
	}
}
