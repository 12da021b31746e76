package ruby

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

//go:embed reporter.rb
var reporter string

// maxRounds bounds how often a run is asked again without what broke or killed it.
const maxRounds = 8

// session is one call of Run or List.
type session struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	list     bool
	serial   bool // tests that run side by side run one after the other
	answered map[string]bool
	failed   map[string]bool
	sources  map[string]*source
	result   gate.Result
}

// heard is what one process said.
type heard struct {
	rows    []gate.Row
	dropped []gate.Row // by the suite's own filters
	begun   []string
	ended   map[string]record
	outside []record
	closed  bool
	exit    gate.Exit
	tail    string
}

// List loads the units and names their rows.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.ask(ctx, &session{Runner: r, state: state, batch: gate.Batch{Units: units}, list: true})
}

// Run runs the rows of the units. A file that does not load, and a row that kills
// the process, is observed as such, and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	return r.ask(ctx, &session{Runner: r, state: state, batch: batch})
}

func (r *Runner) ask(ctx context.Context, s *session) (gate.Result, error) {
	s.answered, s.failed, s.sources = make(map[string]bool), make(map[string]bool), make(map[string]*source)
	paths := s.state.Tree().Paths()
	units := slices.DeleteFunc(slices.Clone(s.batch.Units), func(unit string) bool {
		_, found := slices.BinarySearch(paths, unit)
		return !found || !treepath.Within(s.Dir, unit)
	})
	rows := s.batch.Rows
	for round := 1; len(units) > 0; round++ {
		h, err := s.invoke(ctx, units, rows)
		if err != nil {
			return gate.Result{}, err
		}
		before, together := len(s.answered)+len(s.failed), !s.serial
		restUnits, restRows := s.absorb(units, h)
		stuck := len(s.answered)+len(s.failed) == before && !(together && s.serial)
		if len(restUnits) > 0 && (round == maxRounds || stuck) {
			s.failAll(restUnits, h.silence())
			break
		}
		units, rows = restUnits, restRows
	}
	for i := range s.result.Rows {
		row := &s.result.Rows[i].Row
		row.Context = s.sources[row.File].context()
	}
	return s.result, nil
}

// invoke runs the framework once on files, for all of their rows or some.
func (s *session) invoke(ctx context.Context, units, rows []string) (*heard, error) {
	plan, err := json.Marshal(map[string]any{"framework": s.Config.Framework, "files": units, "rows": nonNil(rows), "list": s.list, "subjects": nonNil(s.batch.Subjects)})
	if err != nil {
		return nil, err
	}
	words := s.words()
	if s.Config.Framework == RSpec {
		if s.list {
			words = append(words, "--dry-run")
		}
		for _, unit := range units {
			words = append(words, treepath.Relative(s.Dir, unit))
		}
	}
	h := &heard{ended: make(map[string]record)}
	report := &console.Lines{Take: func(line string) { s.take(h, line) }}
	var tail gate.Tail
	exit, err := s.state.Run(ctx, gate.Command{
		Argv: []string{"sh", "{aux}/run.sh"}, Dir: ".", Env: s.environment(), Timeout: s.limit(), Stdout: &tail, Stderr: &tail, Report: report,
		Files: map[string]string{"reporter.rb": reporter, "plan.json": string(plan), "run.sh": s.script(words)},
	})
	report.End()
	if err != nil {
		return nil, fmt.Errorf("running %s on %s: %w", words[0], s.state.Name(), err)
	}
	h.exit, h.tail = exit, tail.Lines(3)
	if exit.Code == 127 {
		return nil, fmt.Errorf("%s does not run (%s): install it, or name another program in runners: command: of .github/touchstone.yml", words[0], h.tail)
	}
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, s.shown(units, rows))
	return h, nil
}

// environment is the configured one, with minitest's number of threads.
func (s *session) environment() map[string]string {
	if !s.serial {
		return s.Env
	}
	env := map[string]string{"N": "1", "MT_CPU": "1"}
	maps.Copy(env, s.Env)
	return env
}

