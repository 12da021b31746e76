package ruby

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

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

// invoke runs the framework once on files, for all of their rows or some.
func (s *session) invoke(ctx context.Context, units, rows []string) (*heard, error) {
	plan, err := json.Marshal(map[string]any{"framework": s.Config.Framework, "files": units, "rows": nonNil(rows), "list": s.list, "subjects": nonNil(s.batch.Subjects), "canary": s.canary})
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
	h.exit, h.tail = exit, tail.Lines(8)
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
