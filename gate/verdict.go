package gate

import (
	"fmt"
	"slices"
)

// Conclusion is the answer. The zero value is Undecided: not knowing never
// passes.
type Conclusion uint8

const (
	Undecided Conclusion = iota
	Pass
	Fail
	NotApplicable
)

var conclusionNames = [...]string{"undecided", "pass", "fail", "not_applicable"}

func (c Conclusion) String() string {
	if int(c) < len(conclusionNames) {
		return conclusionNames[c]
	}
	return fmt.Sprintf("conclusion(%d)", uint8(c))
}

// MarshalText makes a Conclusion its contract name.
func (c Conclusion) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts only the contract's names.
func (c *Conclusion) UnmarshalText(text []byte) error {
	for i, name := range conclusionNames {
		if name == string(text) {
			*c = Conclusion(i)
			return nil
		}
	}
	return fmt.Errorf("unknown conclusion %q", text)
}

// Verdict is the conclusion with its reasons, the deciding one first. A reason
// says what was seen, on which state, and what the author can do next.
type Verdict struct {
	Conclusion Conclusion `json:"conclusion"`
	Reasons    []string   `json:"reasons"`
}

// Facts are what the verdict is decided from: counts read off the matrix, and
// what could not be found out.
type Facts struct {
	Production bool   // the change has a production part
	Tests      bool   // the change has a test part
	Kind       string // as read from the change, "" when unknown

	Roles         map[Role]int // the change's own checks by role
	MissingSymbol int          // not_comparable for a name that only production adds
	Noticing      int          // of these, those that fail when the changed functions do nothing
	Bridged       int          // of the checks that fail without the change, those that do so behind the bridge only
	BehindBridge  int          // need such a name too, and pass on base once it stands in
	SkippedOnHead int          // own checks that head skips
	FailingOnHead int          // own checks that are red on head and were not red on base
	LongRed       int          // own checks that are red on head and were red on base already
	UnseenOnHead  int          // own checks without an evaluable result on head
	Inert         bool         // the production part changes no code: comments, blank lines, formatting

	Flips     int // regression and full_run_only
	Sometimes int // flips that are not stable
	Lost      int
	Forged    int // units in which a check that must fail came out passed
	Hidden    int // lost ones whose base version passes on base and fails on head
	Loosened  int // rewritten checks that hold on base too, and whose base version fails on head
	Masked    int // checks that no longer ask what base's version asks, which fails on head

	// RegressionEvidence counts existing checks that loaded the changed code and
	// pass on both sides.
	RegressionEvidence int
	// Unreached counts the changed sources that no test loads, where they hold at
	// least half of the change of a kind that existing checks may stand for.
	Unreached int

	// Doubts are facts that could not be established, each in words with what
	// to do. Any doubt keeps a verdict from being a pass.
	Doubts []string
}

// Decide is the verdict: a pure function. It asks in a fixed order: what is
// known to be wrong, what is not known, what does not apply, what is proved.
// Removing a fact never makes it a pass.
func Decide(f Facts, p Policy) Verdict {
	if wrong := known(f, p); len(wrong) > 0 {
		return Verdict{Fail, append(wrong, f.Doubts...)}
	}
	unknown := slices.Clone(f.Doubts)
	if f.UnseenOnHead > 0 {
		unseen := fmt.Sprintf("%s of this change gave no result on head: run the command in the report and see what stops it", checks(f.UnseenOnHead))
		unknown = slices.Insert(unknown, 0, unseen) // it may be why the others are not known
	}
	if len(unknown) > 0 {
		return Verdict{Undecided, unknown}
	}
	if reason := exempt(f); reason != "" {
		return say(NotApplicable, "%s", reason)
	}
	return proved(f, p)
}

func say(c Conclusion, format string, args ...any) Verdict {
	return Verdict{c, []string{fmt.Sprintf(format, args...)}}
}

// known lists what is wrong for certain.
func known(f Facts, p Policy) []string {
	var wrong []string
	if f.FailingOnHead > 0 {
		wrong = append(wrong, fmt.Sprintf("%s of this change %s on head: make them pass, or take them out", checks(f.FailingOnHead), plural(f.FailingOnHead, "does not pass", "do not pass")))
	}
	if f.Flips > 0 && p.Flips == LevelFail {
		wrong = append(wrong, fmt.Sprintf("%s that this change does not touch %s on base and %s on head: this change broke them", checks(f.Flips), plural(f.Flips, "passes", "pass"), plural(f.Flips, "fails", "fail")))
	}
	if f.Forged > 0 {
		wrong = append(wrong, "this change makes failing tests report success: a check that must fail comes out passed beside its tests, or its code takes the place of the test framework's own, and neither is so on base; take that out")
	}
	if f.Hidden > 0 {
		wrong = append(wrong, fmt.Sprintf("%s that %s on base %s taken out or skipped, and base's version fails on head: this change breaks what they check and hides it; mend that, or keep them and change their expectation in the open", checks(f.Hidden), plural(f.Hidden, "passes", "pass"), plural(f.Hidden, "was", "were")))
	}
	if f.Masked > 0 {
		wrong = append(wrong, fmt.Sprintf("%s on head only because what base's version asks, and fails on head, is no longer asked: another question stands under the old name, or the tests' set-up replaces what broke; mend that, or say what is expected now by a test that fails on base", checks(f.Masked)+plural(f.Masked, " passes", " pass")))
	}
	if f.Loosened > 0 && p.LoosenedTests == LevelFail {
		wrong = append(wrong, fmt.Sprintf("%s on head only because this change expects less: base's version passes on base and fails on head, and the new one passes without the change too; say what is expected now by a test that fails on base, or mend what broke (policy.loosened_tests is fail)", checks(f.Loosened)+plural(f.Loosened, " passes", " pass")))
	}
	if f.Lost > 0 && p.LostTests == LevelFail {
		wrong = append(wrong, fmt.Sprintf("%s ran on base and %s no result on head, and policy.lost_tests is fail: bring them back, or have a maintainer accept the loss", checks(f.Lost), plural(f.Lost, "has", "have")))
	}
	if n := f.Roles[RegressionOnly]; n > 0 && p.VacuousTests == LevelFail && f.Production && f.proving() > 0 {
		wrong = append(wrong, fmt.Sprintf("%s of this change also %s without it, and policy.vacuous_tests is fail: make each of them fail on base, or take it out", checks(n), plural(n, "passes", "pass")))
	}
	return wrong
}

