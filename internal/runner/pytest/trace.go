package pytest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/rts"
)

// tracing is what one traced invocation told, as numbered nodes.
type tracing struct {
	nodes  map[int]node
	calls  map[int][]int // caller -> callees: functions, files, directories, processes
	uses   [][2]string
	shared map[int]bool         // nodes that ran outside of any row, or while a file was loaded
	rows   []tracedRow          // in the order in which they ran
	makers map[int]map[int]bool // what traced.makers found
}

// node is a function, by its first line, or something that one did.
type node struct {
	file                 string
	line                 int
	stores               bool
	opens, lists, starts string
}

type tracedRow struct {
	id    string
	nodes []int
	whole bool // nobody took the trace away
}

func (t *tracing) take(r record) {
	if t.nodes == nil {
		t.nodes, t.calls, t.shared = make(map[int]node), make(map[int][]int), make(map[int]bool)
	}
	switch r.Kind {
	case "trace_node":
		t.nodes[r.Number] = node{file: r.File, line: r.Line, stores: r.Stores, opens: r.Opens, lists: r.Lists, starts: r.Starts}
	case "trace_edge":
		t.calls[r.Caller] = append(t.calls[r.Caller], r.Callee)
	case "trace_use":
		t.uses = append(t.uses, [2]string{r.User, r.Used})
	case "trace_shared":
		for _, n := range r.Nodes {
			t.shared[n] = true
		}
	case "trace":
		t.rows = append(t.rows, tracedRow{r.ID, r.Nodes, r.Whole})
	}
}

// Trace runs the units once and says what each row executes, opens, lists and
// starts. Rows of a run that was broken off are open: not all is known of them.
func (r *Runner) Trace(ctx context.Context, state gate.State, units []string, batch gate.Batch) (rts.Traces, error) {
	batch.Units, batch.Rows = units, nil
	c := r.newCall(state, batch)
	result, err := c.ask(ctx, question{trace: true})
	if err != nil {
		return rts.Traces{}, err
	}
	t := &traced{tree: state.Tree(), graph: &rts.Graph{}, outlines: make(map[string][]rts.Span), keeps: make(map[string]map[string][]string), rows: make(map[string]*rts.Trace), traced: make(map[string]bool), imports: make(map[string]bool), starts: make(map[string]string)}
	r.AddGraph(t.graph, state.Tree())
	t.observed(result)
	for _, h := range c.traces {
		t.take(&h.traced)
	}
	return t.finish(), nil
}

// traced puts the numbers of the invocations together as names.
type traced struct {
	tree     gate.Tree
	graph    *rts.Graph // what the sources and the run say of who loads what
	outlines map[string][]rts.Span
	keeps    map[string]map[string][]string // by file, rts.Keeping's
	order    []string
	rows     map[string]*rts.Trace
	traced   map[string]bool
	imports  map[string]bool
	starts   map[string]string // files that start a process while they are loaded -> which
	failed   map[string]string
}

// observed takes the rows with their outcomes. Until a trace comes for it, of a
// row nothing is known.
func (t *traced) observed(result gate.Result) {
	t.failed = make(map[string]string)
	for _, failure := range result.Units {
		t.failed[failure.Unit] = failure.Observation.Message
	}
	for _, o := range result.Rows {
		row := rts.Row{ID: o.Row.ID, Runner: o.Row.Runner, Unit: o.Row.Unit, File: o.Row.File, Seen: true, Green: len(o.Observations) > 0, Open: "no trace of it"}
		for _, seen := range o.Observations {
			row.Green = row.Green && (seen.Outcome == gate.Passed || seen.Outcome == gate.Skipped)
			row.Seconds = seen.Duration.Seconds()
		}
		t.order = append(t.order, row.ID)
		t.rows[row.ID] = &rts.Trace{Row: row}
	}
}

