package cargo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// prologue opens the report, takes it from those that are started, and finds
// the place for builds: the state's own home, which stays between its runs. The
// work tree's target directory is no such place, since it may hold what was built
// of another state.
const prologue = `exec 9>"$TOUCHSTONE_REPORT"; unset TOUCHSTONE_REPORT
root=$(pwd -P)
CARGO_TARGET_DIR="${HOME:-/tmp}/.cache/touchstone/cargo-$(printf '%%s %%s' "$root" %s | cksum | cut -d' ' -f1)"
mkdir -p "$CARGO_TARGET_DIR" || exit 1
export CARGO_TARGET_DIR
put() {
	stamp="$CARGO_TARGET_DIR/left-$3"
	cat "$1" >"$root/$2" || exit 1
	[ -e "$stamp" ] || : >"$stamp"
	touch -r "$stamp" "$root/$2"
}
`

// buildOne builds a unit and lists its tests. To the report go cargo's messages
// and lines of ours: the unit, its exit status, cargo's own words, its tests.
const buildOne = `echo 'U %[1]d' >&9
(cd "$root/"%[2]s && %[3]s) >&9 9>&- 2>"$CARGO_TARGET_DIR/words"
code=$?
sed 's/^/W /' "$CARGO_TARGET_DIR/words" >&9
echo "B $code" >&9
`

const listOne = `if [ $code = 0 ]; then
	(cd "$root/"%[1]s && %[2]s) 9>&- 2>"$CARGO_TARGET_DIR/words" | sed 's/^/L /' >&9
	sed 's/^/W /' "$CARGO_TARGET_DIR/words" >&9
	echo 'D' >&9
fi
`

// runOne runs a target's program. To the report go what its harness wrote into a
// file of its own, and the exit status.
const runOne = `log="$CARGO_TARGET_DIR/outcomes"; rm -f "$log"
(cd "$root/"%s && %s%s) 9>&-
code=$?
[ -f "$log" ] && sed 's/^/O /' "$log" >&9
echo "E $code" >&9
`

// script begins a command for the state.
func (s *session) script() (*strings.Builder, map[string]string) {
	files := make(map[string]string)
	var script strings.Builder
	fmt.Fprintf(&script, prologue, quote(s.Config.Name))
	script.WriteString(s.left.put(files))
	return &script, files
}

// cargo is a call of cargo for a target, as words.
func (s *session) cargo(c *crate, subcommand string, options ...string) []string {
	return slices.Concat(s.tool, []string{subcommand}, s.options, c.choose, options)
}

func shell(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

// environment is added to the configured one.
func (s *session) environment() map[string]string {
	env := map[string]string{
		"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never", "CARGO_TERM_PROGRESS_WHEN": "never", "RUST_BACKTRACE": "0",
		// the toolchain that is there is used, and one that is not is said to be missing
		"RUSTUP_AUTO_INSTALL": "0",
		"INSTA_UPDATE":        "no", "INSTA_FORCE_PASS": "0", // snapshots are compared, never written
	}
	maps.Copy(env, s.Env)
	return env
}

// start runs a script in the state; report and stdout are called for each line.
func (s *session) start(ctx context.Context, script string, files map[string]string, limit timeLimit, report, stdout func([]byte)) (gate.Exit, string, error) {
	files["run.sh"] = script
	var said gate.Tail
	toReport, toStdout := &lineWriter{take: report}, &lineWriter{take: stdout}
	exit, err := s.state.Run(ctx, gate.Command{
		Argv: []string{"sh", "{aux}/run.sh"}, Env: s.environment(), Files: files,
		Stdout: toStdout, Stderr: &said, Report: toReport, Timeout: limit.duration(s),
	})
	toReport.end()
	toStdout.end()
	s.result.Wall += exit.Wall
	return exit, said.String(), err
}

// lineWriter calls take for each line that is written to it, in constant memory:
// what is longer than maxLine is cut.
type lineWriter struct {
	take   func([]byte)
	buffer []byte
}

const maxLine = 4 << 20

func (w *lineWriter) Write(p []byte) (int, error) {
	size := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			w.add(p)
			return size, nil
		}
		w.add(p[:i])
		w.take(bytes.TrimSuffix(w.buffer, []byte{'\r'}))
		w.buffer, p = w.buffer[:0], p[i+1:]
	}
}

func (w *lineWriter) add(p []byte) {
	w.buffer = append(w.buffer, p[:min(len(p), max(0, maxLine-len(w.buffer)))]...)
}

// end takes a last line without an end.
func (w *lineWriter) end() {
	if len(w.buffer) > 0 {
		w.take(w.buffer)
		w.buffer = nil
	}
}

var _ io.Writer = (*lineWriter)(nil)
