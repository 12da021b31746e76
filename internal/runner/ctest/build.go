package ctest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
)

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