func (t *traced) take(run *tracing) {
	for _, use := range run.uses {
		if name, ok := processOf(use[1]); ok {
			t.starts[use[0]] = "starts " + name
			continue
		}
		t.graph.Use(use[0], use[1])
	}
	once := run.once()
	for _, row := range run.rows {
		known := t.rows[row.id]
		if known == nil {
			continue
		}
		known.Open = ""
		if !row.whole {
			known.Open = "another tracer took over"
		}
		for _, n := range t.carried(run, row.nodes, once) {
			t.add(known, run.nodes[n])
		}
	}
	for n := range run.shared {
		if key := t.key(run.nodes[n]); key != "" {
			t.imports[key] = true
		}
	}
	t.cached(run)
}

var process = lazyregexp.New(`^starts:(.*)`)

func processOf(used string) (name string, ok bool) {
	if m := process.FindStringSubmatch(used); m != nil {
		return m[1], true
	}
	return "", false
}

func (t *traced) add(row *rts.Trace, n node) {
	switch {
	case n.opens != "":
		row.Opens = append(row.Opens, n.opens)
	case n.lists != "":
		row.Lists = append(row.Lists, n.lists)
	case n.starts != "":
		row.Open = "starts " + n.starts
	default:
		row.Loads = append(row.Loads, n.file)
		if key := t.key(n); key != "" {
			row.Executes = append(row.Executes, key)
		}
	}
}

// key names the function of the tree that a code object belongs to, "" for a
// module's own code.
func (t *traced) key(n node) string {
	if n.file == "" {
		return ""
	}
	t.traced[n.file] = true
	if symbol := rts.At(t.outline(n.file), n.line); symbol != "" {
		return rts.Key(n.file, symbol)
	}
	return ""
}

func (t *traced) outline(file string) []rts.Span {
	spans, known := t.outlines[file]
	if !known {
		content, err := t.tree.ReadFile(file)
		if err == nil {
			spans = rts.Outline(file, content)
		}
		t.outlines[file] = spans
	}
	return spans
}

// once are the nodes that one row alone did.
func (t *tracing) once() map[int]bool {
	count := make(map[int]int)
	for _, row := range t.rows {
		for _, n := range row.nodes {
			count[n]++
		}
	}
	for n, times := range count {
		if times > 1 {
			delete(count, n)
		}
	}
	alone := make(map[int]bool, len(count))
	for n := range count {
		alone[n] = true
	}
	return alone
}

// carried adds to what a row did what it may have found done. A function that
// keeps something beyond its call may call another only once, for the first row
// that comes by; and for each of several values once, where it is seen to look for
// the value first: then whoever asks it depends on all that made any.
func (t *traced) carried(run *tracing, did []int, once map[int]bool) []int {
	reached := make(map[int]bool, len(did))
	var queue []int
	for _, n := range did {
		reached[n] = true
		if run.nodes[n].stores {
			queue = append(queue, n)
		}
	}
	made := make(map[int]bool)
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, callee := range run.calls[at] {
			makes := made[at] || t.makers(run, at)[callee]
			if made[callee] || !makes && (!once[callee] || reached[callee]) {
				continue
			}
			reached[callee] = true
			made[callee] = made[callee] || makes
			queue = append(queue, callee)
		}
	}
	return slices.Sorted(maps.Keys(reached))
}

// makers are those functions that one calls for values which it keeps. Where no
// callee bears a name that it calls for them, a variable held the function: then it
// may be any.
func (t *traced) makers(run *tracing, n int) map[int]bool {
	if found, known := run.makers[n]; known {
		return found
	}
	if run.makers == nil {
		run.makers = make(map[int]map[int]bool)
	}
	run.makers[n] = t.findMakers(run, n)
	return run.makers[n]
}

