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
		Findings:   out.findings,
		Summary:    out.summary,
		Selection:  r.full,
		Audit:      Audit{RanFull: r.ranFull},
		Verdict:    verdict,
		States:     r.stateReports(),
		Commands:   r.commands,
		Notes:      r.notes,
		Doubts:     r.doubts,
	}
	report.Change.Inert = r.in.Inert
	for _, runner := range r.in.Runners {
		if len(r.loaded[runner.Name()][Head]) > 0 {
			report.Loaded = append(report.Loaded, runner.Name())
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
	if r.ranFull {
		report.Selection.Of, report.Selection.ShareOfTime = len(out.rows), 1
	}
	return report
}

// sourceLength is how much of a source's digest a report keeps, in hex digits.
const sourceLength = 16

// weight puts the change's own checks first, the deciding roles before others.
func weight(c Check) int {
	order := []Role{DiagnosticNegative, Flaky, NotComparable, RegressionOnly, Discriminating, NoRole}
	return slices.Index(order, c.Role)
}

func (r *replay) check(row readRow) Check {
	c := Check{
		ID: row.row.ID, Runner: row.key.Runner, File: row.row.File, Line: row.row.Line, Name: row.row.Name,
		Origin: row.origin, SelectedBy: r.chosenBy[row.key], Role: row.read.Role, RoleReason: row.read.Words,
		Cells: make(map[StateName][]Cell), Parent: row.row.Parent, Sources: make(map[StateName]string),
	}
	if c.Role == NotComparable || c.Role == DiagnosticNegative {
		c.RoleReason = string(row.read.Reason) + ": " + row.read.Words
	}
	for _, name := range []StateName{Base, BaseTests, Head, HeadBaseTests} {
		if seen, ok := r.m.Seen(row.key, name); ok {
			c.Sources[name] = seen.Digest[:min(len(seen.Digest), sourceLength)]
		}
		for _, o := range r.m.Cell(row.key, name) {
			reason := o.Reason
			if name == BaseTests && row.read.Reason == MissingSymbol {
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

func (r *replay) stateReports() map[StateName]StateReport {
	states := make(map[StateName]StateReport)
	for name, o := range r.states {
		if o.state == nil {
			continue
		}
		report := StateReport{TestSeconds: r.costs[name].Seconds()}
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
