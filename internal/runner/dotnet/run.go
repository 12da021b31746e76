package dotnet

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/braces"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Brakes on one project in one call.
const (
	maxBuilds = 15 // without what did not compile
	maxAlone  = 12 // rows of a run that died, asked one by one
)

// session is one call of Run.
type session struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	projects *projects
	left     *braces.Taken[struct{}]
	root     string
	answered map[string]bool
	result   gate.Result
}

// heard is what one command came to.
type heard struct {
	report trxReport
	broken error // a report that is not whole
	errors []compileError
	code   int // of dotnet; -1: it never came to its end
	exit   gate.Exit
	tail   string
}

// Run runs the rows of the units, each test project by a command of its own.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	s := &session{Runner: r, state: state, batch: batch, projects: newProjects(state.Tree(), r.Dir), left: r.left.Of(state), answered: make(map[string]bool)}
	defer s.left.Unlock()
	byProject := make(map[string][]string)
	var order []string
	for _, unit := range batch.Units {
		dir := s.projects.of(unit)
		if s.projects.source(unit) == nil || !s.projects.isTest(unit) || len(s.wanted(unit)) == 0 {
			continue
		}
		if byProject[dir] == nil {
			order = append(order, dir)
		}
		byProject[dir] = append(byProject[dir], unit)
	}
	for _, dir := range order {
		if err := s.project(ctx, dir, byProject[dir]); err != nil {
			return gate.Result{}, err
		}
	}
	return s.result, nil
}

// wanted are the declared rows of a unit that the batch asks for.
func (s *session) wanted(unit string) []declared {
	return slices.DeleteFunc(s.projects.declared(unit), func(d declared) bool { return !s.wants(d.row.ID) })
}

// wants tells whether a row is asked for, or a part of it.
func (s *session) wants(id string) bool {
	return len(s.batch.Rows) == 0 || slices.ContainsFunc(s.batch.Rows, func(asked string) bool {
		return asked == id || strings.HasPrefix(asked, id+"(") || strings.HasPrefix(asked, id+" [")
	})
}

// project asks one test project, again and again without the test code that does
// not compile. What a process that died left open is asked row by row.
func (s *session) project(ctx context.Context, dir string, units []string) error {
	for round := 1; ; round++ {
		h, err := s.invoke(ctx, dir, s.filter(units))
		if err != nil {
			return err
		}
		if len(h.errors) > 0 && len(h.report.Results) == 0 {
			if round < maxBuilds && s.takeOut(h.errors) {
				continue
			}
			for _, unit := range units {
				s.fail(unit, failure(h.errors, nil))
			}
			return nil
		}
		s.absorb(units, h)
		if !h.died() {
			s.settle(units, h)
			return nil
		}
		return s.alone(ctx, dir, units, h)
	}
}

// alone asks for each row that a run left open when it died.
func (s *session) alone(ctx context.Context, dir string, units []string, before *heard) error {
	asked := 0
	for _, unit := range units {
		for _, d := range s.open(unit) {
			if asked++; asked > maxAlone || before.exit.TimedOut && asked > 2 {
				s.fail(unit, before.death())
				break
			}
			h, err := s.invoke(ctx, dir, exactly(d))
			if err != nil {
				return err
			}
			s.absorb([]string{unit}, h)
			if !s.answered[d.row.ID] && h.died() {
				s.add(d.row, h.death())
			}
		}
	}
	return nil
}

// open are the wanted rows of a unit without an answer, but for those that were
// taken out, which are answered here.
func (s *session) open(unit string) []declared {
	var open []declared
	for _, d := range s.wanted(unit) {
		if o, out := s.takenWith(d.row); out {
			s.add(d.row, o)
		}
		if !s.answered[d.row.ID] {
			open = append(open, d)
		}
	}
	return open
}

// The SDK is told to work alone, offline, in English and in lines. What was built
// lies in bin and obj; of the latter the lists of restored packages are kept.
const script = `exec 9>"$TOUCHSTONE_REPORT"; unset TOUCHSTONE_REPORT
root=$(pwd -P); echo "touchstone-root $root"
DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1 MSBUILDDISABLENODEREUSE=1 MSBUILDTERMINALLOGGER=off VSLANG=1033
export DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO DOTNET_CLI_UI_LANGUAGE DOTNET_SKIP_FIRST_TIME_EXPERIENCE MSBUILDDISABLENODEREUSE MSBUILDTERMINALLOGGER VSLANG
%[1]sfor built in %[2]s; do
	rm -rf "$root/$built/bin"
	[ -d "$root/$built/obj" ] && find "$root/$built/obj" -type f ! -name project.assets.json ! -name project.nuget.cache ! -name '*.nuget.*' -exec rm -f {} +
done
out=$(mktemp -d) || exit 1
%[3]s --results-directory "$out" 9>&- 2>&1
echo "touchstone-exit $?"
for f in "$out"/*.trx; do [ -f "$f" ] && cat "$f" && echo; done >&9
`

