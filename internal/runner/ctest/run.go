package ctest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// maxBuilds bounds how often a project is built without what did not compile.
const maxBuilds = 20

// session is one call of Run or List.
type session struct {
	*Runner
	state   gate.State
	batch   gate.Batch
	project *project
	left    *braces.Taken[struct{}]
	result  gate.Result
	answers map[string]bool
}

// test is one test as ctest lists it.
type test struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	index   int
	row     gate.Row
	whole   bool // of a program, not of a case in a source
}

// List builds the project and names its tests.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	return r.call(ctx, state, gate.Batch{Units: units}, true)
}

// Run runs the rows of the units.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	return r.call(ctx, state, batch, false)
}

func (r *Runner) call(ctx context.Context, state gate.State, batch gate.Batch, list bool) (gate.Result, error) {
	s := &session{Runner: r, state: state, batch: batch, project: newProject(state.Tree(), r.Dir), left: r.left.Of(state), answers: make(map[string]bool)}
	defer s.left.Unlock()
	units := slices.DeleteFunc(slices.Clone(batch.Units), func(unit string) bool { return s.project.file(unit) == nil || !treepath.Within(r.Dir, unit) })
	if len(units) == 0 {
		return s.result, nil
	}
	tests, failure, err := s.build(ctx)
	if err != nil {
		return gate.Result{}, err
	}
	s.describe(tests)
	var chosen []*test
	for _, t := range tests {
		if slices.Contains(units, t.row.Unit) && s.wants(t.row.ID) {
			chosen = append(chosen, t)
		}
	}
	for _, unit := range units {
		s.leftRows(unit)
	}
	for _, t := range chosen {
		if list {
			s.add(t.row)
		}
	}
	if len(chosen) > 0 && !list {
		if err := s.run(ctx, chosen); err != nil {
			return gate.Result{}, err
		}
	}
	s.silent(units, failure, len(tests) > 0)
	return s.result, nil
}

// describe finds the source of each test: that of a case of its name, among the
// sources of its program first; else its program's first source.
func (s *session) describe(tests []*test) {
	units := s.project.units()
	count := make(map[string]int)
	for _, t := range tests {
		program := ""
		if len(t.Command) > 0 {
			program = path.Base(t.Command[0])
		}
		own := s.project.of(program)
		t.row = gate.Row{ID: t.Name, Runner: s.Name(), Name: t.Name}
		if count[t.Name]++; count[t.Name] > 1 {
			t.row.ID += fmt.Sprintf("#%d", count[t.Name])
		}
		for _, unit := range slices.Concat(own, units) {
			if t.row.Unit == "" && len(t.Command) > 1 && slices.Contains(units, unit) {
				s.place(t, unit)
			}
		}
		if t.row.Unit == "" && len(own) > 0 {
			t.whole = true
			t.row.Unit, t.row.File, t.row.Line = own[0], own[0], 1
			for _, file := range own {
				if slices.Contains(units, file) {
					t.row.Unit, t.row.File = file, file
					break
				}
			}
			if src := s.project.file(t.row.File); src != nil {
				t.row.End, t.row.Digest = src.LineAt(len(src.Text)-1), src.Digest(0, len(src.Text))
			}
		}
	}
}

func (s *session) place(t *test, unit string) {
	src := s.project.file(unit)
	if src == nil {
		return
	}
	all := cases(src)
	at := slices.IndexFunc(all, func(d declared) bool { return d.is(t.Name) })
	if at < 0 {
		return
	}
	t.row = fill(t.row, unit, s.project, all, all[at])
}

func fill(row gate.Row, unit string, p *project, all []declared, d declared) gate.Row {
	src := p.file(unit)
	members := make([]*braces.Member, len(all))
	for i, one := range all {
		members[i] = one.Member
	}
	row.Unit, row.File, row.Line, row.End = unit, unit, src.LineAt(d.From), src.LineAt(d.To-1)
	row.Digest, row.Context = src.Digest(d.From, d.To), src.Without(members)
	return row
}

// leftRows records the test cases of a unit that were taken out.
func (s *session) leftRows(unit string) {
	src := s.project.file(unit)
	all := cases(src)
	for _, d := range all {
		if o, out := s.left.Why(unit, d.Member); out && s.wants(d.name) {
			s.add(fill(gate.Row{ID: d.name, Runner: s.Name(), Name: d.name}, unit, s.project, all, d), o)
		}
	}
}

func (s *session) wants(id string) bool {
	return len(s.batch.Rows) == 0 || slices.Contains(s.batch.Rows, id)
}

