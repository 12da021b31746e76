package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// golden lists the reports whose text is kept in testdata.
var golden = []struct {
	name  string
	build func() *gate.Report
	opts  Options
	json  bool
}{
	{"pass_discriminating", passDiscriminating, Options{}, true},
	{"pass_verbose", passDiscriminating, Options{Verbose: true}, false},
	{"pass_narrow", passDiscriminating, Options{Width: 60, Color: true}, false},
	{"fail_vacuous", failVacuous, Options{}, false},
	{"undecided_no_report", undecidedNoReport, Options{}, false},
	{"not_applicable_docs", docsOnly, Options{}, false},
	{"pass_new_behaviour", newBehaviour, Options{}, false},
	{"fail_flips", failFlips, Options{}, false},
	{"undecided_2262_rows", manyRows, Options{}, false},
	{"fail_every_role", everyRole, Options{}, false},
	{"pass_further", further, Options{}, false},
	{"hostile", hostile, Options{}, true},
	{"advisory", advisory, Options{}, false},
	{"empty", func() *gate.Report { return &gate.Report{Schema: gate.SchemaVersion} }, Options{}, true},
}

const (
	baseCommit = "d1a0d6b3aaa0d1a0d6b3aaa0d1a0d6b3aaa0d1a0"
	headCommit = "413e6760740d413e6760740d413e6760740d413e"
)

// change is a report of a fix with one production and one test file; what it
// proves is added by the callers.
func change(conclusion gate.Conclusion, reasons ...string) *gate.Report {
	return &gate.Report{
		Schema: gate.SchemaVersion, Tool: "touchstone 0.1.0", Repository: "till/money", PullRequest: 12,
		Change: gate.ChangeInfo{Base: baseCommit, Head: headCommit, Kind: "fix", KindEvidence: `conventional commit type "fix"`, BaseWhy: "merge base with origin/main"},
		Split: []gate.SplitEntry{
			{Path: "src/money.py", Part: "production", Why: "imported by tests, itself no test"},
			{Path: "tests/test_money.py", Part: "test", Why: "pytest collects test_*.py"},
		},
		Verdict:   gate.Verdict{Conclusion: conclusion, Reasons: reasons},
		Selection: gate.Selection{Strategy: "all", Selected: 214, Of: 214, ShareOfTime: 1},
		Audit:     gate.Audit{RanFull: true},
		States: map[gate.StateName]gate.StateReport{
			gate.Base:      {Sandbox: "overlay", Layers: []string{"user", "mount", "pid", "net"}, PreparedSeconds: 0.031},
			gate.BaseTests: {Sandbox: "overlay", Layers: []string{"user", "mount", "pid", "net"}, PreparedSeconds: 0.029, TestSeconds: 0.6},
			gate.Head:      {Sandbox: "overlay", Layers: []string{"user", "mount", "pid", "net"}, PreparedSeconds: 0.03, TestSeconds: 1.04},
		},
		Seconds: gate.Seconds{Total: 1.84, Tests: 1.7},
		Commands: []gate.RanCommand{
			{State: gate.Head, Runner: "pytest", Argv: []string{"python", "-m", "pytest", "tests/test_money.py"}},
			{State: gate.BaseTests, Runner: "pytest", Argv: []string{"python", "-m", "pytest", "tests/test_money.py::test_split[it's]"}},
		},
	}
}

func own(id string, origin gate.Origin, role gate.Role, why string, before, head gate.Cell) gate.Check {
	file, name, _ := strings.Cut(id, "::")
	return gate.Check{
		ID: id, Runner: "pytest", File: file, Line: 12, Name: name, Origin: origin, SelectedBy: []string{"touched"}, Role: role, RoleReason: why,
		Cells: map[gate.StateName][]gate.Cell{gate.BaseTests: {before, before}, gate.Head: {head, head}},
	}
}

var (
	passed = gate.Cell{Outcome: gate.Passed, Seconds: 0.01}
	failed = gate.Cell{Outcome: gate.Failed, Reason: gate.Assertion, Seconds: 0.01, Message: "assert 99 == 100"}
)

func passDiscriminating() *gate.Report {
	r := change(gate.Pass, "1 check of this change fails on base and passes with it")
	r.Checks = []gate.Check{
		own("tests/test_money.py::test_split_loses_nothing", gate.Added, gate.Discriminating, "", failed, passed),
		own("tests/test_money.py::test_split_even", gate.Modified, gate.RegressionOnly, "passes on base too", passed, passed),
		{ID: "self-check", Runner: "pytest", Origin: gate.Existing, Cells: map[gate.StateName][]gate.Cell{gate.Head: {passed}}},
	}
	r.Summary = gate.Summary{Added: 1, Modified: 1, Discriminating: 1, RegressionOnly: 1}
	return r
}

