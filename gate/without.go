package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Without is head with one group of the production part taken back to base.
func Without(groups ...string) StateName {
	return StateName("without(" + strings.Join(groups, "+") + ")")
}

// maxBy bounds how many checks a report names for one group.
const maxBy = 5

// withoutEach takes every group away in turn, the largest first, and asks
// whether any check notices.
func (r *replay) withoutEach(ctx context.Context) {
	rows := make(map[string][]Row)
	some := false
	for _, runner := range r.in.Runners {
		rows[runner.Name()] = r.proofs(runner.Name())
		some = some || len(rows[runner.Name()]) > 0
	}
	if !some {
		return // there is no check to ask
	}
	groups := slices.Clone(r.in.Further.Groups)
	slices.SortStableFunc(groups, func(a, b Group) int { return b.Lines - a.Lines })
	r.groups = make([]GroupReport, len(groups))
	var queue []int
	for i, g := range groups {
		r.groups[i] = GroupReport{ID: g.ID, Places: g.Places, Lines: g.Lines, Result: NotAsked}
		if g.Inert != "" {
			r.groups[i].Result, r.groups[i].Why = Inert, g.Inert
			continue
		}
		r.states[Without(g.ID)] = &opened{}
		queue = append(queue, i)
	}
	r.phase("take hunks away")
	r.eachOf(queue, func(i int) {
		r.without(ctx, &r.groups[i], rows)
		if r.groups[i].Result == Unpinned && groups[i].Quiet != "" {
			r.groups[i].Result, r.groups[i].Why = Inert, groups[i].Quiet
		}
		r.release(Without(r.groups[i].ID))
	})
	r.subset(ctx, rows)
}