func (t *traced) findMakers(run *tracing, n int) map[int]bool {
	what := run.nodes[n]
	names := t.keeping(what.file)[rts.At(t.outline(what.file), what.line)]
	if len(names) == 0 {
		return nil
	}
	functions, named := make(map[int]bool), make(map[int]bool)
	for _, callee := range run.calls[n] {
		called := run.nodes[callee]
		if called.file == "" {
			continue
		}
		functions[callee] = true
		symbol := rts.At(t.outline(called.file), called.line)
		if slices.ContainsFunc(names, func(name string) bool { return rts.AnswersTo(symbol, name) }) {
			named[callee] = true
		}
	}
	if len(named) == 0 {
		return functions
	}
	return named
}

func (t *traced) keeping(file string) map[string][]string {
	found, known := t.keeps[file]
	if !known && file != "" {
		if content, err := t.tree.ReadFile(file); err == nil {
			found = rts.Keeping(content)
		}
		t.keeps[file] = found
	}
	return found
}

var cache = lazyregexp.New(`(?mi)^[ \t]*@[\w.]*(cache|memoi[sz]e|singleton|once)`)

// cached takes what functions behind a cache do for everybody's who loads
// them: only the first caller is seen to need it.
func (t *traced) cached(run *tracing) {
	var queue []int
	for n, what := range run.nodes {
		if what.file != "" && t.isCached(what) {
			queue = append(queue, n)
		}
	}
	reached := make(map[int]bool)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if reached[at] {
			continue
		}
		reached[at] = true
		queue = append(queue, run.calls[at]...)
		if key := t.key(run.nodes[at]); key != "" {
			t.imports[key] = true
		}
		for _, callee := range run.calls[at] {
			switch did := run.nodes[callee]; {
			case did.opens != "":
				t.graph.Use(run.nodes[at].file, did.opens)
			case did.lists != "":
				t.graph.Use(run.nodes[at].file, did.lists+"/")
			case did.starts != "":
				t.starts[run.nodes[at].file] = "starts " + did.starts
			}
		}
	}
}

// isCached tells by the decorators, which belong to a function's first lines.
func (t *traced) isCached(n node) bool {
	i := slices.IndexFunc(t.outline(n.file), func(s rts.Span) bool { return s.First <= n.line && n.line <= s.Last })
	if i < 0 {
		return false
	}
	content, err := t.tree.ReadFile(n.file)
	if err != nil {
		return false
	}
	all := strings.Split(string(content), "\n")
	from, to := t.outline(n.file)[i].First-1, min(n.line+3, len(all))
	return from < to && cache.MatchString(strings.Join(all[from:to], "\n"))
}

// finish gives the rows what their units load.
func (t *traced) finish() rts.Traces {
	out := rts.Traces{Failed: t.failed, Traced: slices.Sorted(maps.Keys(t.traced)), Imports: slices.Sorted(maps.Keys(t.imports))}
	byUnit := make(map[string][]*rts.Trace)
	for _, id := range t.order {
		byUnit[t.rows[id].Unit] = append(byUnit[t.rows[id].Unit], t.rows[id])
	}
	for node := range t.graph.Nodes() {
		for unit := range t.graph.Reaching(node) {
			for _, row := range byUnit[unit] {
				t.reach(row, node)
			}
		}
	}
	for _, id := range t.order {
		row := t.rows[id]
		row.Loads, row.Executes, row.Opens, row.Lists = set(row.Loads), set(row.Executes), set(row.Opens), set(row.Lists)
		out.Rows = append(out.Rows, *row)
	}
	return out
}

// reach records what a row's unit loads, or reads while it loads.
func (t *traced) reach(row *rts.Trace, node string) {
	switch dir, isDir := strings.CutSuffix(node, "/"); {
	case isDir:
		row.Lists = append(row.Lists, dir)
	case strings.HasSuffix(node, ".py"):
		row.Loads = append(row.Loads, node)
		if why := t.starts[node]; why != "" {
			row.Open = why
		}
	default:
		row.Opens = append(row.Opens, node)
	}
}

func set(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
