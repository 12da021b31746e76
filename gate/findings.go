package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// find says what a person should know, tied to places, the gravest first.
func find(r *replay, out reading) []Finding {
	var findings []Finding
	proven := provenElsewhere(out.rows)
	for _, row := range out.rows {
		if rule, severity, message := aboutRow(r, row, proven); rule != "" {
			findings = append(findings, Finding{rule, severity, row.row.File, row.row.Line, message})
		}
		if finding, yes := aboutMasked(r, row); yes {
			findings = append(findings, finding)
		}
		if from, old, yes := r.succeeds(row); yes {
			findings = append(findings, Finding{"changed-expectation", SeverityWarning, row.row.File, row.row.Line,
				fmt.Sprintf("%s took the place of %s, which passes on base and whose base version fails on head: %s; say why the old expectation is wrong, or keep it", row.row.ID, from.ID, old.Message)})
		}
		findings = append(findings, aboutFurther(r, row, out.facts)...)
	}
	for _, flip := range out.flips {
		findings = append(findings, aboutFlip(r, flip))
	}
	for _, lost := range out.lost {
		if finding, ok := aboutLost(r, lost); ok {
			findings = append(findings, finding)
		}
	}
	findings = append(findings, aboutForgery(r)...)
	findings = append(findings, r.in.Tells...)
	findings = append(findings, aboutChange(r, out)...)
	findings = append(findings, aboutUnreached(r, out)...)
	findings = append(findings, aboutGroups(r)...)
	findings = append(findings, aboutGoldens(r, out.goldens)...)
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return findings
}

func rank(s Severity) int {
	return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityNote}, s)
}

// provenElsewhere are the ids that discriminate under some runner entry: with
// one entry per configuration, one is enough.
func provenElsewhere(rows []readRow) map[string]bool {
	proven := make(map[string]bool)
	for _, row := range rows {
		if row.read.Role.proves() {
			proven[row.key.ID] = true
		}
	}
	return proven
}

func aboutRow(r *replay, row readRow, proven map[string]bool) (rule string, severity Severity, message string) {
	head, before := first(r.m.Cell(row.key, Head)), first(r.m.Cell(row.key, BaseTests))
	switch row.read.Role {
	case RegressionOnly:
		if row.bridged {
			return aboutBridged(r, row)
		}
		if old, yes := r.loosened(row); yes && r.in.Policy.LoosenedTests != LevelIgnore {
			return "loosened-test", r.gravity(row), fmt.Sprintf("%s passes on base+tests and on head; base's version of it passes on base and fails on head: %s; say why the old expectation is wrong, or keep it", row.row.ID, old.Message)
		}
		if len(r.production) == 0 || r.in.Inert || proven[row.key.ID] || r.in.Policy.VacuousTests == LevelIgnore {
			return "", "", ""
		}
		severity = SeverityWarning
		if r.in.Policy.VacuousTests == LevelFail {
			severity = SeverityError
		}
		return "vacuous-test", severity, fmt.Sprintf("%s passes on base+tests and on head: it does not tell the change from its absence; assert what base gets wrong", row.row.ID)
	case NotComparable:
		if w, _, old := r.weakened(row); w == hides {
			return "loosened-test", r.gravity(row), fmt.Sprintf("%s no longer asks what it asked, and %s; base's version of it passes on base and fails on head: %s; keep it, and add the new test beside it", row.row.ID, row.read.Words, old.Message)
		}
		if row.read.Reason == MissingSymbol {
			return "new-behaviour", SeverityNote, fmt.Sprintf("%s %s; it passes on head", row.row.ID, row.read.Words)
		}
		if row.read.Reason == ChangedInfrastructure {
			return "needs-changed-infrastructure", SeverityWarning, fmt.Sprintf("%s %s (%s); with base's version of it: %s; a maintainer can accept that by policy.changed_infrastructure: accept", row.row.ID, row.read.Words, strings.Join(r.in.Steering, ", "), first(r.m.Cell(row.key, HeadBaseInfra)).Message)
		}
		return "not-comparable", SeverityWarning, fmt.Sprintf("%s passes on head but %s%s", row.row.ID, row.read.Words, because(before))
	case CandidateSpecific, Misleading:
		return aboutGold(r, row)
	case Flaky:
		return "flaky-test", SeverityWarning, fmt.Sprintf("%s proves nothing: %s; make it give one answer", row.row.ID, row.read.Words)
	case DiagnosticNegative:
		if unseen(row.read.Reason) {
			return "no-result", SeverityError, fmt.Sprintf("%s gave no result on head%s", row.row.ID, because(head))
		}
		if anyOf(r.m.Cell(row.key, Base), red) {
			return "long-red-test", SeverityWarning, fmt.Sprintf("%s fails on base and on head%s", row.row.ID, because(head))
		}
		return "failing-test", SeverityError, fmt.Sprintf("%s does not pass on head%s", row.row.ID, because(head))
	}
	if row.read.Role == NoRole && row.read.Words != "" {
		return "skipped-test", SeverityNote, fmt.Sprintf("%s: %s%s", row.row.ID, row.read.Words, because(head))
	}
	return "", "", ""
}

