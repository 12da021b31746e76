package ctest

import (
	"context"
	"encoding/json"
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
)

// maxBuilds bounds how often a project is built without what did not compile.
const maxBuilds = 20

// session is one call of Run or List.
type session struct {
	*Runner
	state   gate.State
	batch   gate.Batch
	project *project
	left    *taken
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
	s := &session{Runner: r, state: state, batch: batch, project: newProject(state.Tree(), r.Dir), left: r.leftOf(state), answers: make(map[string]bool)}
	defer s.left.mu.Unlock()
	units := slices.DeleteFunc(slices.Clone(batch.Units), func(unit string) bool { return s.project.file(unit) == nil || !within(r.Dir, unit) })
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
	s.silent(units, failure)
	return s.result, nil
}

// build configures and builds the project, again and again without the test code
// that does not compile, and lists what ctest then has. failure is why not all of
// it could be built, nil when it could.
func (s *session) build(ctx context.Context) (tests []*test, failure *gate.Observation, err error) {
	for round := 1; ; round++ {
		b := &built{}
		var listing strings.Builder
		words, configured, made := gate.Tail{}, -1, -1
		take := func(line string) {
			kind, rest, _ := strings.Cut(line, " ")
			switch kind {
			case "R":
				b.root = rest
			case "C":
				configured, _ = strconv.Atoi(rest)
			case "B":
				made, _ = strconv.Atoi(rest)
			case "L":
				listing.WriteString(rest)
			}
		}
		exit, err := s.start(ctx, s.buildScript(), s.Timeout+buildTime, take, func(line string) { b.take(line); fmt.Fprintln(&words, line) })
		if err != nil {
			return nil, nil, err
		}
		if exit.TimedOut {
			return nil, &gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Message: "the build was still running at the time limit"}, nil
		}
		if made != 0 && len(b.errors) > 0 && round < maxBuilds && s.takeOut(compiling(b.errors)) {
			continue
		}
		switch {
		case configured == 127:
			return nil, nil, fmt.Errorf("%s does not run (%s): install it, or name another program in runners: command: of .github/touchstone.yml", s.Command[0], words.Lines(2))
		case configured != 0:
			failure = &gate.Observation{Outcome: gate.Errored, Reason: gate.Setup, Message: gate.Message("cmake: " + words.Lines(4))}
		case made != 0 && len(b.errors) > 0:
			o := observation(b.errors, nil)
			failure = &o
		case made != 0:
			failure = &gate.Observation{Outcome: gate.Errored, Reason: gate.Compile, Message: gate.Message(words.Lines(4))}
		}
		return parseList(listing.String()), failure, nil
	}
}

// compiling are the errors of the compiler, without the linker's where there are
// any: those follow from them.
func compiling(errors []compileError) []compileError {
	own := slices.DeleteFunc(slices.Clone(errors), func(e compileError) bool { return e.line == 0 })
	if len(own) == 0 {
		return errors
	}
	return own
}

// The build directory lies in the state's own home, and stays between its runs.
const prologue = `exec 9>"$TOUCHSTONE_REPORT"; unset TOUCHSTONE_REPORT
root=$(pwd -P); LC_ALL=C.UTF-8; LANGUAGE=C; export LC_ALL LANGUAGE
build="${HOME:-/tmp}/.cache/touchstone/cmake-$(printf '%%s %%s' "$root" %s | cksum | cut -d' ' -f1)"
mkdir -p "$build" || exit 1
`

func (s *session) prologue(files map[string]string) string {
	return fmt.Sprintf(prologue, console.Quote(s.Name()+" "+string(s.state.Name()))) + s.left.Put(files)
}

func (s *session) buildScript() map[string]string {
	files := make(map[string]string)
	script := s.prologue(files) + fmt.Sprintf(`echo "R $root" >&9
%s -S "$root"/%s -B "$build" -G "Unix Makefiles" -DBUILD_TESTING=ON -DCMAKE_COLOR_DIAGNOSTICS=OFF 9>&- 2>&1
code=$?; echo "C $code" >&9; [ $code = 0 ] || exit 0
LC_ALL=C cmake --build "$build" --parallel 2 -- -k 9>&- 2>&1
echo "B $?" >&9
(cd "$build" && ctest --show-only=json-v1 9>&- 2>/dev/null) | sed 's/^/L /' >&9
exit 0
`, console.Shell(s.Command), console.Quote(s.Dir))
	files["run.sh"] = script
	return files
}

func (s *session) start(ctx context.Context, files map[string]string, limit time.Duration, report, stdout func(string)) (gate.Exit, error) {
	toReport, toStdout := &console.Lines{Take: report}, &console.Lines{Take: stdout}
	exit, err := s.state.Run(ctx, gate.Command{Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Files: files, Stdout: toStdout, Report: toReport, Timeout: limit})
	toReport.End()
	toStdout.End()
	s.result.Wall += exit.Wall
	if err != nil {
		return exit, fmt.Errorf("running cmake on %s: %w", s.state.Name(), err)
	}
	return exit, nil
}

