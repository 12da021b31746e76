package pytest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

//go:embed observer.py
var observer string

// plugin is the module name of the observer in the state.
const plugin = "touchstone_observer"

// maxRounds bounds how often a run is repeated without a row that killed it.
const maxRounds = 10

// the exit statuses that pytest documents.
const (
	exitOK = iota
	exitTestsFailed
	exitInterrupted
	exitInternalError
	exitUsageError
	exitNothingCollected
)

// List collects the units' rows and runs none.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	run := r.newRun(state, gate.Batch{Units: units})
	if len(run.units) == 0 {
		return gate.Result{}, nil
	}
	s, exit, err := run.invoke(ctx, []string{"--collect-only", "-q"}, nil)
	if err != nil {
		return gate.Result{}, err
	}
	for _, id := range s.order {
		run.result.Rows = append(run.result.Rows, gate.Observed{Row: s.rows[id]})
	}
	run.collectErrors(s)
	run.disagreement(s, exit)
	return run.result, nil
}

// Run runs the rows of the units. A row that kills the process is observed as
// such, and the rest is run again without it.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	run := r.newRun(state, batch)
	if len(run.units) == 0 {
		return gate.Result{}, nil
	}
	rows := batch.Rows
	for range maxRounds {
		s, exit, err := run.invoke(ctx, nil, rows)
		if err != nil {
			return gate.Result{}, err
		}
		rest := run.absorb(s, exit)
		if len(rest) == 0 {
			break
		}
		rows = rest
	}
	return run.result, nil
}

// run is one call of Run or List.
type run struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	units    []string
	answered map[string]bool
	failed   map[string]bool // units whose failure is known
	result   gate.Result
}

func (r *Runner) newRun(state gate.State, batch gate.Batch) *run {
	known := r.suite(state.Tree()).files
	units := slices.DeleteFunc(slices.Clone(batch.Units), func(unit string) bool { return !slices.Contains(known, unit) })
	return &run{Runner: r, state: state, batch: batch, units: units, answered: make(map[string]bool), failed: make(map[string]bool)}
}

// find is a shell program that runs its arguments with the first interpreter
// that the repository or the user has made ready.
const find = `for d in .venv venv env; do
  if [ -x "$d/bin/python" ] && "$d/bin/python" -c 'import pytest' 2>/dev/null; then exec "$d/bin/python" -m pytest "$@"; fi
done
if [ -n "$VIRTUAL_ENV" ] && [ -x "$VIRTUAL_ENV/bin/python" ]; then exec "$VIRTUAL_ENV/bin/python" -m pytest "$@"; fi
for p in python3 python; do
  if command -v "$p" >/dev/null 2>&1; then exec "$p" -m pytest "$@"; fi
done
echo "looked for .venv, venv, env, VIRTUAL_ENV, python3 and python" >&2
exit 127`

// command is how pytest is called, and the same as a person would paste it.
func (r *run) command(extra, rows []string) (argv, pasteable []string) {
	var targets []string
	for _, unit := range r.units {
		targets = append(targets, relative(r.Dir, unit))
	}
	named := targets
	if len(rows) > 0 && len(rows) <= 5 { // few enough to name
		named = nil
		for _, id := range rows {
			named = append(named, relative(r.Dir, id))
		}
	}
	ours := append([]string{"-p", plugin, "--continue-on-collection-errors", "--maxfail=0", "--color=no"}, extra...)
	if len(r.Command) > 0 {
		return slices.Concat(r.Command, ours, targets), slices.Concat(r.Command, named)
	}
	return slices.Concat([]string{"sh", "-c", find, "sh"}, ours, targets), slices.Concat([]string{"python", "-m", "pytest"}, named)
}

