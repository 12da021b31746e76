package gate

import (
	"strings"
	"testing"
)

// facts starts from a change with production code and a test part.
func facts(edit func(*Facts)) Facts {
	f := Facts{Production: true, Tests: true, Kind: "fix", Roles: map[Role]int{}}
	edit(&f)
	return f
}

func TestDecide(t *testing.T) {
	strict := DefaultPolicy()
	with := func(edit func(*Policy)) Policy { p := DefaultPolicy(); edit(&p); return p }
	for _, c := range []struct {
		name   string
		facts  Facts
		policy Policy
		want   Conclusion
		words  string
	}{
		{"one discriminating check", facts(func(f *Facts) { f.Roles[Discriminating] = 1 }), strict, Pass, "1 check of this change fails on base and passes with it"},
		{"discriminating beside vacuous", facts(func(f *Facts) { f.Roles[Discriminating], f.Roles[RegressionOnly] = 1, 3 }), strict, Pass, "1 check"},
		{"vacuous is an error by policy", facts(func(f *Facts) { f.Roles[Discriminating], f.Roles[RegressionOnly] = 1, 3 }), with(func(p *Policy) { p.VacuousTests = LevelFail }), Fail, "3 checks of this change also pass without it"},
		{"only vacuous", facts(func(f *Facts) { f.Roles[RegressionOnly] = 2 }), strict, Fail, "no test of this change fails without it"},
		{"only vacuous, policy positive", facts(func(f *Facts) { f.Roles[RegressionOnly] = 2 }), with(func(p *Policy) { p.Require = RequirePositive }), Pass, "policy.require is positive"},
		{"only vacuous, one unclear", facts(func(f *Facts) { f.Roles[RegressionOnly], f.Roles[NotComparable] = 2, 1 }), strict, Undecided, "could not be compared"},
		{"only vacuous, one flaky", facts(func(f *Facts) { f.Roles[RegressionOnly], f.Roles[Flaky] = 2, 1 }), strict, Undecided, "could not be compared"},
		{"new behaviour", facts(func(f *Facts) { f.Roles[NotComparable], f.MissingSymbol = 4, 4 }), strict, Pass, "new behaviour: 4 checks"},
		{"new behaviour beside vacuous", facts(func(f *Facts) { f.Roles[NotComparable], f.MissingSymbol, f.Roles[RegressionOnly] = 1, 1, 2 }), strict, Pass, "new behaviour"},
		{"only not comparable for other reasons", facts(func(f *Facts) { f.Roles[NotComparable] = 2 }), strict, Undecided, "2 checks"},
		{"no test changed", facts(func(f *Facts) { f.Tests = false }), strict, Fail, "production code changed and no test did"},
		{"no test changed, none required", facts(func(f *Facts) { f.Tests = false }), with(func(p *Policy) { p.Require = RequireNone }), Pass, "policy.require is none"},
		{"test part without a check", facts(func(f *Facts) {}), strict, Fail, "adds or changes no check"},
		{"only skipped", facts(func(f *Facts) { f.Roles[NoRole], f.SkippedOnHead = 1, 1 }), strict, Fail, "skipped on head"},
		{"red on head", facts(func(f *Facts) { f.Roles[Discriminating], f.FailingOnHead = 1, 1 }), strict, Fail, "does not pass on head"},
		{"red on both, beside proof", facts(func(f *Facts) { f.Roles[Discriminating], f.Roles[DiagnosticNegative], f.LongRed = 1, 1, 1 }), strict, Pass, ""},
		{"only red on both", facts(func(f *Facts) { f.Roles[DiagnosticNegative], f.LongRed = 1, 1 }), strict, Fail, "on base and on head alike"},
		{"no result on head", facts(func(f *Facts) { f.Roles[Discriminating], f.UnseenOnHead = 1, 1 }), strict, Undecided, "gave no result on head"},
		{"a flip", facts(func(f *Facts) { f.Roles[Discriminating], f.Flips = 1, 1 }), strict, Fail, "this change broke them"},
		{"a flip, tolerated", facts(func(f *Facts) { f.Roles[Discriminating], f.Flips = 1, 1 }), with(func(p *Policy) { p.Flips = LevelWarn }), Pass, ""},
		{"sometimes", facts(func(f *Facts) { f.Roles[Discriminating], f.Sometimes = 1, 1 }), strict, Pass, ""},
		{"lost", facts(func(f *Facts) { f.Roles[Discriminating], f.Lost = 1, 1 }), strict, Pass, ""},
		{"lost, forbidden", facts(func(f *Facts) { f.Roles[Discriminating], f.Lost = 1, 1 }), with(func(p *Policy) { p.LostTests = LevelFail }), Fail, "policy.lost_tests"},
		{"a doubt", facts(func(f *Facts) { f.Roles[Discriminating], f.Doubts = 1, []string{"python is missing"} }), strict, Undecided, "python is missing"},
		{"a doubt beside a fault", facts(func(f *Facts) { f.Flips, f.Doubts = 1, []string{"python is missing"} }), strict, Fail, "this change broke them"},
		{"tests only", facts(func(f *Facts) { f.Production, f.Roles[RegressionOnly] = false, 2 }), strict, NotApplicable, "tests only"},
		{"tests only, red", facts(func(f *Facts) { f.Production, f.FailingOnHead = false, 1 }), strict, Fail, "does not pass on head"},
		{"documentation only", facts(func(f *Facts) { f.Production, f.Tests, f.Kind = false, false, "docs" }), strict, NotApplicable, "documentation only"},
		{"neither", facts(func(f *Facts) { f.Production, f.Tests, f.Kind = false, false, "unknown" }), strict, NotApplicable, "neither production code nor tests"},
		{"comments only", facts(func(f *Facts) { f.Inert, f.Tests = true, false }), strict, NotApplicable, "comments, layout, types or the tests' set-up only"},
		{"claims docs, changes code", facts(func(f *Facts) { f.Kind, f.Tests = "docs", false }), strict, Fail, "no machine-verifiable evidence"},
		{"refactor with one check", facts(func(f *Facts) { f.Kind, f.RegressionEvidence = "refactor", 1 }), strict, Pass, "1 check that loads the changed code passes on base and on head"},
		{"refactor with evidence", facts(func(f *Facts) { f.Kind, f.Roles[RegressionOnly], f.RegressionEvidence = "refactor", 1, 9 }), strict, Pass, "9 checks that load the changed code pass on base and on head"},
		{"refactor without evidence", facts(func(f *Facts) { f.Kind, f.Tests = "refactor", false }), strict, Fail, "no machine-verifiable evidence"},
		{"fix with regression evidence only", facts(func(f *Facts) { f.RegressionEvidence, f.Roles[RegressionOnly] = 9, 1 }), strict, Fail, "no test of this change fails without it"},
	} {
		got := Decide(c.facts, c.policy)
		if got.Conclusion != c.want || !strings.Contains(strings.Join(got.Reasons, "; "), c.words) || len(got.Reasons) == 0 {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.Conclusion, got.Reasons, c.want, c.words)
		}
	}
}

