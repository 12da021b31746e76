package gotest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/rts"
)

// traceTests builds one package's test binary with coverage of all packages and
// runs each test in a process of its own. To the report go, by their first
// letter: the directory, tests with their exit status, their result line, blocks
// of the coverage profile (all of them once, then those that ran), and the test
// log. What the tests leave is read by one process for many of them: on small
// tests, starting programs is most of the cost.
const traceTests = `names=$1; target=$2; packages=$3; dir=$4; limit=$5; shift 5
exec 9>"$TOUCHSTONE_REPORT"; unset TOUCHSTONE_REPORT
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
case $* in *-ldflags*) bare= ;; *) bare='-ldflags=-s -w' ;; esac # go test makes no debugging data either; its -c does
"$@" -c -vet=off ${bare:+"$bare"} -cover -covermode=set -coverpkg="$packages" -o "$tmp/t" "$target" 9>&- || exit 1
cd "$dir" || exit 1
echo "D $(pwd -P)" >&9
tell() {
	(cd "$tmp" && awk -v all="$all" '
		FNR == 1 { kind = substr(FILENAME, 1, 1) }
		kind == "s" { print; name = $3 }
		kind == "o" && /^--- (PASS|FAIL|SKIP): / && $3 == name { print "R " $0 }
		kind == "c" && (all == "yes" || all == FILENAME || !/ 0$/) { print "C " $0; if (all == "yes") all = FILENAME }
		kind == "l" { print "L " $0 }' $files && rm -f $files) >&9
	case $files in *c.*) all=no ;; esac # of the first test also what it did not run
	files=
}
all=yes files= n=0
while read -r name; do
	n=$((n + 1))
	"$tmp/t" -test.run "^$name\$" -test.v -test.timeout "$limit" -test.coverprofile "$tmp/c.$n" -test.testlogfile "$tmp/l.$n" >"$tmp/o.$n" 2>&1 </dev/null 9>&-
	echo "T $? $name" >"$tmp/s.$n"
	files="$files s.$n o.$n"
	if [ -s "$tmp/c.$n" ]; then files="$files c.$n"; fi
	if [ -s "$tmp/l.$n" ]; then files="$files l.$n"; fi
	if [ $((n % 20)) = 0 ]; then tell; fi
done <"$names"
if [ -n "$files" ]; then tell; fi
echo E >&9`

// Trace runs every test of the units alone and says what it executes and opens.
// A unit that does not build with coverage is in Failed.
func (r *Runner) Trace(ctx context.Context, state gate.State, units []string, batch gate.Batch) (rts.Traces, error) {
	out := rts.Traces{Failed: make(map[string]string)}
	if !isGo(r.Command[0]) {
		return out, fmt.Errorf("%q is not the go command: its coverage cannot be asked for", r.Command[0])
	}
	l := newLayout(state.Tree(), r.Dir)
	t := &tracer{Runner: r, layout: l, state: state, outlines: make(map[string]*outline), traced: make(map[string]bool), graph: &rts.Graph{}}
	r.AddGraph(t.graph, state.Tree())
	t.timeout = r.Timeout
	if batch.Timeout > 0 {
		t.timeout = batch.Timeout
	}
	for _, unit := range units {
		rows, why, err := t.unit(ctx, unit)
		if err != nil {
			return out, err
		}
		if why != "" {
			out.Failed[unit] = why
		}
		out.Rows = append(out.Rows, rows...)
		for _, row := range rows {
			if batch.Seen != nil {
				batch.Seen(row.ID, map[bool]gate.Outcome{true: gate.Passed, false: gate.Failed}[row.Green])
			}
		}
	}
	t.loads(out.Rows)
	out.Traced = slices.Sorted(maps.Keys(t.traced))
	return out, nil
}

type tracer struct {
	*Runner
	*layout
	state    gate.State
	timeout  time.Duration // of one test
	graph    *rts.Graph
	outlines map[string]*outline
	traced   map[string]bool
}

// unit traces one package.
func (t *tracer) unit(ctx context.Context, unit string) (rows []rts.Trace, why string, err error) {
	p := t.parse(t.layout, unit)
	found := make(map[string]*rts.Trace)
	var names strings.Builder
	for _, row := range p.rows {
		found[row.Name] = &rts.Trace{Row: rts.Row{ID: row.ID, Runner: t.Config.Name, Unit: unit, File: row.File, Seen: true, Open: "no trace of it"}}
		if !strings.Contains(row.Name, "#") {
			names.WriteString(row.Name + "\n")
		}
	}
	var said strings.Builder
	report, end := console.Parsed(func(from io.Reader) error { return t.read(from, unit, found) })
	argv := []string{"sh", "-c", traceTests, "sh", "{aux}/names", t.target(unit), t.packages(), relative(t.Dir, unit), t.timeout.String()}
	exit, err := t.state.Run(ctx, gate.Command{
		Argv: append(argv, t.Command...), Dir: t.Dir, Env: t.environment(), Files: map[string]string{"names": names.String()},
		Stdout: io.Discard, Stderr: &said, Report: report, Timeout: time.Duration(len(p.rows)+1)*t.timeout + buildTime,
	})
	if broken := end(); err == nil && broken != nil {
		err = fmt.Errorf("reading the trace of %s: %w", unit, broken)
	}
	if err != nil {
		return nil, "", err
	}
	if exit.Code != 0 {
		why = gate.Message(said.String())
	}
	t.startOpen(unit, found)
	for _, row := range p.rows {
		rows = append(rows, *found[row.Name])
	}
	return rows, why, nil
}

