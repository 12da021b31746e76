package javascript

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/rts"
)

// Trace runs the units once, each in a process or with modules of its own, and
// says what each executes, opens, lists and starts. All rows of a unit did what
// the unit did: what its file loads and keeps is for all of them.
func (r *Runner) Trace(ctx context.Context, state gate.State, units []string, batch gate.Batch) (rts.Traces, error) {
	batch.Units, batch.Rows = units, nil
	c := r.newCall(state, batch)
	t := &tracer{suite: c.reader.suite, paths: make(map[string]bool), outlines: make(map[string][]rts.Span), units: make(map[string]*unitTrace), traced: make(map[string]bool)}
	for _, file := range state.Tree().Paths() {
		t.paths[file] = true
	}
	result, err := c.ask(ctx, question{trace: true})
	if err != nil {
		return rts.Traces{}, err
	}
	for _, told := range c.traces {
		t.take(told)
	}
	r.outside(t)
	return t.rows(result), nil
}

type tracer struct {
	*suite
	paths    map[string]bool
	outlines map[string][]rts.Span
	units    map[string]*unitTrace
	traced   map[string]bool // files -> all that was executed of them was seen, every time
}

// unitTrace is what one test file did.
type unitTrace struct {
	rts.Trace
	whole bool // its report came to its end
}

func (t *tracer) take(r record) {
	u := t.units[r.Unit]
	if u == nil {
		u = &unitTrace{}
		t.units[r.Unit] = u
	}
	switch r.Kind {
	case "traced", "trace_open":
		u.whole = u.whole || r.Kind == "traced"
		if u.Open == "" {
			u.Open = r.Message
		}
	case "trace_opens":
		u.Opens = append(u.Opens, r.Files...)
	case "trace_lists":
		u.Lists = append(u.Lists, r.Files...)
	case "trace_file":
		t.loads(u, r.File, r.Whole)
	case "trace_spans":
		for i := 0; i+1 < len(r.Spans); i += 2 {
			for _, symbol := range rts.Sharing(t.outlineOf(r.File), r.Spans[i], r.Spans[i+1]) {
				u.Executes = append(u.Executes, rts.Key(r.File, symbol))
			}
		}
	}
}

// loads takes a file that a unit ran. One that the tree does not have was made by
// something: of what, nobody knows.
func (t *tracer) loads(u *unitTrace, file string, whole bool) {
	switch {
	case !t.paths[file]:
		u.Open = "loads " + file + ", which the tree does not have"
	case !isCode(file):
		u.Opens = append(u.Opens, file)
	default:
		u.Loads = append(u.Loads, file)
		before, known := t.traced[file]
		t.traced[file] = whole && (before || !known)
	}
}

func (t *tracer) outlineOf(file string) []rts.Span {
	spans, known := t.outlines[file]
	if !known {
		spans = rts.Outline(file, []byte(t.source(file)))
		t.outlines[file] = spans
	}
	return spans
}

// apartFiles are the units of mocha that load ES modules: those are kept for as long
// as the process lives, and whoever asks second is not seen to.
func (r *Runner) apartFiles(s *suite) []string {
	if r.Config.Framework != Mocha {
		return nil
	}
	g := &rts.Graph{}
	r.AddGraph(g, s.tree)
	units := make(map[string]bool)
	for file := range slices.Values(s.tree.Paths()) {
		if isScript(file) && !skips(file) && s.isModule(file) {
			for unit := range g.Reaching(file) {
				units[unit] = true
			}
		}
	}
	return s.given(slices.Sorted(maps.Keys(units)))
}

// isModule tells whether a file is, or asks for, an ES module.
func (s *suite) isModule(file string) bool {
	switch ext := path.Ext(file); {
	case strings.HasPrefix(ext, ".m"):
		return true
	case strings.HasPrefix(ext, ".c"):
		return dynamic.MatchString(s.source(file))
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if m, ok := readManifest(s.tree, dir); ok {
			return m.Type == "module" || dynamic.MatchString(s.source(file))
		}
		if dir == "." {
			return dynamic.MatchString(s.source(file))
		}
	}
}

var dynamic = lazyregexp.New(`\bimport\s*\(`)

// outside takes back that all was seen of files that also run elsewhere: in the
// framework's own process, where no test file is to be named. Where types are
// checked, more than who executes a function may notice its body.
func (r *Runner) outside(t *tracer) {
	g := &rts.Graph{}
	b := &graphMaker{Graph: g, runner: r, suite: t.suite, names: newResolver(t.tree), seen: make(map[string]bool)}
	inside := t.setupFiles()
	for _, file := range t.configured() {
		if !inside[file] {
			b.enter(file)
		}
	}
	for len(b.queue) > 0 {
		b.level()
	}
	for file := range t.traced {
		if b.seen[file] || t.typeChecked() && strings.Contains(file[strings.LastIndexByte(file, '.'):], "ts") {
			t.traced[file] = false
		}
	}
}