func relative(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// settings is what the observer is told.
type settings struct {
	Dir      string   `json:"dir"`
	Rows     []string `json:"rows"` // null selects all
	Subjects []string `json:"subjects"`
	Tests    []string `json:"tests"`
	Roots    []string `json:"roots"` // directories that hold nothing but tests
}

func (r *run) settings(rows []string) (string, error) {
	s := settings{Dir: r.Dir, Rows: rows, Subjects: r.batch.Subjects, Tests: r.units}
	for _, unit := range r.units {
		for dir := path.Dir(unit); dir != "."; dir = path.Dir(dir) {
			if base := path.Base(dir); base == "tests" || base == "test" || base == "testing" {
				s.Roots = append(s.Roots, dir)
			}
		}
	}
	slices.Sort(s.Roots)
	s.Roots = slices.Compact(s.Roots)
	text, err := json.Marshal(s)
	return string(text), err
}

func (r *run) invoke(ctx context.Context, extra, rows []string) (*session, gate.Exit, error) {
	told, err := r.settings(rows)
	if err != nil {
		return nil, gate.Exit{}, err
	}
	argv, pasteable := r.command(extra, rows)
	env := map[string]string{"PYTHONPATH": "{aux}", "TOUCHSTONE_SETTINGS": "{aux}/settings.json"}
	for name, value := range r.Env {
		env[name] = value
	}
	if own := r.Env["PYTHONPATH"]; own != "" {
		env["PYTHONPATH"] = "{aux}:" + own
	}
	var stdout, stderr tail
	reader, writer := io.Pipe()
	s := newSession(r.Config.Name, r.batch.Seen)
	parsed := make(chan error, 1)
	go func() {
		err := s.read(reader)
		reader.CloseWithError(err)
		parsed <- err
	}()
	timeout := r.Timeout
	if r.batch.Timeout > 0 {
		timeout = r.batch.Timeout
	}
	exit, err := r.state.Run(ctx, gate.Command{
		Argv: argv, Dir: r.Dir, Env: env, Stdout: &stdout, Stderr: &stderr, Report: writer, Timeout: timeout,
		Files: map[string]string{plugin + ".py": observer, "settings.json": told},
	})
	writer.Close()
	if broken := <-parsed; err == nil && broken != nil {
		err = fmt.Errorf("reading the observer's records: %w", broken)
	}
	if err != nil {
		return nil, gate.Exit{}, err
	}
	words := strings.TrimSpace(stderr.String())
	switch {
	case exit.Code == 127 && !s.began:
		return nil, exit, &MissingToolError{"python", clean(words)}
	case !s.began && s.early == nil && strings.Contains(words, "No module named pytest"):
		return nil, exit, &MissingToolError{"pytest", clean(words)}
	}
	r.result.Wall += exit.Wall
	r.result.Commands = append(r.result.Commands, pasteable)
	r.result.Loaded = append(r.result.Loaded, s.loaded...)
	if !s.began || !s.ended {
		r.silent(s, exit, words+" "+stdout.String())
	}
	return s, exit, nil
}

// silent records a run that ended without the observer's last word.
func (r *run) silent(s *session, exit gate.Exit, words string) {
	if len(s.running()) > 0 || len(s.phases) > 0 && len(s.order) > 0 {
		return // a row died: absorb says which
	}
	o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: clean(fmt.Sprintf("pytest exited with %d and left no report: %s", exit.Code, lastLines(words)))}
	switch {
	case s.early != nil:
		o = collectError{facts: *s.early}.failure().Observation
	case exit.TimedOut:
		o = gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: exit.Wall, Message: "collection did not end in time"}
	case exit.Limit != "":
		o.Message = "ended at the limit on " + exit.Limit
	case exit.Signal != "":
		o = gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Message: "pytest died by " + exit.Signal + " while collecting"}
	}
	r.failAll(o)
}

// failAll gives every unit that has no failure yet the same one.
func (r *run) failAll(o gate.Observation) {
	for _, unit := range r.units {
		if !r.failed[unit] {
			r.failed[unit] = true
			r.result.Units = append(r.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
		}
	}
}

func (r *run) collectErrors(s *session) {
	for _, e := range s.errors {
		if !slices.Contains(r.units, e.file) {
			continue
		}
		if !r.failed[e.file] {
			r.failed[e.file] = true
			r.result.Units = append(r.result.Units, e.failure())
		}
	}
}

// disagreement holds the exit status against the records.
func (r *run) disagreement(s *session, exit gate.Exit) bool {
	red := false
	for id := range s.phases {
		for _, o := range s.observations(id) {
			red = red || o.Outcome == gate.Failed || o.Outcome == gate.Errored
		}
	}
	words := ""
	switch {
	case !s.ended:
		return false
	case exit.Code == exitOK && (red || s.status != exitOK):
		words = "pytest exited with 0 although rows failed"
	case s.status == exitInternalError, s.status == exitUsageError, s.status == exitInterrupted && len(s.phases) == 0 && len(s.errors) == 0:
		words = fmt.Sprintf("pytest ended with status %d before it could run the tests", s.status)
	default:
		return false
	}
	r.result.Rows = nil
	r.failAll(gate.Observation{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: words})
	return true
}

// absorb takes in one run and returns the rows to run again: those that a
// killer kept from running.
func (r *run) absorb(s *session, exit gate.Exit) []string {
	r.collectErrors(s)
	if r.disagreement(s, exit) {
		return nil
	}
	killers := make(map[string]bool)
	if !s.ended {
		for _, id := range s.running() {
			killers[id] = true
		}
	}
	var rest []string
	for _, id := range s.order {
		switch attempts := s.observations(id); {
		case r.answered[id]:
		case killers[id]:
			r.answer(s.rows[id], died(exit))
		case len(attempts) > 0:
			r.answer(s.rows[id], attempts...)
		case s.ended || len(killers) == 0:
			r.answer(s.rows[id], gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "it was collected and left no report"})
		default:
			rest = append(rest, id)
		}
	}
	return rest
}

func (r *run) answer(row gate.Row, o ...gate.Observation) {
	r.answered[row.ID] = true
	r.result.Rows = append(r.result.Rows, gate.Observed{Row: row, Observations: o})
}

// died is the observation of a row under which the process ended.
func died(exit gate.Exit) gate.Observation {
	o := gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: exit.Wall}
	switch {
	case exit.TimedOut:
		o.Outcome, o.Reason, o.Message = gate.TimedOut, gate.Timeout, "still running at the time limit"
	case exit.Limit != "":
		o.Message = "the process was ended at the limit on " + exit.Limit
	case exit.Signal != "":
		o.Message = "the process died by " + exit.Signal
	default:
		o.Message = fmt.Sprintf("the process exited with %d in the middle of it", exit.Code)
	}
	return o
}

// tail keeps the last few kilobytes of what a process prints.
type tail struct{ buffer bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.buffer.Write(p)
	if over := t.buffer.Len() - 16<<10; over > 16<<10 {
		t.buffer.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buffer.String() }

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], " ")
}