func parseList(text string) []*test {
	var listed struct {
		Tests []*test `json:"tests"`
	}
	if json.Unmarshal([]byte(text), &listed) != nil {
		return nil
	}
	for i, t := range listed.Tests {
		t.index = i + 1
	}
	return slices.DeleteFunc(listed.Tests, func(t *test) bool { return strings.HasSuffix(t.Name, "_NOT_BUILT") || len(t.Command) == 0 })
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
		own := s.project.sources[program]
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
	reader, writer := io.Pipe()
	found := make(map[string][]junit.Case)
	parsed := make(chan error, 1)
	go func() {
		err := junit.Read(reader, func(c junit.Case) { found[c.Name] = append(found[c.Name], c) })
		_, _ = io.Copy(io.Discard, reader)
		parsed <- err
	}()
	var tail gate.Tail
	ways := make(map[string]string) // number -> how it failed, by the sum that ctest prints
	sum := &console.Lines{Take: func(line string) {
		if m := failedBy.FindStringSubmatch(line); m != nil {
			ways[m[1]] = m[2]
		}
	}}
	exit, err := s.state.Run(ctx, gate.Command{Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Files: files, Stdout: io.MultiWriter(&tail, sum), Report: writer, Timeout: limit * time.Duration(len(chosen)+1)})
	writer.Close()
	broken := <-parsed
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
	for _, file := range s.project.sources[path.Base(t.Command[0])] {
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

var (
	gtestAt    = regexp.MustCompile(`(?m)^(/?[^\s:(]+):(\d+): (?:Failure|FAILED|ERROR|error|FATAL)`)
	catchAt    = regexp.MustCompile(`(?m)^(/?[^\s:(]+)[:(](\d+)\)?:`)
	threw      = regexp.MustCompile(`C\+\+ exception|unexpected exception|THREW exception|terminate called after throwing|threw an exception|unknown file: Failure`)
	inSetUp    = regexp.MustCompile(`thrown in SetUp|thrown in the test fixture's constructor|SetUpTestSuite`)
	fatal      = regexp.MustCompile(`(?i)segfault|SIGSEGV|SIGABRT|SIGFPE|SIGILL|SIGBUS|Subprocess (?:aborted|killed)|Child (?:aborted|killed)|bus_error|illegal|numerical|Exception`)
	asserted   = regexp.MustCompile("Assertion [`'].*' failed")
	notRun     = regexp.MustCompile(`(?i)Unable to find|Could not find|Missing|Fixture|Not Run`)
	failedBy   = regexp.MustCompile(`^\s+(\d+) - .* \(([^()]*)\)(?:\s.*)?$`)
	firstWords = regexp.MustCompile(`(?m)^.*(?:: Failure|FAILED:|ERROR:|Assertion .*failed|what\(\):).*\n?.*\n?.*\n?.*$`)
)

// outcome is what ctest's report and the program's words say of a test.
func (s *session) outcome(c junit.Case, way string) gate.Observation {
	all := c.Attempts()
	o := all[len(all)-1]
	if o.Outcome == gate.Skipped && notRun.MatchString(o.Message) {
		return gate.Observation{Outcome: gate.Errored, Reason: gate.NoReport, Message: o.Message}
	}
	if o.Outcome == gate.Passed || o.Outcome == gate.Skipped {
		return o
	}
	p := c.Problems[len(c.Problems)-1]
	o.Outcome, o.Reason, o.Missing = gate.Failed, gate.Assertion, nil
	words := p.Text
	if m := firstWords.FindString(words); m != "" {
		o.Message = gate.Message(m)
	} else {
		o.Message = gate.Message(strings.TrimSpace(way + " " + lastLines(words)))
	}
	for _, re := range []*regexp.Regexp{gtestAt, catchAt} {
		if m := re.FindStringSubmatch(words); m != nil && o.Place.File == "" {
			o.Place = s.placeOf(m[1], m[2])
		}
	}
	switch {
	case strings.Contains(way, "Timeout"):
		o.Outcome, o.Reason = gate.TimedOut, gate.Timeout
	case asserted.MatchString(words):
	case inSetUp.MatchString(words):
		o.Outcome, o.Reason = gate.Errored, gate.Setup
	case threw.MatchString(words):
		o.Reason = gate.Exception
	case fatal.MatchString(way) || strings.Contains(words, "fatal error condition") || strings.Contains(words, "FATAL ERROR: test case CRASHED"):
		o.Outcome, o.Reason = gate.Crashed, gate.Crash
	}
	return o
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " ")
}

// placeOf makes a path that a program prints one of the repository.
func (s *session) placeOf(file, line string) gate.Place {
	n, _ := strconv.Atoi(line)
	for part := file; part != ""; {
		if _, found := slices.BinarySearch(s.state.Tree().Paths(), part); found {
			return gate.Place{File: part, Line: n}
		}
		_, rest, ok := strings.Cut(part, "/")
		if !ok {
			break
		}
		part = rest
	}
	return gate.Place{}
}

// silent speaks of units without any row.
func (s *session) silent(units []string, failure *gate.Observation) {
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
