package javascript

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

//go:embed observer/*.cjs observer/*.mjs
var observer embed.FS

// question is what one run of a framework is asked.
type question struct {
	units []string
	rows  map[string][]string // ids by unit; a unit without any is asked for whole
	list  bool                // run nothing
	trace bool                // say what each unit does
	// canaries are tests of ours to be put into the tree first, by their path.
	canaries map[string]string
}

// wants tells whether a row is asked for.
func (q question) wants(unit, id string) bool {
	return slices.Contains(q.units, unit) && (len(q.rows[unit]) == 0 || slices.Contains(q.rows[unit], id))
}

// whole tells whether any unit is asked for whole.
func (q question) whole() bool {
	return slices.ContainsFunc(q.units, func(unit string) bool { return len(q.rows[unit]) == 0 })
}

// told is what the launcher and the observer are told.
type told struct {
	Framework string            `json:"framework"`
	Command   []string          `json:"command"`
	Env       map[string]string `json:"env"`
	Up        string            `json:"up"`
	Node      []string          `json:"node"`
	Options   []string          `json:"options"`
	Steps     []string          `json:"steps"`
	Targets   []string          `json:"targets"`
	Sources   map[string]string `json:"sources"` // by what they are compiled to
	Units     []string          `json:"units"`
	Others    []string          `json:"others"` // units that are not asked about
	List      bool              `json:"list"`
	Rows      [][3]any          `json:"rows"` // unit, path, number; a unit without any is asked for whole
	Pattern   string            `json:"pattern"`
	Patterns  []string          `json:"patterns"`
	Matches   []string          `json:"matches"`
	Subjects  []string          `json:"subjects"`
	Canaries  []canary          `json:"canaries"`
	Trace     bool              `json:"trace"`
	Alone     []string          `json:"alone"` // targets that get a process of their own when traced
	Dirs      []string          `json:"dirs"`  // of the tree: what lies in others was built
	Mark      string            `json:"mark"`  // where stand-ins leave their mark, "" for nowhere
}

// command makes the invocation for a question, and the argv that a person would
// paste for the same.
func (c *call) command(q question) (gate.Command, []string, error) {
	t := c.tell(q)
	text, err := json.Marshal(t)
	if err != nil {
		return gate.Command{}, nil, fmt.Errorf("writing the observer's settings: %w", err)
	}
	files := map[string]string{"settings.json": string(text)}
	entries, err := observer.ReadDir("observer")
	if err != nil {
		return gate.Command{}, nil, fmt.Errorf("reading the observer: %w", err)
	}
	for _, entry := range entries {
		content, err := observer.ReadFile("observer/" + entry.Name())
		if err != nil {
			return gate.Command{}, nil, fmt.Errorf("reading the observer: %w", err)
		}
		files[entry.Name()] = string(content)
	}
	command := gate.Command{Argv: []string{"node", "{aux}/launch.cjs"}, Dir: c.Dir, Env: c.Env, Files: files, Timeout: c.Timeout}
	if c.batch.Timeout > 0 {
		command.Timeout = c.batch.Timeout
	}
	return command, c.shown(t), nil
}

func (c *call) tell(q question) told {
	s := c.reader.suite
	t := told{
		Framework: c.Config.Framework, Command: nonNil(c.Command), Env: maps.Clone(s.env), Up: strings.Repeat("../", depth(c.Dir)),
		Units: q.units, List: q.list, Trace: q.trace, Subjects: c.batch.Subjects, Targets: s.given(q.units),
		Others: s.filter(func(file string) bool { return !slices.Contains(q.units, file) }),
	}
	if len(c.Command) == 0 {
		t.Node, t.Options, t.Steps = s.node, s.options, s.before()
	}
	t.Dirs = c.directories(q, len(t.Steps) > 0)
	named := slices.Concat(s.files, q.units)
	if len(t.Steps) > 0 { // else what is loaded may have been built of anything
		named = append(named, c.batch.Subjects...)
	}
	t.Sources = s.compiled.sources(named)
	t.Alone = []string{}
	if q.trace {
		t.Alone = nonNil(c.apartFiles(s))
	}
	t.Node, t.Options, t.Steps = nonNil(t.Node), nonNil(t.Options), nonNil(t.Steps)
	if c.bridge != nil {
		t.Mark = c.bridge.mark
	}
	if t.Env == nil {
		t.Env = make(map[string]string)
	}
	if c.Config.Framework == Vitest || c.Config.Framework == Ava {
		t.Env["CI"] = "true" // snapshots are compared, never written
	}
	for _, file := range sorted(q.canaries) {
		t.Canaries = append(t.Canaries, canary{s.compiled.file(file), q.canaries[file]})
	}
	if q.list {
		t.Pattern, t.Patterns, t.Matches = nothing, []string{"/" + nothing + "/"}, []string{"touchstone matches nothing"}
	}
	c.selectRows(&t, q)
	return t
}

// nothing is a pattern that no title matches.
const nothing = `^touchstone(?!touchstone)\b\B$`