// run runs tests by their numbers in ctest's list.
func (s *session) run(ctx context.Context, chosen []*test) error {
	limit := s.Timeout
	if s.batch.Timeout > 0 {
		limit = s.batch.Timeout
	}
	numbers := make([]string, len(chosen))
	for i, t := range chosen {
		numbers[i] = strconv.Itoa(t.index)
	}
	each := max(1, int(limit.Seconds()*3/4))
	argv := []string{"ctest", "--timeout", strconv.Itoa(each), "-I", "0,0,0," + strings.Join(numbers, ",")}
	files := make(map[string]string)
	files["run.sh"] = s.prologue(files) + fmt.Sprintf("cd \"$build\" && rm -f touchstone.xml\n%s --output-junit touchstone.xml --no-tests=error 9>&- 2>&1\ncode=$?\ncat touchstone.xml >&9\nexit $code\n", console.Shell(argv))
	found := make(map[string][]junit.Case)
	report, ended := console.Parsed(func(from io.Reader) error {
		return junit.Read(from, func(c junit.Case) { found[c.Name] = append(found[c.Name], c) })
	})
	var tail gate.Tail
	ways := make(map[string]string) // number -> how it failed, by the sum that ctest prints
	sum := &console.Lines{Take: func(line string) {
		if m := failedBy.FindStringSubmatch(line); m != nil {
			ways[m[1]] = m[2]
		}
	}}
	exit, err := s.state.Run(ctx, gate.Command{Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Files: files, Stdout: io.MultiWriter(&tail, sum), Report: report, Timeout: limit * time.Duration(len(chosen)+1)})
	broken := ended()
	if err != nil {
		return fmt.Errorf("running ctest on %s: %w", s.state.Name(), err)
	}
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, s.shown(chosen))
	red := false
	for _, t := range chosen {
		list := found[t.Name]
		o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: gate.Message("ctest said nothing of it: " + tail.Lines(2))}
		if len(list) > 0 && broken == nil {
			o = s.outcome(list[0], ways[strconv.Itoa(t.index)])
			found[t.Name] = list[1:]
		}
		if taken, out := s.apart(t); out {
			o = taken
		}
		red = red || o.Outcome != gate.Passed && o.Outcome != gate.Skipped
		s.add(t.row, o)
	}
	if exit.Code != 0 && !red || exit.Code == 0 && red && !s.anyApart(chosen) {
		for i := range s.result.Rows {
			s.result.Rows[i].Observations = []gate.Observation{{Outcome: gate.Errored, Reason: gate.Inconsistent, Message: gate.Message(fmt.Sprintf("ctest exited with %d, which its report does not bear out", exit.Code))}}
		}
	}
	return nil
}

// apart is why a whole program cannot be run for itself: test cases of its
// sources were taken out.
func (s *session) apart(t *test) (gate.Observation, bool) {
	if !t.whole {
		return gate.Observation{}, false
	}
	for _, file := range s.project.of(path.Base(t.Command[0])) {
		if src := s.project.file(file); src != nil {
			for _, m := range src.Members {
				if o, out := s.left.Why(file, m); out {
					return o, true
				}
			}
		}
	}
	return gate.Observation{}, false
}

func (s *session) anyApart(chosen []*test) bool {
	return slices.ContainsFunc(chosen, func(t *test) bool { _, out := s.apart(t); return out })
}

// silent speaks of units without any row. One that a whole build makes no test of
// is left out by the build's options and conditions.
func (s *session) silent(units []string, failure *gate.Observation, built bool) {
	seen := make(map[string]bool)
	for _, o := range s.result.Rows {
		seen[o.Row.Unit] = true
	}
	for _, unit := range units {
		switch {
		case seen[unit]:
		case failure != nil:
			s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: *failure})
		default:
			o := gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: "ctest has no test of it"}
			if why, out := s.left.Whole(unit); out {
				o = why
			} else if built {
				o = gate.Observation{Outcome: gate.NotRun, Reason: gate.Deselected, Message: "the build makes no test of it: its options or conditions leave it out (command: [cmake, -DX=ON] sets options)"}
			}
			s.result.Units = append(s.result.Units, gate.UnitFailure{Unit: unit, Observation: o})
		}
	}
}

func (s *session) shown(chosen []*test) []string {
	names := make(map[string]bool)
	for _, t := range chosen {
		names[regexp.QuoteMeta(t.Name)] = true
	}
	return []string{"ctest", "--test-dir", "build", "--output-on-failure", "-R", "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$"}
}

func (s *session) add(row gate.Row, o ...gate.Observation) {
	if s.answers[row.ID] {
		return
	}
	s.answers[row.ID] = true
	s.result.Rows = append(s.result.Rows, gate.Observed{Row: row, Observations: o})
	if len(o) > 0 && s.batch.Seen != nil {
		s.batch.Seen(row.ID, o[len(o)-1].Outcome)
	}
}