// TestDecideOverEveryCombination walks all small facts and holds what must be
// true of each, whatever the rest.
func TestDecideOverEveryCombination(t *testing.T) {
	combinations := 0
	for bits := range 1 << 14 {
		on := func(i int) int { return bits >> i & 1 }
		f := Facts{
			Production: on(0) == 1, Tests: on(1) == 1, Inert: on(2) == 1,
			Roles:         map[Role]int{Discriminating: on(3), RegressionOnly: on(4), NotComparable: on(5) + on(6), Flaky: on(7)},
			MissingSymbol: on(5), FailingOnHead: on(8), UnseenOnHead: on(9), Flips: on(10), LongRed: on(11), RegressionEvidence: on(12),
			Kind: []string{"fix", "refactor"}[on(12)],
		}
		if on(13) == 1 {
			f.Doubts = []string{"something is not known"}
		}
		v := Decide(f, DefaultPolicy())
		combinations++
		ok := v.Conclusion == Pass || v.Conclusion == NotApplicable
		switch {
		case len(v.Reasons) == 0:
			t.Fatalf("%+v: no reason", f)
		case ok && (f.FailingOnHead > 0 || f.Flips > 0):
			t.Fatalf("%+v: %s in spite of a known fault", f, v.Conclusion)
		case ok && (len(f.Doubts) > 0 || f.UnseenOnHead > 0):
			t.Fatalf("%+v: %s in spite of a doubt", f, v.Conclusion)
		case v.Conclusion == Pass && f.Roles[Discriminating]+f.MissingSymbol+f.RegressionEvidence == 0:
			t.Fatalf("%+v: passes without evidence", f)
		case v.Conclusion == NotApplicable && f.Production && !f.Inert:
			t.Fatalf("%+v: not applicable to a production change", f)
		case v.Conclusion == Fail && !f.Production && f.FailingOnHead == 0 && f.Flips == 0:
			t.Fatalf("%+v: fails a change without production code", f)
		case v.Conclusion == Undecided && f.Production && !f.Inert && len(f.Doubts)+f.UnseenOnHead+f.FailingOnHead+f.Flips == 0 && f.Roles[Discriminating] > 0:
			t.Fatalf("%+v: undecided with proof and without a doubt", f)
		}
	}
	t.Logf("%d combinations", combinations)
}

func TestZeroValuesDecideNothing(t *testing.T) {
	if (Verdict{}).Conclusion != Undecided || (Observation{}).Outcome != NotRun || (Observation{}).Evaluable() {
		t.Error("a zero value says more than nothing")
	}
}