// setupFiles run in the process of the tests, before them.
func (s *suite) setupFiles() map[string]bool {
	found := make(map[string]bool)
	for _, key := range []string{"setupFiles", "setupFilesAfterEnv", "require", "file", "import"} {
		for _, name := range configStrings(s.config, key) {
			name = strings.TrimPrefix(name, "<rootDir>")
			for _, file := range append(s.fileOf(name), s.fileOf(name+"/index")...) {
				found[file] = true
			}
		}
	}
	for _, word := range slices.Concat(s.node, s.options) { // --require, --import
		for _, file := range s.fileOf(word[strings.IndexByte(word, '=')+1:]) {
			found[file] = s.framework == Mocha || s.framework == Node
		}
	}
	return found
}

// rows gives each row what its unit did.
func (t *tracer) rows(result gate.Result) rts.Traces {
	out := rts.Traces{Failed: make(map[string]string)}
	for _, failure := range result.Units {
		out.Failed[failure.Unit] = failure.Observation.Message
	}
	for unit, u := range t.units {
		if t.framework == Vitest && fileSnapshot.MatchString(t.source(unit)) {
			u.Open = "compares with a file of a computed name"
		}
		u.Loads, u.Executes, u.Opens, u.Lists = sortedSet(u.Loads), sortedSet(u.Executes), sortedSet(u.Opens), sortedSet(u.Lists)
	}
	for _, o := range result.Rows {
		row := rts.Trace{Row: rts.Row{ID: o.Row.ID, Runner: o.Row.Runner, Unit: o.Row.Unit, File: o.Row.File, Seen: true, Green: len(o.Observations) > 0, Open: "no trace of it"}}
		for _, seen := range o.Observations {
			row.Green = row.Green && (seen.Outcome == gate.Passed || seen.Outcome == gate.Skipped)
			row.Seconds = seen.Duration.Seconds()
		}
		if u := t.units[o.Row.Unit]; u != nil && u.whole {
			row.Open, row.Loads, row.Executes, row.Opens, row.Lists = u.Open, u.Loads, u.Executes, u.Opens, u.Lists
		}
		out.Rows = append(out.Rows, row)
	}
	for _, file := range slices.Sorted(maps.Keys(t.traced)) {
		if t.traced[file] {
			out.Traced = append(out.Traced, file)
		}
	}
	return out
}

// fileSnapshot is a comparison with a file that vitest reads elsewhere, where
// the name does not stand in the source.
var fileSnapshot = lazyregexp.New("\\btoMatchFileSnapshot\\s*\\(\\s*[^\"'\\s]")

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// installed identifies Node and the installed packages: by what package managers
// note beside them, else by each package's version.
const installed = `const fs = require('fs'), path = require('path'), hash = require('crypto').createHash('sha256');
for (let dir = process.cwd(); ; dir = path.dirname(dir)) {
  const modules = path.join(dir, 'node_modules');
  const notes = ['.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity'].filter((n) => fs.existsSync(path.join(modules, n)));
  for (const n of notes) hash.update(n + fs.readFileSync(path.join(modules, n)));
  if (notes.length === 0 && fs.existsSync(modules)) {
    const names = fs.readdirSync(modules).flatMap((n) => (n[0] === '@' ? fs.readdirSync(path.join(modules, n)).map((m) => n + '/' + m) : [n]));
    for (const n of names.sort()) {
      try { hash.update(n + '@' + JSON.parse(fs.readFileSync(path.join(modules, n, 'package.json'), 'utf8')).version + '\n'); } catch { hash.update(n + '\n'); }
    }
  }
  if (dir === path.dirname(dir)) break;
}
console.log(process.version, process.platform, process.arch, hash.digest('hex'));`

// Environment identifies Node and the packages that the tests run with.
func (r *Runner) Environment(ctx context.Context, state gate.State) (string, error) {
	var out, said strings.Builder
	exit, err := state.Run(ctx, gate.Command{Argv: []string{"node", "{aux}/installed.cjs"}, Dir: r.Dir, Env: r.Env, Files: map[string]string{"installed.cjs": installed}, Stdout: &out, Stderr: &said, Timeout: r.Timeout})
	if err != nil {
		return "", fmt.Errorf("asking Node what it is: %w", err)
	}
	if exit.Code != 0 {
		return "", fmt.Errorf("asking Node what it is: exit status %d: %s", exit.Code, gate.Message(said.String()))
	}
	return strings.Join(append([]string{r.Config.Framework}, r.Command...), " ") + "\n" + out.String(), nil
}