func failVacuous() *gate.Report {
	r := change(gate.Fail, "no test of this change fails without it: 1 check also passes on base; add a test that fails on base for the reason this change is made")
	c := own("till/money.TestSplit", gate.Added, gate.RegressionOnly, "passes on base too", passed, passed)
	c.File, c.Line = "money/money_test.go", 11
	r.Checks = []gate.Check{c}
	r.Summary = gate.Summary{Added: 1, RegressionOnly: 1, EvidenceInadequate: true}
	r.Findings = []gate.Finding{
		{Rule: "vacuous-test", Severity: gate.SeverityWarning, Path: "money/money_test.go", Line: 11, Message: "shown in the table already"},
		{Rule: "hidden-failure", Severity: gate.SeverityError, Path: "money/sum_test.go", Line: 3, Message: "till/money.TestSum was deleted, and base's version fails on head's source"},
	}
	return r
}

func undecidedNoReport() *gate.Report {
	r := change(gate.Undecided,
		"pytest could not run on base+tests: the run ended by SIGKILL before it wrote its report, and its memory use was at the limit of 4 GiB when it ended, as the sandbox saw it from outside; raise sandbox.memory in .github/touchstone.yml, or make the tests need less",
		"1 check of this change gave no result on head: run the command in the report and see what stops it")
	none := gate.Cell{Outcome: gate.Errored, Reason: gate.NoReport, Message: "the run ended by SIGKILL before it wrote its report"}
	r.Checks = []gate.Check{
		own("tests/test_money.py::test_split_loses_nothing", gate.Added, gate.NotComparable, "no_report: could not be evaluated on base+tests", none, passed),
		own("tests/test_money.py::test_big", gate.Added, gate.DiagnosticNegative, "no_report: no evaluable result on head", gate.Cell{}, none),
	}
	return r
}

func docsOnly() *gate.Report {
	r := change(gate.NotApplicable, "documentation only: there is no behaviour to prove")
	r.Change.Kind, r.Change.KindEvidence = "docs", "every file is documentation"
	r.Split = []gate.SplitEntry{{Path: "README.md", Part: "neutral", Why: "documentation"}}
	r.Selection, r.Audit, r.States, r.Commands = gate.Selection{Strategy: "touched"}, gate.Audit{}, nil, nil
	r.Seconds = gate.Seconds{Total: 0.04}
	return r
}

func newBehaviour() *gate.Report {
	r := change(gate.Pass, "new behaviour: 2 checks of this change need names that only this change adds, so base cannot be asked; they pass on head")
	r.Change.Kind, r.Change.KindEvidence = "feature", ""
	r.Change.Agent = gate.Agent{Likely: true, Name: "claude", Signals: []string{"trailer", "branch"}}
	missing := gate.Cell{Outcome: gate.Errored, Reason: gate.MissingSymbol, Message: "ImportError: cannot import name 'split_evenly' from 'money'"}
	for _, name := range []string{"test_split_evenly", "test_split_evenly_by_zero"} {
		r.Checks = append(r.Checks, own("tests/test_money.py::"+name, gate.Added, gate.NotComparable, "missing_symbol: needs split_evenly, which only this change adds", missing, passed))
	}
	r.Selection = gate.Selection{Strategy: "touched", Selected: 16, Fallback: "the whole suite takes longer than 1m0s, so only what the change touches was run (audit.full_when_under, --full always)"}
	r.Audit = gate.Audit{}
	return r
}

func failFlips() *gate.Report {
	r := passDiscriminating()
	r.Verdict = gate.Verdict{Conclusion: gate.Fail, Reasons: []string{"2 checks that this change does not touch pass on base and fail on head: this change broke them"}}
	r.Flips = []gate.Flip{
		{ID: "tests/test_receipt.py::test_line", Kind: gate.Regression, Message: `AssertionError: got "tea 2,50"`, ConfirmedRuns: 2, Reproduce: []string{"python", "-m", "pytest", "tests/test_receipt.py::test_line"},
			SelectedBy: []string{"coverage:money.py#split", "names:split"}},
		{ID: "tests/test_receipt.py::test_total", Kind: gate.FullRunOnly, Message: "KeyError: 'total'", ConfirmedRuns: 3,
			Polluters: []string{"tests/test_money.py::test_cache"}, Hunks: []gate.Span{{Path: "money.py", Line: 12, End: 14}}},
		{ID: "tests/test_clock.py::test_now", Kind: gate.Sometimes, Message: "assert 3 == 4", ConfirmedRuns: 1, OnHead: &gate.Rate{Failed: 1, Runs: 3}, OnBase: &gate.Rate{Runs: 3}},
	}
	r.Lost = []gate.Lost{
		{ID: "tests/test_receipt.py::test_footer", How: "deleted", OnHead: "failed"},
		{ID: "tests/test_receipt.py::test_logo", How: "skipped", OnHead: "not_asked"},
		{ID: "tests/test_receipt.py::test_width", How: "not_collected", OnHead: "not_loaded"},
	}
	return r
}

