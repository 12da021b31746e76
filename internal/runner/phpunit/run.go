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
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
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
		if _, err := state.Tree().ReadFile(unit); err != nil || !treepath.Within(r.Dir, unit) {
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
	report, ended := console.Parsed(func(from io.Reader) error {
		return junit.Read(from, func(c junit.Case) { h.cases = append(h.cases, c) })
	})
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
	text := fmt.Sprintf(script, console.Quote(s.Dir), console.Shell(words), filter, console.Quote(treepath.Relative(s.Dir, unit)))
	text = strings.Replace(text, `"$@" --no-coverage`, `timeout -k 1 `+seconds+` "$@" --no-coverage`, 1)
	exit, err := s.state.Run(ctx, gate.Command{
		Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Timeout: limit, Files: map[string]string{
			"run.sh": text, "loaded.php": loaded, "loaded.ini": "auto_prepend_file={aux}/loaded.php\n", "subjects.txt": strings.Join(s.batch.Subjects, "\n"),
		},
		Stdout: lines, Stderr: said, Report: report,
	})
	h.broken = ended()
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
	teamcity = lazyregexp.New(`^T ##teamcity\[test(Started|Finished) name='((?:[^'|]|\|.)*)'(?: locationHint='php_qn://(?:[^'|]|\|.)*?::\\?((?:[^':|]|\|.)+)::)?`)
	fatal    = lazyregexp.New(`(?:Fatal|Parse) error:|Uncaught |ParseError|Premature end`)
	escaped  = lazyregexp.New(`\|(0x[0-9a-fA-F]{4}|.)`)
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
	return append(argv, treepath.Relative(s.Dir, unit))
}
