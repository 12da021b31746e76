package phpunit

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// maxRounds bounds how often a file is run again without what killed its process.
const maxRounds = 8

// session is one call of Run.
type session struct {
	*Runner
	state  gate.State
	batch  gate.Batch
	root   string
	result gate.Result
}

// heard is what one process said.
type heard struct {
	cases  []junit.Case
	open   string // the test that began and did not end
	code   int    // -1: it never came to its end
	broken error
	exit   gate.Exit
	tail   string
	whole  bool   // a report was written
	red    bool   // it tells of a failure
	fatal  string // PHP's own word of an error
}

// Run runs the rows of the units, each file in a process of its own.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	s := &session{Runner: r, state: state, batch: batch}
	for _, unit := range batch.Units {
		if _, err := state.Tree().ReadFile(unit); err != nil || !within(r.Dir, unit) {
			continue
		}
		if err := s.unit(ctx, unit); err != nil {
			return gate.Result{}, err
		}
	}
	return s.result, nil
}

// unit runs one file, again and again without what killed its process.
func (s *session) unit(ctx context.Context, unit string) error {
	u := &unitBook{session: s, unit: unit, declared: s.declared(s.state.Tree(), unit), answered: make(map[string]bool)}
	filter := u.names(s.batch.Rows)
	if len(s.batch.Rows) > 0 && len(filter) == 0 {
		return nil
	}
	var without []string
	for round := 1; ; round++ {
		h, err := s.invoke(ctx, unit, filter, without)
		if err != nil {
			return err
		}
		killer := ""
		if h.code < 0 || !h.whole {
			killer = h.open
		}
		u.absorb(h, killer)
		if killer == "" || round == maxRounds {
			u.settle(h)
			return nil
		}
		if without = append(without, killer); h.exit.TimedOut && round > 2 {
			u.settle(h)
			return nil
		}
	}
}

const script = `exec 9>"$TOUCHSTONE_REPORT"; unset TOUCHSTONE_REPORT
echo "R $(pwd -P)"; out=$(mktemp -d) || exit 1
cd %[1]s || exit 1
TOUCHSTONE_ROOT=$OLDPWD; TOUCHSTONE_LOADED="$out/loaded"; PHP_INI_SCAN_DIR="${PHP_INI_SCAN_DIR:-}:{aux}"; export TOUCHSTONE_ROOT TOUCHSTONE_LOADED PHP_INI_SCAN_DIR
set -- %[2]s
if [ $# = 0 ]; then if [ -f vendor/bin/phpunit ]; then set -- php vendor/bin/phpunit; else
	set -- phpunit # vendor/bin/phpunit loads the autoloader by itself
	if [ -f vendor/autoload.php ] && ! grep -qs 'bootstrap=' phpunit.xml phpunit.dist.xml phpunit.xml.dist; then set -- phpunit --bootstrap vendor/autoload.php; fi
fi; fi
"$@" --no-coverage --do-not-cache-result --colors=never --log-junit "$out/junit.xml" --log-teamcity "$out/teamcity" %[3]s %[4]s >&2 9>&-
code=$?
[ -s "$out/junit.xml" ] && { echo "W"; cat "$out/junit.xml" >&9; }
grep -a '^##teamcity\[test\(Started\|Finished\)' "$out/teamcity" 2>/dev/null | sed 's/^/T /'
[ -f "$out/loaded" ] && cat "$out/loaded"
echo "E $code"
`

//go:embed loaded.php
var loaded string