// manyRows is a real shape: one module of 2,262 parametrised rows that base
// cannot import.
func manyRows() *gate.Report {
	r := change(gate.Undecided, "2262 checks of this change could not be compared with base: see the reason beside each, and make one of them load on base and fail there")
	broken := gate.Cell{Outcome: gate.Errored, Reason: gate.Import, Message: "ModuleNotFoundError: No module named 'hypothesis'"}
	for i := range 2262 {
		id := fmt.Sprintf("tests/test_rounding.py::TestRounding::test_half_even[case-%d]", i)
		r.Checks = append(r.Checks, own(id, gate.Added, gate.NotComparable, "import: could not be evaluated on base+tests", broken, passed))
	}
	for i := range 14 {
		id := fmt.Sprintf("tests/test_money_%02d.py::test_one", i)
		r.Checks = append(r.Checks, own(id, gate.Modified, gate.RegressionOnly, "passes on base too", passed, passed))
	}
	for i := range 8 {
		cell := failed
		cell.Message = fmt.Sprintf("assert %d == %d", i, i+1)
		r.Checks = append(r.Checks, own(fmt.Sprintf("tests/test_units.py::test_convert[%d]", i), gate.Added, gate.Discriminating, "", cell, passed))
	}
	return r
}

// everyRole has a check of each role and each reason.
func everyRole() *gate.Report {
	r := change(gate.Fail, "2 checks of this change do not pass on head: make them pass, or take them out",
		"1 check ran on base and has no result on head, and policy.lost_tests is fail: bring them back, or have a maintainer accept the loss")
	add := func(name string, role gate.Role, why string, before, head gate.Cell) *gate.Check {
		r.Checks = append(r.Checks, own("tests/test_all.py::test_"+name, gate.Added, role, why, before, head))
		return &r.Checks[len(r.Checks)-1]
	}
	add("failing", gate.DiagnosticNegative, "assertion: does not pass on head", failed, failed)
	long := add("long_red", gate.DiagnosticNegative, "assertion: does not pass on head", failed, failed)
	long.Cells[gate.Base] = []gate.Cell{failed, failed}
	add("raises", gate.Discriminating, "", gate.Cell{Outcome: gate.Failed, Reason: gate.Exception, Message: "ZeroDivisionError: division by zero"}, passed)
	add("slow", gate.Discriminating, "", gate.Cell{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "no end after 600 s"}, passed)
	for _, reason := range slices.Sorted(maps.Keys(notComparable)) {
		if reason != gate.NoReason {
			add("nc_"+string(reason), gate.NotComparable, string(reason)+": could not be evaluated on base+tests", gate.Cell{Outcome: gate.Errored, Reason: reason}, passed)
		}
	}
	add("seen_once", gate.NotComparable, "no_report: seen 1 of 2 times on base+tests", failed, passed)
	add("skipped_there", gate.NotComparable, ": skipped on base+tests", gate.Cell{Outcome: gate.Skipped}, passed)
	flaky := add("flaky", gate.Flaky, "2 runs on head disagree: 1 passed, 1 failed", failed, passed)
	flaky.Cells[gate.Head] = []gate.Cell{passed, failed}
	add("skipped", gate.NoRole, "skipped on head: proves nothing, blocks nothing", passed, gate.Cell{Outcome: gate.Skipped, Message: "needs a printer"})
	fixed := add("repaired", gate.Discriminating, "", failed, passed)
	fixed.Origin = gate.Existing
	return r
}