// script starts the framework in its directory, by bundler where all of its gems
// are there.
func (s *session) script(words []string) string {
	with := ""
	if len(s.Command) == 0 {
		with = "if [ -f Gemfile ] && command -v bundle >/dev/null && bundle check >/dev/null 2>&1; then set -- bundle exec \"$@\"; fi\n"
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = console.Quote(word)
		if rest, ok := strings.CutPrefix(word, "{aux}"); ok {
			quoted[i] = "\"{aux}\"" + rest
		}
	}
	return fmt.Sprintf("TOUCHSTONE_ROOT=$(pwd -P); export TOUCHSTONE_ROOT\ncd %s || exit 1\nset -- %s\n%sexec \"$@\"\n", console.Quote(s.Dir), strings.Join(quoted, " "), with)
}

func (s *session) limit() time.Duration {
	if s.batch.Timeout > 0 {
		return s.batch.Timeout
	}
	return s.Timeout
}

func nonNil(rows []string) []string {
	if rows == nil {
		return []string{}
	}
	return rows
}

// take reads a line of the reporter.
func (s *session) take(h *heard, line string) {
	var r record
	if json.Unmarshal([]byte(line), &r) != nil {
		return
	}
	switch r.Kind {
	case "row":
		switch row := s.row(r); {
		case r.Chosen:
			h.rows = append(h.rows, row)
		case r.Dropped:
			h.dropped = append(h.dropped, row)
		}
	case "begin":
		h.begun = append(h.begun, r.ID)
	case "end":
		if _, twice := h.ended[r.ID]; !twice {
			h.ended[r.ID] = r
		}
		if s.batch.Seen != nil {
			s.batch.Seen(r.ID, r.observation(gate.Row{}).Outcome)
		}
	case "outside":
		h.outside = append(h.outside, r)
	case "loaded":
		s.result.Loaded = append(s.result.Loaded, gate.Loaded{Subject: r.ID, File: r.File, SHA256: r.Words, InTree: r.InTree})
	case "close":
		h.closed = true
	}
}

var loading = lazyregexp.New(`while loading (?:\./)?(\S+?\.rb)\b`)

// absorb takes in what one process said, and returns what is left to ask.
func (s *session) absorb(units []string, h *heard) (restUnits, restRows []string) {
	broken := s.takeOutside(units, h)
	red, left := false, make(map[string]bool)
	open := h.open()
	s.serial = s.serial || len(open) > 1 // which of them ended the process cannot be told
	for _, row := range h.dropped {
		s.drop(row)
	}
	for _, row := range h.rows {
		end, ok := h.ended[row.ID]
		switch {
		case s.list:
			s.add(row)
		case ok:
			o := end.observation(row)
			red = red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
			s.add(row, o)
		case len(open) == 1 && open[0] == row.ID && !s.answered[row.ID]:
			s.add(row, h.death())
		case !s.answered[row.ID]:
			left[row.Unit] = true
			restRows = append(restRows, row.ID)
		}
	}
	whole := h.closed && h.exit.Signal == "" && !h.exit.TimedOut
	switch {
	case broken && len(h.rows) == 0: // one file kept the others from running
		return slices.DeleteFunc(slices.Clone(units), func(u string) bool { return s.failed[u] }), s.batch.Rows
	case s.list:
		s.missing(units, h)
		return nil, nil
	case len(h.rows) == 0 && !whole:
		s.failAll(units, h.silence())
		return nil, nil
	case whole && h.exit.Code == 0 && red || whole && h.exit.Code != 0 && !red && !broken && len(restRows) == 0:
		s.contradict(h)
		return nil, nil
	}
	s.missing(units, h)
	for _, unit := range units {
		if left[unit] {
			restUnits = append(restUnits, unit)
		}
	}
	return restUnits, restRows
}