// invoke runs PHPUnit on one file, for some of its tests or all.
func (s *session) invoke(ctx context.Context, unit string, only, without []string) (*heard, error) {
	filter := ""
	if len(only) > 0 || len(without) > 0 {
		filter = "--filter " + console.Quote(pattern(only, without))
	}
	h := &heard{code: -1}
	reader, writer := io.Pipe()
	parsed := make(chan error, 1)
	go func() {
		err := junit.Read(reader, func(c junit.Case) { h.cases = append(h.cases, c) })
		_, _ = io.Copy(io.Discard, reader) // the command must not wait for us
		parsed <- err
	}()
	var tail gate.Tail
	lines := &console.Lines{Take: func(line string) { s.take(h, line) }}
	said := &console.Lines{Take: func(line string) {
		if h.fatal == "" && fatal.MatchString(line) {
			h.fatal = line
		}
		fmt.Fprintln(&tail, line)
	}}
	limit := s.Timeout
	if s.batch.Timeout > 0 {
		limit = s.batch.Timeout
	}
	seconds := strconv.Itoa(max(1, int((limit - limit/10).Seconds())))
	words := s.Command
	if len(words) > 0 {
		words = slices.Clone(words)
	}
	text := fmt.Sprintf(script, console.Quote(s.Dir), console.Shell(words), filter, console.Quote(relative(s.Dir, unit)))
	text = strings.Replace(text, `"$@" --no-coverage`, `timeout -k 1 `+seconds+` "$@" --no-coverage`, 1)
	exit, err := s.state.Run(ctx, gate.Command{
		Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Timeout: limit, Files: map[string]string{
			"run.sh": text, "loaded.php": loaded, "loaded.ini": "auto_prepend_file={aux}/loaded.php\n", "subjects.txt": strings.Join(s.batch.Subjects, "\n"),
		},
		Stdout: lines, Stderr: said, Report: writer,
	})
	writer.Close()
	h.broken = <-parsed
	lines.End()
	said.End()
	if err != nil {
		return nil, fmt.Errorf("running phpunit on %s: %w", s.state.Name(), err)
	}
	h.exit, h.tail = exit, strings.TrimSpace(h.fatal+" "+tail.Lines(3))
	if h.code == 124 || h.code == 137 && exit.Wall > limit/2 { // timeout's own word
		h.exit.TimedOut, h.code = true, -1
	}
	if h.code == 127 {
		return nil, fmt.Errorf("phpunit does not run (%s): install it, or name another program in runners: command: of .github/touchstone.yml", h.tail)
	}
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, s.shown(unit, only))
	return h, nil
}

var (
	teamcity = regexp.MustCompile(`^T ##teamcity\[test(Started|Finished) name='((?:[^'|]|\|.)*)'(?: locationHint='php_qn://(?:[^'|]|\|.)*?::\\?((?:[^':|]|\|.)+)::)?`)
	fatal    = regexp.MustCompile(`(?:Fatal|Parse) error:|Uncaught |ParseError|Premature end`)
	escaped  = regexp.MustCompile(`\|(0x[0-9a-fA-F]{4}|.)`)
)

func (s *session) take(h *heard, line string) {
	switch kind, rest, _ := strings.Cut(line, " "); {
	case kind == "R" && strings.HasPrefix(rest, "/"):
		s.root = rest
	case kind == "L":
		var l gate.Loaded
		if json.Unmarshal([]byte(rest), &l) == nil && slices.Contains(s.batch.Subjects, l.Subject) {
			s.result.Loaded = append(s.result.Loaded, l)
		}
	case line == "W":
		h.whole = true
	case kind == "E":
		h.code, _ = strconv.Atoi(rest)
	case kind == "T" && strings.HasPrefix(rest, "##teamcity"):
		if m := teamcity.FindStringSubmatch(line); m != nil {
			name := escaped.ReplaceAllStringFunc(m[2], func(e string) string { return strings.TrimPrefix(e, "|") })
			if h.open = ""; m[1] == "Started" {
				h.open = m[3] + "::" + name
			}
		}
	}
}

// pattern is PHPUnit's filter: some tests, without others.
func pattern(only, without []string) string {
	quote := func(names []string) string {
		quoted := make([]string, len(names))
		for i, name := range names {
			quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(name), "/", `\/`)
		}
		return strings.Join(quoted, "|")
	}
	text := "/^"
	if len(without) > 0 {
		text += "(?!(?:" + quote(without) + ")$)"
	}
	if len(only) > 0 {
		text += "(?:" + quote(only) + ")(?: with data set .*)?$"
	}
	return text + "/s"
}

func (s *session) shown(unit string, only []string) []string {
	argv := slices.Clone(s.Command)
	if len(argv) == 0 {
		argv = []string{"phpunit"}
	}
	if s.Dir != "." {
		argv = slices.Concat([]string{"env", "-C", s.Dir}, argv)
	}
	if len(only) > 0 {
		argv = append(argv, "--filter", pattern(only, nil))
	}
	return append(argv, relative(s.Dir, unit))
}