// invoke builds a project and runs what a filter names.
func (s *session) invoke(ctx context.Context, dir, filter string) (*heard, error) {
	argv := slices.Concat(s.Command, []string{s.projects.file[dir], "--no-restore", "--logger", "trx;LogFilePrefix=touchstone", "--filter", filter, "-p:UseSharedCompilation=false", "-nodeReuse:false", "-p:TreatWarningsAsErrors=false"})
	files := make(map[string]string)
	var built []string
	for _, dir := range s.projects.all {
		built = append(built, console.Quote(dir))
	}
	files["run.sh"] = fmt.Sprintf(script, s.left.Put(files), strings.Join(built, " "), console.Shell(argv))
	h := &heard{code: -1}
	report, ended := console.Parsed(func(from io.Reader) (err error) {
		h.report, err = readTrx(from)
		return err
	})
	var tail gate.Tail
	lines := &console.Lines{Take: func(line string) { s.take(h, &tail, line) }}
	command := gate.Command{Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Files: files, Timeout: s.Timeout, Stdout: lines, Stderr: &tail, Report: report}
	if s.batch.Timeout > 0 {
		command.Timeout = s.batch.Timeout
	}
	exit, err := s.state.Run(ctx, command)
	h.broken = ended()
	lines.End()
	if err != nil {
		return nil, fmt.Errorf("running dotnet test on %s: %w", s.state.Name(), err)
	}
	h.exit, h.tail = exit, tail.Lines(3)
	if h.code == 127 {
		return nil, fmt.Errorf("%s does not run (%s): install the .NET SDK, or name another program in runners: command: of .github/touchstone.yml", s.Command[0], h.tail)
	}
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, argv)
	return h, nil
}

// take reads a line of what dotnet prints.
func (s *session) take(h *heard, tail io.Writer, line string) {
	if root, ok := strings.CutPrefix(line, "touchstone-root "); ok && s.root == "" {
		s.root = root
		return
	}
	if rest, ok := strings.CutPrefix(line, "touchstone-exit "); ok {
		_, _ = fmt.Sscan(rest, &h.code)
		return
	}
	fmt.Fprintln(tail, line)
	if e, ok := readError(line, s.root); ok && len(h.errors) < 2000 && !slices.Contains(h.errors, e) {
		h.errors = append(h.errors, e)
	}
}

// filter names the wanted rows of units in VSTest's words; whole classes where all
// of their rows are wanted.
func (s *session) filter(units []string) string {
	var words []string
	for _, unit := range units {
		if len(s.batch.Rows) > 0 {
			for _, d := range s.wanted(unit) {
				words = append(words, exactly(d))
			}
			continue
		}
		for _, d := range s.projects.declared(unit) {
			class := "FullyQualifiedName~" + escape(strings.TrimSuffix(d.row.ID, d.row.Name))
			if !slices.Contains(words, class) {
				words = append(words, class)
			}
		}
	}
	return strings.Join(words, "|")
}

// exactly names one row, and its cases where the framework gives those names of
// their own.
func exactly(d declared) string {
	name := escape(d.row.ID)
	if d.many {
		return "FullyQualifiedName=" + name + "|FullyQualifiedName~" + name + `\(`
	}
	return "FullyQualifiedName=" + name
}

var escape = strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`, `&`, `\&`, `|`, `\|`, `=`, `\=`, `!`, `\!`, `~`, `\~`).Replace

// takeOut blanks the test code in which errors stand, and tells whether there is
// something new to build. It is false as soon as one stands anywhere else.
func (s *session) takeOut(errors []compileError) bool {
	type fault struct {
		source *braces.Source
		member *braces.Member
	}
	byFault := make(map[fault][]compileError)
	var order []fault
	for _, e := range errors {
		source := s.projects.source(e.file)
		if e.file == "" || source == nil || !treepath.Within(s.Dir, e.file) || !s.projects.isTest(e.file) {
			return false
		}
		f := fault{source, culprit(source, source.Offset(e.line, e.col))}
		if byFault[f] == nil {
			order = append(order, f)
		}
		byFault[f] = append(byFault[f], e)
	}
	done := false
	for _, f := range order {
		own, o := braces.Own(s.left.LeftOut, byFault[f], func(e compileError) []gate.Missing { return e.missing(f.source) })
		if len(own) > 0 {
			o = failure(own, f.source)
		}
		from, to, name := 0, len(f.source.Text), ""
		if f.member != nil {
			from, to, name = f.member.From, f.member.To, f.member.Name
		}
		done = s.left.Erase(f.source, from, to, o, name) || done
	}
	return done
}