// takeOutside records the files that did not load, and what went wrong around
// all of them.
func (s *session) takeOutside(units []string, h *heard) (broken bool) {
	for _, r := range h.outside {
		o := gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message(r.Context)}
		if r.Error != nil {
			o = r.Error.unloaded()
		}
		m := loading.FindStringSubmatch(strings.TrimSpace(r.Context))
		if m == nil {
			s.failAll(units, o)
			continue
		}
		for _, unit := range units {
			if m[1] == unit || m[1] == treepath.Relative(s.Dir, unit) || strings.HasSuffix(m[1], "/"+unit) {
				broken = true
				s.fail(unit, o)
			}
		}
	}
	return broken
}

// missing speaks of units without any row.
func (s *session) missing(units []string, h *heard) {
	for _, unit := range units {
		if !slices.ContainsFunc(slices.Concat(h.rows, h.dropped), func(r gate.Row) bool { return r.Unit == unit }) && !s.list && len(s.batch.Rows) == 0 {
			s.fail(unit, noReport("there is no test in it"))
		}
	}
	if len(s.batch.Rows) > 0 && len(h.rows) == 0 && len(s.result.Rows) == 0 {
		s.failAll(units, noReport("none of the rows asked for is in it"))
	}
}

// contradict makes rows worthless whose process's exit status says otherwise.
func (s *session) contradict(h *heard) {
	for i := range s.result.Rows {
		s.result.Rows[i].Observations = []gate.Observation{{
			Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("the process exited with %d, which its report does not bear out (%s)", h.exit.Code, h.tail)),
		}}
	}
}

func (h *heard) silence() gate.Observation {
	if h.exit.TimedOut {
		return h.death()
	}
	return noReport(fmt.Sprintf("the run ended %s without a word of it: %s", h.exit, h.tail))
}

// open are the rows that began and did not end.
func (h *heard) open() []string {
	return slices.DeleteFunc(slices.Clone(h.begun), func(id string) bool { _, over := h.ended[id]; return over })
}

// death is the observation of the row that ran when the process ended.
func (h *heard) death() gate.Observation {
	if h.exit.TimedOut {
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "still running at the time limit"}
	}
	return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall, Message: gate.Message("the process ended in the middle of it " + h.exit.String() + ": " + h.tail)}
}

func noReport(words string) gate.Observation {
	return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message(words)}
}

// shown is the command as a person would paste it.
func (s *session) shown(units, rows []string) []string {
	argv := slices.Clone(s.Command)
	if len(argv) == 0 {
		argv = map[string][]string{RSpec: {"rspec"}, Minitest: {"ruby", "-Ilib", "-Itest"}}[s.Config.Framework]
	}
	if s.Dir != "." {
		argv = slices.Concat([]string{"env", "-C", s.Dir}, argv)
	}
	for _, unit := range units {
		argv = append(argv, treepath.Relative(s.Dir, unit))
	}
	if s.Config.Framework == Minitest && len(units) > 1 {
		argv = slices.Insert(argv, len(argv)-len(units), "-e", "ARGV.each { |f| require File.expand_path(f) }")
	}
	if len(rows) == 1 && s.Config.Framework == RSpec {
		parts := strings.Split(rows[0], " > ")
		argv = append(argv, "-e", strings.Join(parts[1:], " "))
	}
	return argv
}

// drop answers for a row that the suite's own filters leave out.
func (s *session) drop(row gate.Row) {
	if s.list {
		s.add(row)
		return
	}
	s.add(row, gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the suite's own filters (a focused example, a tag) leave it out"})
}

func (s *session) add(row gate.Row, o ...gate.Observation) {
	if s.answered[row.ID] {
		return
	}
	s.answered[row.ID] = true
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: o})
}

// fail records why a unit gave no rows or not all of them; the first word counts.
func (s *session) fail(unit string, o gate.Observation) {
	if !s.failed[unit] {
		s.failed[unit] = true
		s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
	}
}

func (s *session) failAll(units []string, o gate.Observation) {
	for _, unit := range units {
		s.fail(unit, o)
	}
}