// unitBook is one file in one call.
type unitBook struct {
	*session
	unit     string
	declared []declared
	answered map[string]bool
}

// names are the tests that the batch's rows ask of the file, without data sets.
func (u *unitBook) names(rows []string) []string {
	classes := make(map[string]bool)
	for _, d := range u.declared {
		class, _, _ := strings.Cut(d.row.ID, "::")
		classes[class] = true
	}
	var names []string
	for _, id := range rows {
		class, _, _ := strings.Cut(id, "::")
		name, _, _ := strings.Cut(id, " with data set ")
		if classes[class] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// absorb takes in what one process said: methods with several cases become a row
// with parts.
func (u *unitBook) absorb(h *heard, killer string) {
	groups := make(map[string][]junit.Case)
	var order []string
	for _, c := range h.cases {
		if c.Class == "" { // a word about data sets that could not be made, or about the file
			var ok bool
			if c.Class, c.Name, ok = strings.Cut(c.Suite, "::"); !ok {
				continue
			}
		}
		name, _, _ := strings.Cut(c.Name, " with data set ")
		id := strings.ReplaceAll(c.Class, ".", `\`) + "::" + name
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], c)
	}
	for _, id := range order {
		row := u.row(id)
		if len(groups[id]) == 1 && groups[id][0].Name == row.Name {
			o := u.observation(groups[id][0], row)
			h.red = h.red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			u.add(row, o)
			continue
		}
		total := gate.Observation{Outcome: gate.Skipped}
		var parts []gate.Observed
		for _, c := range groups[id] {
			part := row
			part.ID, part.Name, part.Parent = strings.TrimSuffix(id, row.Name)+c.Name, c.Name, id
			o := u.observation(c, part)
			h.red = h.red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			if o.Outcome != gate.Skipped && (total.Outcome == gate.Skipped || total.Outcome == gate.Passed) {
				total = o
			}
			parts = append(parts, gate.Observed{Row: part, Observations: []gate.Observation{o}})
		}
		u.add(row, total)
		for _, part := range parts {
			u.add(part.Row, part.Observations...)
		}
	}
	if killer != "" {
		name, _, many := strings.Cut(killer, " with data set ")
		row := u.row(name)
		if many {
			part := row
			part.ID, part.Name, part.Parent = killer, killer[strings.Index(killer, "::")+2:], row.ID
			u.add(part, h.death())
		}
		u.add(row, h.death())
	}
}

func (u *unitBook) row(id string) gate.Row {
	for _, d := range u.declared {
		if d.row.ID == id {
			return d.row
		}
	}
	_, name, _ := strings.Cut(id, "::")
	return gate.Row{ID: id, Runner: u.Name(), Name: name, Unit: u.unit, File: u.unit}
}

// settle speaks of what no process told of, and holds the exit status against
// the rows.
func (u *unitBook) settle(h *heard) {
	some := len(u.answered) > 0
	if h.whole && h.code >= 0 && some && (h.code == 0) == h.red {
		for i := range u.result.Rows {
			if o := &u.result.Rows[i]; o.Row.Unit == u.unit {
				o.Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("phpunit exited with %d, which its report does not bear out (%s)", h.code, h.tail))}}
			}
		}
		return
	}
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message("phpunit ran no test of it: " + h.tail), Missing: junit.Missing(h.tail)}
	switch {
	case h.exit.TimedOut:
		o = h.death()
	case strings.Contains(h.tail, "ParseError") || strings.Contains(h.tail, "Parse error") || strings.Contains(h.tail, "syntax error"):
		o.Reason = gate.Compile
	case len(o.Missing) > 0:
		o.Reason = gate.Import
	}
	silent := !some
	for _, d := range u.declared {
		if u.answered[d.row.ID] || len(u.batch.Rows) > 0 && !slices.Contains(u.batch.Rows, d.row.ID) {
			continue
		}
		if some && h.whole && h.code >= 0 {
			u.add(d.row, gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the configuration leaves it out"})
			continue
		}
		silent = true
	}
	if silent {
		u.result.Units = append(u.result.Units, gate.UnitFailure{Unit: u.unit, Observation: o})
	}
}

func (h *heard) death() gate.Observation {
	if h.exit.TimedOut {
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "still running at the time limit"}
	}
	return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall, Message: gate.Message("its process ended in the middle of it: " + h.tail)}
}

var (
	frame     = regexp.MustCompile(`(?m)^(/[^\n:]+|phar:[^\n:]+):(\d+)$`)
	assertion = regexp.MustCompile(`PHPUnit\\Framework\\(?:ExpectationFailed|AssertionFailed|MockObject|Comparison)|Mockery\\Exception|Prophecy`)
	fewer     = regexp.MustCompile(`(?:Too few arguments to function|Unknown named parameter|Too many arguments) (?:[\w\\]+::)?\$?(\w+)`)
)

// observation is what a case came to.
func (u *unitBook) observation(c junit.Case, row gate.Row) gate.Observation {
	all := c.Attempts()
	o := all[len(all)-1]
	if len(c.Problems) == 0 || o.Outcome == gate.Skipped {
		return o
	}
	p := c.Problems[len(c.Problems)-1]
	words := strings.TrimSpace(strings.TrimPrefix(p.Text, strings.ReplaceAll(c.Class, ".", `\`)+"::"+c.Name))
	o.Outcome, o.Reason, o.Missing, o.Message = gate.Failed, gate.Exception, nil, gate.Message(frame.ReplaceAllString(words, ""))
	switch {
	case strings.HasSuffix(p.Kind, "RiskyTestError") || strings.HasSuffix(p.Kind, "RiskyTest"):
		return gate.Observation{Outcome: gate.Passed, Duration: c.Took, Message: gate.Message("risky: " + words)}
	case assertion.MatchString(p.Kind):
		o.Reason = gate.Assertion
	case strings.HasSuffix(p.Kind, `Framework\Warning`) || strings.HasSuffix(p.Kind, `Framework\Error`) || strings.HasSuffix(p.Kind, "InvalidDataProviderException"):
		o.Outcome, o.Reason, o.Missing = gate.Errored, gate.Setup, junit.Missing(words)
	default:
		o.Missing = junit.Missing(words)
		if m := fewer.FindStringSubmatch(words); m != nil {
			o.Missing = append(o.Missing, gate.Missing{Name: m[1], Signature: true})
		}
	}
	u.locate(&o, words, row)
	return o
}

// locate adds the place, and tells what failed in set-up: no line of the test is
// in the stack.
func (u *unitBook) locate(o *gate.Observation, words string, row gate.Row) {
	inTest, production := row.Line == 0, false
	for _, m := range frame.FindAllStringSubmatch(words, -1) {
		file, ok := strings.CutPrefix(m[1], u.root+"/")
		if !ok || foreign(file) {
			continue
		}
		line, _ := strconv.Atoi(m[2])
		if o.Place.File == "" {
			o.Place = gate.Place{File: file, Line: line}
			production = file != u.unit && !strings.HasSuffix(file, "Test.php") && !strings.HasSuffix(file, "TestCase.php")
		}
		inTest = inTest || file == row.File && line >= row.Line && line <= row.End
	}
	for i := range o.Missing {
		o.Missing[i].FromProduction = production && !o.Missing[i].Signature
	}
	switch {
	case inTest || o.Place.File == "" || o.Outcome != gate.Failed || o.Reason == gate.Assertion:
	case production:
		o.Message = gate.Message("in set-up: " + o.Message)
	default:
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	}
}

func (u *unitBook) add(row gate.Row, o ...gate.Observation) {
	if u.answered[row.ID] {
		return
	}
	u.answered[row.ID] = true
	last := o[len(o)-1].Outcome
	if len(u.batch.Rows) > 0 && !slices.Contains(u.batch.Rows, row.ID) && !slices.Contains(u.batch.Rows, row.Parent) {
		return
	}
	u.result.Rows = append(u.result.Rows, gate.Observed{Row: row, Observations: o})
	if u.batch.Seen != nil {
		u.batch.Seen(row.ID, last)
	}
}
