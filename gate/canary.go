package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// canaries runs the change's checks that pass on head beside one that must
// fail, where the change could make a test process report something else than
// what happened in it.
func (r *replay) canaries(ctx context.Context) {
	r.phase("test that results can be trusted")
	var all sync.WaitGroup
	for _, runner := range r.in.Runners {
		if c, ok := runner.(Canarian); ok {
			all.Go(func() { r.canary(ctx, runner, c, Head) })
		}
	}
	all.Wait()
	for _, runner := range r.in.Runners {
		forged, replaced := r.forged[runner.Name()], r.replaced[runner.Name()]
		if len(forged[Head]) > 0 && forged[Base] == nil || len(replaced[Head]) > 0 && replaced[Base] == nil {
			r.forgedOnBase(ctx, runner)
		}
	}
}

func (r *replay) canary(ctx context.Context, runner Runner, c Canarian, state StateName) {
	r.mu.Lock()
	rows := passingEvidence(r.m, runner.Name(), func(Key) bool { return true })
	r.mu.Unlock()
	if len(rows) == 0 {
		return
	}
	batch := Batch{Units: unitsOf(rows), Rows: ids(rows), Timeout: r.in.Timeout}
	r.invoke(ctx, runner, state, batch.Units, "", func(s State) (Result, error) {
		return c.Canary(ctx, s, batch, slices.Concat(r.production, r.tests))
	})
}

// forgedOnBase asks whether base's own tests report falsely too: then that is
// the repository's habit, and no deed of the change.
func (r *replay) forgedOnBase(ctx context.Context, runner Runner) {
	r.mu.Lock()
	units := r.touchedU[runner.Name()][Base]
	r.mu.Unlock()
	if c, ok := runner.(Canarian); ok {
		batch := Batch{Units: units, Timeout: r.in.Timeout}
		r.invoke(ctx, runner, Base, units, "", func(s State) (Result, error) {
			return c.Canary(ctx, s, batch, s.Tree().Paths())
		})
		return
	}
	r.run(ctx, runner, Base, Batch{Units: units}, "")
}

// note adds what a run said of a state to what is known, each once.
func note(to map[string]map[StateName][]string, runner string, name StateName, list []string) {
	known := columns(to, runner)
	for _, entry := range list {
		if !slices.Contains(known[name], entry) {
			known[name] = append(known[name], entry)
		}
	}
}

// takenOver are the parts of a runner's framework that code of head took the
// place of, and code of base did not.
func (r *replay) takenOver(runner string) []string {
	by := r.replaced[runner]
	return slices.DeleteFunc(sortedPaths(by[Head], by[BaseTests]), func(part string) bool { return slices.Contains(by[Base], part) })
}

// judgeForgery counts the units whose results the change forges. Where base
// reports falsely too, nothing can be known from the runner.
func (out *reading) judgeForgery(r *replay) {
	for _, runner := range slices.Sorted(maps.Keys(r.forged)) {
		forged := r.forged[runner]
		onHead := slices.Concat(forged[Head], forged[BaseTests])
		switch {
		case len(onHead) == 0 && len(forged[HeadBaseTests]) == 0:
		case len(forged[Base]) > 0:
			out.doubt("%s: a check that must fail comes out passed in %s, on base too: something in the repository's test set-up changes outcomes, so nothing can be told from them", runner, forged[Base][0])
		default:
			out.facts.Forged += max(1, len(onHead))
		}
	}
	for runner := range r.replaced {
		out.facts.Forged += len(r.takenOver(runner))
	}
}

// aboutForgery names the units whose results are forged.
func aboutForgery(r *replay) []Finding {
	var findings []Finding
	for _, forged := range r.forged {
		if len(forged[Base]) > 0 {
			continue
		}
		for _, unit := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(forged[Head], forged[BaseTests], forged[HeadBaseTests])))) {
			findings = append(findings, Finding{Rule: "results-forged", Severity: SeverityError, Path: unit,
				Message: fmt.Sprintf("a check of the gate's that must fail came out passed among the tests of %s, and does not on base: something in this change makes failing tests report success", unit)})
		}
	}
	for _, runner := range slices.Sorted(maps.Keys(r.replaced)) {
		if parts := r.takenOver(runner); len(parts) > 0 {
			findings = append(findings, Finding{Rule: "results-forged", Severity: SeverityError,
				Message: fmt.Sprintf("code of this change takes the place of %s's own: %s: what the tests report is no longer its word", runner, strings.Join(parts[:min(len(parts), 5)], ", "))})
		}
	}
	return findings
}