func nonNil(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

// maxPattern bounds a pattern on the command line, in bytes; more rows are
// asked for as their files, and the others' answers dropped.
const maxPattern = 60_000

// selectRows says which rows are wanted, in the words of each framework. Those
// words may let more through: what was not asked for is dropped.
func (c *call) selectRows(t *told, q question) {
	t.Rows = [][3]any{}
	var full, parts, titles []string
	for _, unit := range q.units {
		for _, id := range q.rows[unit] {
			row := c.known(id)
			t.Rows = append(t.Rows, [3]any{row.unit, nonNil(row.path), row.number})
			full = append(full, expression(strings.Join(row.path, " ")))
			titles = append(titles, strings.Join(row.path, " "))
			for _, word := range c.nodePatterns(row) {
				if !slices.Contains(parts, word) {
					parts = append(parts, word)
				}
			}
		}
	}
	if q.whole() || len(full) == 0 {
		return
	}
	if t.Pattern = `^\s*(?:` + strings.Join(full, "|") + `)$`; len(t.Pattern) > maxPattern {
		t.Pattern = ""
	}
	if !slices.Contains(parts, "/^$/") && len(strings.Join(parts, " ")) <= maxPattern {
		t.Patterns = parts
	}
	if !slices.ContainsFunc(titles, func(title string) bool { return strings.ContainsAny(title, "*!") }) && len(strings.Join(titles, " ")) <= maxPattern {
		t.Matches = titles // ava's patterns know no escapes
	}
}

// nodePatterns are node:test's for one row. Its versions match a pattern with a
// test's own name, with its names from the outermost on, or with either; a name
// of what is above lets everything below through, so only tests that must run
// for their subtests are named.
func (c *call) nodePatterns(row knownRow) []string {
	var words []string
	above := ""
	for i, title := range row.path {
		last := i == len(row.path)-1
		if last || !c.isSuite(plainID(row.unit, row.path[:i+1])) {
			word := expression(title)
			if above != "" {
				word = "(?:" + expression(above) + ")?" + word
			}
			words = append(words, "/^"+word+"$/")
		}
		above += title + " "
	}
	return words
}

func (c *call) isSuite(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Runner.rows[id].suite
}

var special = lazyregexp.New(`[\\^$.*+?()[\]{}|/]`)

// expression makes text a JavaScript regular expression that matches it.
func expression(text string) string {
	text = special.ReplaceAllString(text, `\$0`)
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\x00", `\x00`).Replace(text)
}

// given are the units as the framework takes them: what they are compiled to,
// relative to its directory, and never to be read as an option.
func (s *suite) given(units []string) []string {
	targets := make([]string, len(units))
	for i, unit := range units {
		targets[i] = treepath.Relative(s.home, s.compiled.file(unit))
		if strings.HasPrefix(targets[i], "-") || s.framework == Mocha && !strings.Contains(targets[i], "/") {
			targets[i] = "./" + targets[i]
		}
	}
	return targets
}

// Shown is the command that runs some units of a tree, as a person would paste
// it at the root.
func (r *Runner) Shown(tree gate.Tree, units []string) []string {
	c := &call{Runner: r, reader: reader{suite: r.suite(tree)}}
	argv := c.shown(c.tell(question{units: units}))
	if r.Config.Framework != Jest {
		return argv
	}
	at := len(argv) - len(units) // jest takes paths for patterns, unless told
	return slices.Concat(argv[:at], []string{"--runTestsByPath"}, argv[at:])
}

// shown is the command as a person would paste it.
func (c *call) shown(t told) []string {
	argv := c.Command
	if len(argv) == 0 {
		switch c.Config.Framework {
		case Node:
			argv = slices.Concat([]string{"node"}, t.Node, []string{"--test"})
		case Vitest:
			argv = []string{"npx", "vitest", "run"}
		default:
			argv = []string{"npx", c.Config.Framework}
		}
	}
	argv = slices.Concat(argv, t.Options)
	switch {
	case len(t.Rows) == 0 || len(t.Rows) > fewRows:
	case c.Config.Framework == Mocha:
		argv = append(argv, "--grep", t.Pattern)
	case c.Config.Framework == Jest || c.Config.Framework == Vitest:
		argv = append(argv, "-t", t.Pattern)
	}
	if c.Dir != "." {
		argv = slices.Concat([]string{"env", "-C", c.Dir}, argv)
	}
	return slices.Concat(argv, t.Targets)
}

// fewRows is how many rows the shown command names; more are shown as their
// files.
const fewRows = 5

// knownRow is what a framework needs to be asked for a row again.
type knownRow struct {
	unit   string
	path   []string
	number int
	suite  bool
}

// known is a row that was seen before; of another, the id is read as it is
// written.
func (r *Runner) known(id string) knownRow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row, ok := r.rows[id]; ok {
		return row
	}
	parts := strings.Split(id, between)
	return knownRow{unit: parts[0], path: parts[1:], number: 1}
}

func (r *Runner) remember(id string, row knownRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = make(map[string]knownRow)
	}
	r.rows[id] = row
}
