package gotest

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// reachedWords open what a stand-in says when it ends the process.
const reachedWords = "touchstone: reached "

// besideMark runs the tests and hands over what stand-ins left in the mark's
// file.
const besideMark = `mark=$1; shift; report=$TOUCHSTONE_REPORT; unset TOUCHSTONE_REPORT; rm -f "$mark"
"$@"; code=$?; cat "$mark" >"$report" 2>/dev/null; rm -f "$mark"; exit $code`

// markOf is the file in which stand-ins of the state leave their mark, "" for a
// state without any.
func markOf(state gate.State) string {
	if b, ok := state.(gate.Bridged); ok {
		return b.Mark()
	}
	return ""
}

// reached rewrites the answers of one job that come from a stand-in. A stand-in
// ends the process that reaches it, which shows in the row's own words; when more
// processes reached one than packages died of it, some row asked a process of
// its own, and no row of the job says anything about base.
func (s *session) reached(j job, said *stream) {
	if s.mark == "" {
		return
	}
	processes := make(map[string]bool)
	for line := range strings.Lines(said.marks.String()) {
		process, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		processes[process] = true
		s.last = name
	}
	died := 0
	for _, run := range said.packages {
		if strings.Contains(run.crash.String(), reachedWords) {
			died++
		}
	}
	tainted := len(processes) > died
	for _, b := range j.books {
		for i := s.judged[b]; i < len(b.answers); i++ {
			s.rewrite(&b.answers[i].observed, tainted)
		}
		s.judged[b] = len(b.answers)
		if b.failed != nil {
			s.rewrite(b.failed, tainted)
		}
	}
}

// rewrite makes an observation that comes from a stand-in one that says nothing.
func (s *session) rewrite(o *gate.Observation, tainted bool) {
	_, name, marked := strings.Cut(o.Message, reachedWords)
	if !marked && !tainted {
		return
	}
	name, _, _ = strings.Cut(name, ",")
	if !marked {
		name = s.last
	}
	*o = gate.Observation{Outcome: gate.Errored, Reason: gate.MissingSymbol, Duration: o.Duration, Place: o.Place, Reached: name, Message: gate.Message("reached " + name + ", which base does not have")}
}

// Fault is one sentence of the compiler about a source that is no test.
type Fault struct {
	File    string // repository-relative
	Line    int
	Message string
}

// Build compiles the packages of some directories in a state, without their
// tests, and returns what the compiler says of them; none when they compile.
func (r *Runner) Build(ctx context.Context, state gate.State, dirs []string) ([]Fault, error) {
	s := r.session(state, gate.Batch{})
	argv := append([]string{s.Command[0], "build", "-gcflags=-e", "-o", "/dev/null"}, s.settings.list...)
	for _, dir := range dirs {
		if !s.owns(dir) {
			continue
		}
		argv = append(argv, s.target(dir))
	}
	var words strings.Builder
	exit, err := state.Run(ctx, gate.Command{Dir: s.Dir, Env: s.environment(), Argv: argv, Stderr: &words, Timeout: buildTime})
	if err != nil || exit.Code == 0 {
		return nil, err
	}
	var faults []Fault
	for _, e := range compileErrors(words.String(), s.Dir) {
		faults = append(faults, Fault{e.file, e.line, e.message})
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("building the packages: %s", gate.Message(words.String()))
	}
	return faults, nil
}

// Owns tells whether a directory's package belongs to the runner.
func (r *Runner) Owns(tree gate.Tree, dir string) bool { return newLayout(tree, r.Dir).owns(dir) }