// gravity is how grave it is that a check expects less than it did.
func (r *replay) gravity(row readRow) Severity {
	if w, _, _ := r.weakened(row); w == hides || w == weaker && r.in.Policy.LoosenedTests == LevelFail {
		return SeverityError
	}
	return SeverityWarning
}

// aboutMasked tells of an untouched row that passes on head only with the test
// code around it that the change edits.
func aboutMasked(r *replay, row readRow) (Finding, bool) {
	w, _, old := r.weakened(row)
	if row.origin != Existing || w != hides && w != perhaps {
		return Finding{}, false
	}
	return Finding{"masked-failure", r.gravity(row), row.row.File, row.row.Line,
		fmt.Sprintf("%s, which this change does not touch, passes on head only with the fixtures, helpers or set-up that the change edits; with base's it fails: %s", row.row.ID, old.Message)}, true
}

func because(o Observation) string {
	if o.Message == "" {
		if o.Reason == NoReason {
			return ""
		}
		return " (" + string(o.Reason) + ")"
	}
	return ": " + o.Message
}

func aboutFlip(r *replay, flip Flip) Finding {
	severity := SeverityError
	if flip.Kind == Sometimes || r.in.Policy.Flips == LevelWarn {
		severity = SeverityWarning
	}
	words := map[FlipKind]string{
		Regression:  "passes on base and fails on head, every time",
		FullRunOnly: "passes on base and fails on head in the full run, though not alone",
		Sometimes:   "passes on base and fails on head sometimes",
	}[flip.Kind]
	path, line := placeOf(r, flip.ID)
	return Finding{"flip", severity, path, line, fmt.Sprintf("%s %s: %s", flip.ID, words, flip.Message)}
}

// aboutLost tells of a row that ran on base and has no result on head. A hidden
// failure is an error under every policy.
func aboutLost(r *replay, lost Lost) (Finding, bool) {
	path, line := placeOf(r, lost.ID)
	if lost.OnHead == "failed" && !r.in.Reverts {
		return Finding{"hidden-failure", SeverityError, path, line, fmt.Sprintf("%s passes on base and was %s on head; base's version of it fails on head: %s", lost.ID, lost.How, lost.Message)}, true
	}
	words := map[string]string{
		"passed": "base's version of it passes on head", "failed": "it asked for what this change reverts",
		"not_loaded": "base's version of it cannot be asked on head: what it tests is gone", "not_asked": "it does not pass on base either",
	}[lost.OnHead]
	if lost.OnHead == "not_loaded" && lost.Message != "" {
		words = lost.Message
	}
	severity := SeverityWarning
	if r.in.Policy.LostTests == LevelFail {
		severity = SeverityError
	}
	return Finding{"lost-test", severity, path, line, fmt.Sprintf("%s ran on base and was %s on head; %s", lost.ID, lost.How, words)}, r.in.Policy.LostTests != LevelIgnore
}

func aboutChange(r *replay, out reading) []Finding {
	var findings []Finding
	if regressionKind(out.facts, r.in.Policy) {
		return nil // it brought the evidence that its kind is asked for
	}
	if out.summary.EvidenceInadequate {
		findings = append(findings, Finding{Rule: "evidence-inadequate", Severity: SeverityWarning, Message: "production code changed and no comparable check of the change fails without it"})
	}
	if out.summary.NoEvidence {
		findings = append(findings, Finding{Rule: "no-evidence", Severity: SeverityWarning, Message: "production code changed and no check of the change could show it"})
	}
	return findings
}

// aboutUnreached tells of changed code that no test loads, where existing tests
// stand for the change.
func aboutUnreached(r *replay, out reading) []Finding {
	files, _ := r.unreached()
	if !slices.Contains(r.in.Policy.RegressionKinds, r.in.Change.Kind) || r.in.Change.Kind == "dependency" || out.facts.proving() > 0 {
		return nil
	}
	var findings []Finding
	for _, file := range files {
		findings = append(findings, Finding{"unreached-code", SeverityWarning, file, 0, fmt.Sprintf("%d changed lines of %s are loaded by no test that ran: that existing tests pass says nothing about them", r.in.Code[file], file)})
	}
	return findings
}

// placeOf finds a row's source by its id alone, whichever runner has it.
func placeOf(r *replay, id string) (path string, line int) {
	for _, runner := range r.in.Runners {
		if row := r.m.Row(Key{runner.Name(), id}); row.File != "" {
			return row.File, row.Line
		}
	}
	return "", 0
}