// further is a change that base could not be asked about, with hunks that no test
// holds, beside two other attempts.
func further() *gate.Report {
	r := change(gate.Pass, "2 checks of this change fail on base and pass with it (1 of them bridged: base lacks names that they need, which stood in without any behaviour)")
	bridged := own("tests/test_money.py::test_rest", gate.Added, gate.Discriminating, "bridged: needs Rest (test_money.py:3), which only this change adds; with that standing in, it fails by base's behaviour",
		gate.Cell{Outcome: gate.Errored, Reason: gate.MissingSymbol, Message: "cannot import name 'Rest'"}, passed)
	bridged.Cells[gate.Bridge] = []gate.Cell{{Outcome: gate.Failed, Reason: gate.Assertion, Message: "assert [3, 3] == [4, 3]"}}
	vacuous := own("tests/test_money.py::test_even", gate.Added, gate.RegressionOnly, "bridged: needs Rest, which only this change adds; with that standing in, it passes on base too",
		gate.Cell{Outcome: gate.Errored, Reason: gate.MissingSymbol, Message: "cannot import name 'Rest'"}, passed)
	vacuous.Cells[gate.Bridge] = []gate.Cell{{Outcome: gate.Passed}}
	r.Checks = append(r.Checks, bridged, vacuous, own("tests/test_money.py::test_split", gate.Added, gate.Discriminating, "", gate.Cell{Outcome: gate.Failed, Reason: gate.Assertion, Message: "assert 6 == 7"}, passed))
	r.Groups = []gate.GroupReport{
		{ID: "h1", Places: []gate.Span{{Path: "src/money.py", Line: 10, End: 14}}, Lines: 5, Result: gate.Pinned, By: []string{"tests/test_money.py::test_split"}},
		{ID: "h2", Places: []gate.Span{{Path: "src/purse.py", Line: 31, End: 33}}, Lines: 3, Result: gate.Unpinned, Asked: 14, Wider: true},
		{ID: "h3", Places: []gate.Span{{Path: "src/money.py", Line: 2, End: 2}}, Lines: 1, Result: gate.Inert, Why: "comments or layout"},
	}
	r.Peers = []gate.Cross{
		{Tests: "head", Code: "#12", Accepted: 2, Rejected: []string{"tests/test_money.py::test_split"}}, {Tests: "#12", Code: "head", Accepted: 1},
		{Tests: "head", Code: "feature/rest", Accepted: 3}, {Tests: "feature/rest", Code: "head", Accepted: 0},
	}
	return r
}

func advisory() *gate.Report {
	r := failVacuous()
	r.Advisory = true
	r.Notes = []string{"states are copies, since this system allows no user namespaces: absolute paths may leak between them"}
	return r
}

// nasty is text that acts wherever a report is shown without care.
var nasty = []string{
	"a|b", "</details><img src=x onerror=alert(1)>", "@team please", "&#64;team", "![x](http://evil.example/x.png)", "[click](javascript:alert(1))",
	"```\n# heading\n```", "``two`` `one`", `back\|slash\`, "https://evil.example/?q=1 www.evil.example", "#12 GH-12 :smile:", "<!-- hidden",
	"\x1b[31mred\x1b[0m \x1b]0;title\x07", "\u202egnp.exe\u202c", "nul\x00 bell\a", "bad\xff\xfeutf8", "line\r\n::error file=x::owned", "::set-env name=A::b",
	"##[error]owned", "mid ##vso[task.complete] line", "$`x`$ $$y$$", "~~gone~~ **bold** _it_", "- [ ] task", "1. list", "\u2028::stop-commands::x", "$(rm -rf ~) `id`",
}

func hostile() *gate.Report {
	all := strings.Join(nasty, " ")
	r := change(gate.Fail, append([]string{nasty[16] + "; " + nasty[1]}, nasty...)...)
	r.Advisory = true
	for i, text := range nasty {
		c := own("tests/"+text+"::"+text, gate.Added, gate.Discriminating, "", gate.Cell{Outcome: gate.Failed, Reason: gate.Assertion, Message: text}, passed)
		if i%2 == 1 {
			c.Role, c.RoleReason = gate.NotComparable, "missing_symbol: "+text
		}
		r.Checks = append(r.Checks, c)
		r.Flips = append(r.Flips, gate.Flip{ID: text, Kind: gate.FlipKind(text), Message: text, Reproduce: []string{text, "-k", text}})
		r.Lost = append(r.Lost, gate.Lost{ID: text, How: text, OnHead: text})
		r.Findings = append(r.Findings, gate.Finding{Rule: text, Severity: gate.Severity(text), Path: text, Line: i, Message: text})
		r.Split = append(r.Split, gate.SplitEntry{Path: text, OldPath: &text, Part: text, Why: text, Hunks: []gate.SplitHunk{{NewStart: i, Part: text}}})
		r.Notes = append(r.Notes, text)
		r.Peers = append(r.Peers, gate.Cross{Tests: "head", Code: text, Accepted: i, Rejected: []string{text}})
		r.Groups = append(r.Groups, gate.GroupReport{ID: text, Places: []gate.Span{{Path: text, Line: i}}, Result: gate.GroupResult(text), By: []string{text}, Why: text})
		r.Commands = append(r.Commands, gate.RanCommand{State: gate.Head, Argv: []string{text, all}})
	}
	r.Change = gate.ChangeInfo{Base: all, Head: nasty[16], Gold: &all, Kind: all, KindEvidence: all, BaseWhy: all, Agent: gate.Agent{Likely: true, Name: all, Signals: nasty}}
	r.Selection = gate.Selection{Strategy: all, Selected: 3, Of: 9, Fallback: all}
	r.Audit = gate.Audit{}
	r.States[gate.Head] = gate.StateReport{Sandbox: all, Layers: nasty, SameAs: gate.StateName(all), TestSeconds: 1}
	return r
}