// exempt says why the question does not arise, "" when it does.
func exempt(f Facts) string {
	switch {
	case !f.Production && !f.Tests && f.Kind == "docs":
		return "documentation only: there is no behaviour to prove"
	case !f.Production && !f.Tests:
		return "neither production code nor tests changed: there is nothing to prove"
	case !f.Production && len(f.Roles) == 0:
		return "tests only: there is no production change to prove; no check that runs was added or changed"
	case !f.Production:
		return "tests only: there is no production change to prove"
	case f.Inert && f.proving() == 0:
		return "the production part changes comments, layout, types or the tests' set-up only: there is no behaviour to prove"
	}
	return ""
}

// proved reads the evidence of a change that has production code.
func proved(f Facts, p Policy) Verdict {
	red, green, added := f.proving(), f.Roles[RegressionOnly]+f.Roles[Misleading], f.MissingSymbol+f.BehindBridge
	unclear := f.Roles[NotComparable] - f.MissingSymbol + f.Roles[Flaky]
	switch {
	case red > 0:
		return proof(f, red)
	case p.Require == RequireNone:
		return say(Pass, "policy.require is none: no evidence is asked for")
	case added > 0:
		return newBehaviour(f)
	case green > 0 && p.Require == RequirePositive:
		return say(Pass, "%s of this change %s on head; policy.require is positive", checks(green), plural(green, "passes", "pass"))
	case regressionKind(f, p):
		return stands(f)
	case unclear > 0:
		return say(Undecided, "%s of this change could not be compared with base: see the reason beside each, and make one of them load on base and fail there", checks(unclear))
	case green > 0:
		return say(Fail, "no test of this change fails without it: %s also %s on base; add a test that fails on base for the reason this change is made", checks(green), plural(green, "passes", "pass"))
	}
	return noEvidence(f, p)
}

// regressionKind holds when the change's kind may bring regression evidence
// instead, and brings it. The author's claim alone is not enough: checks that
// load the changed code must have passed on both sides.
func regressionKind(f Facts, p Policy) bool {
	return slices.Contains(p.RegressionKinds, f.Kind) && f.RegressionEvidence > 0
}

// stands says what passes on both sides. A manifest is loaded by no check.
func stands(f Facts) Verdict {
	n, loads := f.RegressionEvidence, " that "+plural(f.RegressionEvidence, "loads", "load")+" the changed code"
	if f.Kind == "dependency" {
		loads = ""
	}
	return say(Pass, "%s: %s%s %s on base and on head", f.Kind, checks(n), loads, plural(n, "passes", "pass"))
}

func noEvidence(f Facts, p Policy) Verdict {
	switch {
	case f.SkippedOnHead > 0:
		return say(Fail, "no machine-verifiable evidence: %s of this change %s skipped on head; let one of them run, or add a test that fails on base", checks(f.SkippedOnHead), plural(f.SkippedOnHead, "is", "are"))
	case f.LongRed > 0:
		return say(Fail, "no machine-verifiable evidence: %s of this change %s on base and on head alike; add a test that fails on base and passes with the change", checks(f.LongRed), plural(f.LongRed, "fails", "fail"))
	case f.Unreached > 0:
		return say(Fail, "no machine-verifiable evidence: no test that ran loads %d of the changed files, at least half of the changed lines; add a test that reaches them", f.Unreached)
	case f.Tests:
		return say(Fail, "no machine-verifiable evidence: the test part adds or changes no check that runs; add a test that fails on base and passes with the change")
	}
	other := ""
	if f.Kind == "unknown" && slices.Contains(p.RegressionKinds, "refactor") {
		other = ", or, where nothing is to behave otherwise, say so in a commit's subject (refactor: ...)"
	}
	return say(Fail, "no machine-verifiable evidence: production code changed and no test did; add a test that fails on base and passes with the change%s", other)
}

// Inadequate is evidence-inadequate closure as the paper defines it: production
// code changed, at least one check could be compared, none discriminates.
// Comments and layout are no code.
func (f Facts) Inadequate() bool {
	return f.Production && !f.Inert && f.Roles[RegressionOnly]+f.Roles[Misleading]+f.BehindBridge > 0 && f.proving() == 0
}

// NoEvidence holds when production code changed and no check of the change is
// positive, nor stands for new behaviour.
func (f Facts) NoEvidence() bool {
	return f.Production && !f.Inert && f.Roles[RegressionOnly]+f.Roles[Misleading]+f.proving()+f.MissingSymbol+f.BehindBridge == 0
}

// proving counts the change's own checks that fail without it.
func (f Facts) proving() int {
	return f.Roles[Discriminating] + f.Roles[GoldAligned] + f.Roles[CandidateSpecific]
}

func checks(n int) string {
	return fmt.Sprintf("%d %s", n, plural(n, "check", "checks"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