// packages are those whose coverage is asked for: all of the tree's.
func (t *tracer) packages() string {
	var names []string
	for dir, files := range t.sources {
		if slices.ContainsFunc(files, func(file string) bool { return !isTest(file) }) {
			names = append(names, t.importPath(dir))
		}
	}
	slices.Sort(names)
	if list := strings.Join(names, ","); len(list) < maxPattern {
		return list
	}
	return "./..."
}

func (t *tracer) environment() map[string]string {
	s := session{Runner: t.Runner, layout: t.layout}
	return s.environment()
}

// read takes the report of one unit.
func (t *tracer) read(from io.Reader, unit string, found map[string]*rts.Trace) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	var row *rts.Trace
	root, cwd := "", ""
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "D":
			root, cwd = strings.TrimSuffix(rest, "/"+unit), rest
			if unit == "." {
				root = rest
			}
		case "T":
			status, name, _ := strings.Cut(rest, " ")
			row = found[name]
			if row == nil {
				row = &rts.Trace{}
			}
			row.Green = status == "0"
			cwd = path.Join(root, unit)
		case "R":
			if i := strings.LastIndexByte(rest, '('); i >= 0 {
				row.Seconds, _ = strconv.ParseFloat(strings.TrimSuffix(rest[i+1:], "s)"), 64)
			}
		case "C":
			row.Open = ""
			t.block(row, rest)
		case "L":
			cwd = t.logged(row, rest, root, cwd)
		}
	}
	return lines.Err()
}

// block reads a line of a coverage profile: file:line.column,line.column
// statements count.
func (t *tracer) block(row *rts.Trace, text string) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.HasPrefix(text, "mode:") {
		return
	}
	name, place := text[:i], text[i+1:]
	o := t.outline(name)
	start, _, _ := strings.Cut(place, ".")
	line, err := strconv.Atoi(start)
	if o.file == "" || err != nil {
		return
	}
	symbol := rts.At(o.spans, line)
	if symbol == "" {
		return
	}
	key := rts.Key(o.file, symbol)
	t.traced[key] = true
	if !strings.HasSuffix(place, " 0") {
		row.Executes = append(row.Executes, key)
		if o.starts[symbol[strings.LastIndexByte(symbol, '.')+1:]] {
			row.Open = "starts a process"
		}
	}
}

// outline is a source as coverage profiles name it.
type outline struct {
	file   string
	spans  []rts.Span
	starts map[string]bool // functions that start processes
}

func (t *tracer) outline(name string) *outline {
	if known := t.outlines[name]; known != nil {
		return known
	}
	o := &outline{}
	t.outlines[name] = o
	for _, dir := range t.directories(path.Dir(name)) {
		file := path.Join(dir, path.Base(name))
		if content, err := t.tree.ReadFile(file); err == nil {
			o.file, o.spans = file, rts.Outline(file, content)
			if parsed := parseFile(file, content).parsed; parsed != nil {
				o.starts = startsIn(parsed)
			}
		}
	}
	return o
}

// logged reads a line of a test log: an operation and what it was done to.
func (t *tracer) logged(row *rts.Trace, text, root, cwd string) string {
	operation, name, _ := strings.Cut(text, " ")
	if operation != "open" && operation != "stat" && operation != "chdir" {
		return cwd
	}
	full := path.Clean(name)
	if !path.IsAbs(full) {
		full = path.Join(cwd, full)
	}
	if operation == "chdir" {
		return full
	}
	switch rel, in := strings.CutPrefix(full, root+"/"); {
	case full == root:
		row.Lists = append(row.Lists, ".")
	case in:
		row.Opens, row.Lists = append(row.Opens, rel), append(row.Lists, rel)
	}
	return cwd
}

// startOpen marks the tests that may start a process.
func (t *tracer) startOpen(unit string, found map[string]*rts.Trace) {
	starters, all := t.starters(t.layout, unit)
	for name, row := range found {
		if row.Open == "" && (all || starters[name]) {
			row.Open = "starts a process"
		}
		row.Executes, row.Opens, row.Lists = sortedSet(row.Executes), sortedSet(row.Opens), sortedSet(row.Lists)
	}
}

// loads gives each row the files of the packages that its own is built from.
func (t *tracer) loads(rows []rts.Trace) {
	byUnit := make(map[string][]string)
	for node := range t.graph.Nodes() {
		if strings.HasPrefix(node, "package ") {
			continue
		}
		for unit := range t.graph.Reaching(node) {
			byUnit[unit] = append(byUnit[unit], node)
		}
	}
	for i := range rows {
		rows[i].Loads = sortedSet(byUnit[rows[i].Unit])
	}
}

// Environment identifies the go command that builds and runs the tests.
func (r *Runner) Environment(ctx context.Context, state gate.State) (string, error) {
	s := session{Runner: r, layout: newLayout(state.Tree(), r.Dir)}
	var out, said strings.Builder
	exit, err := state.Run(ctx, gate.Command{
		Argv: []string{r.Command[0], "env", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT"}, Dir: r.Dir, Env: s.environment(),
		Stdout: &out, Stderr: &said, Timeout: r.Timeout,
	})
	if err != nil {
		return "", fmt.Errorf("asking the go command what it is: %w", err)
	}
	if exit.Code != 0 {
		return "", fmt.Errorf("asking the go command what it is: exit status %d: %s", exit.Code, gate.Message(said.String()))
	}
	return strings.Join(r.Command, " ") + "\n" + out.String(), nil
}