// eachOf works a queue off in order, as many at a time as states may run.
func (r *replay) eachOf(queue []int, work func(int)) {
	next := make(chan int, len(queue))
	for _, i := range queue {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range cap(r.slots) {
		all.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	all.Wait()
}

// without asks about one group: the change's own checks first, then, when they
// all pass without it, the others that its files may reach.
func (r *replay) without(ctx context.Context, g *GroupReport, rows map[string][]Row) {
	name := Without(g.ID)
	own, ok := r.ownWithout(ctx, name, rows)
	if !ok {
		return
	}
	if g.Result, g.By = own.judge(); g.Result != Unpinned {
		return
	}
	g.Asked = own.green
	wider, ok := r.othersWithout(ctx, name, g)
	if !ok {
		g.Why = "only the change's own checks were asked"
		return
	}
	g.Wider = wider.green > 0
	g.Asked = max(g.Asked, wider.green) // the wider ones include the change's own
	if g.Result, g.By = wider.judge(); g.Result != Unpinned {
		g.Asked = 0
	}
}

// noticed counts what checks came to without a group.
type noticed struct {
	green, unloaded int
	red             []string
}

func (n *noticed) add(id string, o Observation) {
	switch colour(o) {
	case green:
		n.green++
	case red:
		n.red = append(n.red, id)
	default:
		n.unloaded++ // skipped counts with them: it did not pass
	}
}

// judge reads whether a group is held in place. A check that does not load is
// held by the build alone; what nobody answered says nothing.
func (n *noticed) judge() (GroupResult, []string) {
	slices.Sort(n.red)
	switch {
	case len(n.red) > 0:
		return Pinned, n.red[:min(len(n.red), maxBy)]
	case n.unloaded > 0:
		return LoadBearing, nil
	}
	return Unpinned, nil
}

// ownWithout runs the change's own checks on a state; ok is false unless every
// one of them has an answer.
func (r *replay) ownWithout(ctx context.Context, name StateName, rows map[string][]Row) (n noticed, ok bool) {
	for _, runner := range r.in.Runners {
		if own := rows[runner.Name()]; len(own) > 0 && !r.ask(ctx, runner, name, own) {
			return n, false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, own := range rows {
		for _, row := range own {
			cell := r.m.Cell(row.Key(), name)
			if len(cell) == 0 {
				n.unloaded++ // a part that its test never came to
				continue
			}
			n.add(row.ID, cell[len(cell)-1])
		}
	}
	return n, true
}

// othersWithout runs the units that a group's files may reach, beyond the
// change's own checks. A row that was red on head already says nothing.
func (r *replay) othersWithout(ctx context.Context, name StateName, g *GroupReport) (n noticed, ok bool) {
	var files []string
	for _, place := range g.Places {
		files = append(files, place.Path)
	}
	for _, runner := range r.in.Runners {
		state, err := r.open(ctx, Head)
		if err != nil {
			return n, false
		}
		units, err := runner.Units(ctx, state.Tree(), files, false)
		if err != nil {
			return n, false
		}
		r.mu.Lock()
		for _, unit := range r.touchedU[runner.Name()][Head] {
			if !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
		r.mu.Unlock()
		if len(units) == 0 {
			continue
		}
		result, answered := r.probe(ctx, runner, name, Batch{Units: units})
		if !answered {
			return n, false
		}
		r.count(&n, runner, result)
	}
	return n, true
}

func (r *replay) count(n *noticed, runner Runner, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, observed := range result.Rows {
		key := Key{runner.Name(), observed.Row.ID}
		if head := r.m.Cell(key, Head); len(head) > 0 && !allGreen(head) || len(observed.Observations) == 0 {
			continue
		}
		if o := observed.Observations[len(observed.Observations)-1]; o.Outcome != Skipped {
			n.add(observed.Row.ID, o)
		}
	}
	if len(result.Units) > 0 && n.green == 0 {
		n.unloaded++
	}
}

// subset takes all unpinned groups away at once: what is left would have passed
// the change's own checks just as well.
func (r *replay) subset(ctx context.Context, rows map[string][]Row) {
	var loose []string
	for _, g := range r.groups {
		if g.Result == Unpinned {
			loose = append(loose, g.ID)
		}
	}
	if len(loose) == 0 {
		return
	}
	slices.Sort(loose)
	if len(loose) > 1 {
		name := Without(loose...)
		r.states[name] = &opened{}
		own, ok := r.ownWithout(ctx, name, rows)
		r.release(name)
		if result, _ := own.judge(); !ok || result != Unpinned {
			return
		}
	}
	r.lazy = loose
}

// aboutGroups are the findings on hunks that nothing holds in place. They are
// notes: honest work holds such hunks too.
func aboutGroups(r *replay) []Finding {
	var findings []Finding
	for _, g := range r.groups {
		if g.Result != Unpinned || g.Why != "" {
			continue // the checks that may hold it in place could not be asked
		}
		them := "it"
		if len(g.Places) > 1 || g.Lines > 1 {
			them = "them"
		}
		words := fmt.Sprintf("no test fails when %s back to base: %s passed without %s", taken(g), checks(g.Asked), them)
		if !g.Wider {
			words += " (only the change's own were asked)"
		}
		findings = append(findings, Finding{"unpinned-hunk", SeverityNote, g.Places[0].Path, g.Places[0].Line, words + ". Add a test that needs " + them + ", or leave " + them + " out"})
	}
	if kept := r.kept(); len(r.lazy) > 0 && kept != "" {
		findings = append(findings, Finding{"lazy-subset", SeverityNote, "", 0, fmt.Sprintf("this change's own tests need no more of it than %s: with only that, they pass just as well", kept)})
	}
	return findings
}

// taken words what was taken back; where the first of it begins is the finding's
// own place.
func taken(g GroupReport) string {
	first := g.Places[0]
	words := "this line is taken"
	switch {
	case first.Line == 0:
		words = "this file is taken"
	case first.End < first.Line:
		words = "the lines that were taken away here are put"
	case first.End > first.Line:
		words = fmt.Sprintf("lines %d-%d are taken", first.Line, first.End)
	}
	if len(g.Places) > 1 {
		return words + ", with " + spans(g.Places[1:]) + ","
	}
	return words
}

// kept says which groups the change's own checks need.
func (r *replay) kept() string {
	var places []Span
	for _, g := range r.groups {
		if g.Result == Pinned || g.Result == LoadBearing {
			places = append(places, g.Places...)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return spans(places)
}

// maxPlaces bounds how many places a sentence names.
const maxPlaces = 6

// spans names places, those of one file together.
func spans(places []Span) string {
	var words []string
	file := ""
	for i, p := range places {
		if i == maxPlaces && len(places) > maxPlaces+1 {
			words = append(words, fmt.Sprintf("and %d more", len(places)-i))
			break
		}
		text := p.String()
		if p.Path == file {
			text = strings.TrimPrefix(text, file+":")
		}
		file = p.Path
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

// String is the span as compilers write places: path:line-end.
func (s Span) String() string {
	switch {
	case s.Line == 0:
		return s.Path
	case s.End > s.Line:
		return fmt.Sprintf("%s:%d-%d", s.Path, s.Line, s.End)
	}
	return fmt.Sprintf("%s:%d", s.Path, s.Line)
}
