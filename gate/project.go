package gate

import (
	"cmp"
	"slices"
)

// project writes what was read into the report's shape.
func project(r *replay, out reading, verdict Verdict) *Report {
	report := &Report{
		Schema:     SchemaVersion,
		Tool:       r.in.Tool,
		Repository: r.in.Repository,
		Change:     r.in.Change,
		Split:      r.in.Split,
		Flips:      out.flips,
		Lost:       out.lost,
		Goldens:    out.goldens,
		Findings:   out.findings,
		Summary:    out.summary,
		Selection:  r.full,
		Audit:      Audit{Probability: r.in.Audit.Probability, Drawn: r.in.Audit.Drawn, Group: r.in.Audit.Group, RanFull: r.ranFull},
		Verdict:    verdict,
		States:     r.stateReports(),
		Commands:   r.commands,
		Notes:      slices.Concat(r.notes, r.silent(), r.memories()),
		Groups:     r.groups,
		Peers:      r.crosses,
		Doubts:     r.doubts,
	}
	report.Change.Inert, report.Change.Reverts, report.Steering = r.in.Inert, r.in.Reverts, r.in.Steering
	report.Unheard, report.Forged, report.Replaced, report.Support = r.unheard, r.forged, r.replaced, r.support
	report.Code, report.Reached, report.NoOldTests = r.in.Code, r.reached(), r.in.SameTree(HeadBaseTests, Head)
	for _, runner := range r.in.Runners {
		if len(r.loaded[runner.Name()][Head]) > 0 {
			report.Loaded = append(report.Loaded, runner.Name())
		}
		if units := r.touchedU[runner.Name()][Base]; len(units) > 0 {
			if report.Touched == nil {
				report.Touched = make(map[string][]string)
			}
			report.Touched[runner.Name()] = units
		}
	}
	for _, row := range out.rows {
		report.Checks = append(report.Checks, r.check(row))
	}
	for _, runner := range r.in.Runners {
		if key := (Key{runner.Name(), selfCheckID}); len(r.m.Cell(key, Head)) > 0 {
			report.Checks = append(report.Checks, r.check(readRow{key: key, row: r.m.Row(key), origin: Existing}))
		}
	}
	slices.SortStableFunc(report.Checks, func(a, b Check) int { return cmp.Compare(weight(a), weight(b)) })
	report.Selection.Selected = len(out.rows)
	if r.choice != nil && !r.ranFull {
		report.Selection.Of, report.Selection.ShareOfTime = r.choice.Selection.Of, r.choice.Selection.ShareOfTime
	}
	for _, flip := range out.flips {
		if flip.Kind == FullRunOnly && r.ranFull {
			report.Audit.FullRunOnly = append(report.Audit.FullRunOnly, flip.ID)
		}
	}
	if r.ranFull {
		report.Selection.Of, report.Selection.ShareOfTime = len(out.rows), 1
	}
	return report
}

// reached are the changed production files that tests loaded on head.
func (r *replay) reached() []string {
	var files []string
	for _, byState := range r.loaded {
		for _, l := range byState[Head] {
			files = append(files, l.Subject)
		}
	}
	return sortedPaths(files)
}

// sourceLength is how much of a source's digest a report keeps, in hex digits.
const sourceLength = 16

// weight puts the change's own checks first, the deciding roles before others.
func weight(c Check) int {
	order := []Role{DiagnosticNegative, Flaky, NotComparable, Misleading, RegressionOnly, CandidateSpecific, Discriminating, GoldAligned, NoRole}
	return slices.Index(order, c.Role)
}

func (r *replay) check(row readRow) Check {
	c := Check{
		ID: row.row.ID, Runner: row.key.Runner, File: row.row.File, Line: row.row.Line, Name: row.row.Name,
		Origin: row.origin, SelectedBy: r.chosenBy[row.key], Role: row.read.Role, RoleReason: row.read.Words,
		Cells: make(map[StateName][]Cell), Parent: row.row.Parent, Sources: make(map[StateName]string),
		Heir: r.heirs[row.key].ID, ReadsNew: r.reads[row.key], Forsakes: r.forsakes[row.key],
	}
	if row.row.Unit != row.row.File {
		c.Unit = row.row.Unit
	}
	if c.Role == NotComparable || c.Role == DiagnosticNegative {
		c.RoleReason = string(row.read.Reason) + ": " + row.read.Words
	}
	for _, name := range r.columns() {
		if seen, ok := r.m.Seen(row.key, name); ok {
			c.Sources[name] = seen.Digest[:min(len(seen.Digest), sourceLength)]
		}
		for _, o := range r.m.Cell(row.key, name) {
			reason := o.Reason
			if name == BaseTests && (row.read.Reason == MissingSymbol || row.bridged) || r.missing(name, o) {
				reason = MissingSymbol
			}
			c.Cells[name] = append(c.Cells[name], Cell{
				Outcome: o.Outcome, Reason: reason, Seconds: o.Duration.Seconds(), Message: o.Message,
				File: o.Place.File, Line: o.Place.Line,
			})
		}
	}
	return c
}

// missing tells whether an observation is about a name that the state does not
// have and another side of the change does.
func (r *replay) missing(name StateName, o Observation) bool {
	switch name {
	case HeadBaseTests:
		return r.gone([]Observation{o})
	case Bridge, GoldTests:
		return slices.ContainsFunc(o.Missing, func(m Missing) bool { return r.in.Introduced != nil && r.in.Introduced(m) })
	}
	return false
}

func (r *replay) stateReports() map[StateName]StateReport {
	states := make(map[StateName]StateReport)
	for name, o := range r.states {
		if o.state == nil {
			continue
		}
		report := StateReport{TestSeconds: r.costs[name].Seconds(), Recalled: r.recalled[name]}
		if d, ok := o.state.(Described); ok {
			report.Sandbox, report.Layers, report.PreparedSeconds = d.Describe()
		}
		if name == BaseTests && r.in.SameTree(BaseTests, Head) {
			report.SameAs = Head
		}
		states[name] = report
	}
	return states
}

// Described is a state that can say how it was made.
type Described interface {
	// Describe returns the sandbox's kind, the protections that are active, and
	// the seconds it took to make the state.
	Describe() (sandbox string, layers []string, prepared float64)
}
