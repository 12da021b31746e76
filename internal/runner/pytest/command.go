package pytest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

//go:embed observer/*.py
var observer embed.FS

// observerFiles are the observer's modules by the name they are imported under.
var observerFiles = map[string]string{
	"touchstone_observer.py": "observer/plugin.py",
	"touchstone_canary.py":   "observer/canary.py",
	"touchstone_guard.py":    "observer/guard.py",
	"touchstone_failure.py":  "observer/failure.py",
	"touchstone_rows.py":     "observer/rows.py",
	"touchstone_standins.py": "observer/standins.py",
	"touchstone_tree.py":     "observer/tree.py",
	"touchstone_trace.py":    "observer/trace.py",
}

// flags come after the repository's own addopts, so that these do not cut a run
// short. Nothing else is changed: the suite runs as its users run it.
var flags = []string{"-p", "touchstone_observer", "--continue-on-collection-errors", "--maxfail=0"}

// find is a shell program that runs pytest with the first interpreter that has
// it: in a virtual environment of the directory or of the repository's root,
// which is its first argument, in the active one, or in PATH. Virtual
// environments are files that the tree does not list, so they are looked for in
// the state itself.
const find = `up=$1; shift
has_pytest='import importlib.util as u, sys; sys.exit(u.find_spec("pytest") is None)'
without=
for p in .venv/bin/python venv/bin/python env/bin/python \
	"$up.venv/bin/python" "${up}venv/bin/python" "${up}env/bin/python" \
	${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python"} python3 python; do
	command -v "$p" >/dev/null 2>&1 || continue
	if "$p" -c "$has_pytest" 2>/dev/null; then
		export TOUCHSTONE_PYTHON="$p"
		exec "$p" -m pytest "$@"
	fi
	without="$without $p"
done
if [ -n "$without" ]; then echo "asked$without" >&2; exit 126; fi
echo "looked for .venv, venv, env, the active virtual environment, python3 and python in PATH" >&2
exit 127`

// question is what one run of pytest is asked.
type question struct {
	units   []string
	rows    []string          // ids; none asks for every row of the units
	list    bool              // collect only
	trace   bool              // tell what the rows execute and read
	fail    bool              // put a test that must fail in the place of each row
	company []string          // files to be collected first, of which nothing is asked
	ahead   map[string]string // head's sources, of which what base lacks stands in; by path
}

// command makes the invocation for a question, and the argv that a person would
// paste for the same.
func (r *Runner) command(q question, batch gate.Batch, patterns []string) (gate.Command, []string, error) {
	told, err := json.Marshal(map[string]any{
		"dir": r.Dir, "rows": q.rows, "subjects": batch.Subjects, "tests": q.units, "patterns": patterns, "ahead": q.ahead, "canary": canaryName(), "must_fail": q.fail,
	})
	if err != nil {
		return gate.Command{}, nil, fmt.Errorf("writing the observer's settings: %w", err)
	}
	files := map[string]string{"settings.json": string(told)}
	for name, from := range observerFiles {
		content, err := observer.ReadFile(from)
		if err != nil {
			return gate.Command{}, nil, fmt.Errorf("reading the observer: %w", err)
		}
		files[name] = string(content)
	}
	ours := slices.Clone(flags)
	if q.list {
		ours = append(ours, "--collect-only", "-q")
	}
	if q.trace {
		ours = append(ours, "-p", "touchstone_trace")
	}
	targets := r.targets(slices.Concat(q.company, q.units))
	argv, shown := r.interpreterArgv()
	command := gate.Command{
		Argv: slices.Concat(argv, ours, targets), Dir: r.Dir, Env: r.environment(), Files: files, Timeout: r.Timeout,
	}
	if batch.Timeout > 0 {
		command.Timeout = batch.Timeout
	}
	return command, slices.Concat(shown, r.shownTargets(q, targets)), nil
}

// interpreterArgv is how pytest is started, and how that is shown. What was
// found once is not looked for again.
func (r *Runner) interpreterArgv() (argv, shown []string) {
	if len(r.Command) > 0 {
		return r.Command, r.Command
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interpreter != "" {
		known := []string{r.interpreter, "-m", "pytest"}
		return known, known
	}
	up := strings.Repeat("../", depth(r.Dir))
	return []string{"sh", "-c", find, "sh", up}, []string{"python3", "-m", "pytest"}
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

// found remembers the interpreter that a run was started with.
func (r *Runner) found(interpreter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interpreter = interpreter
}

func (r *Runner) environment() map[string]string {
	env := map[string]string{}
	maps.Copy(env, r.Env)
	env["PYTHONPATH"] = "{aux}"
	if own := r.Env["PYTHONPATH"]; own != "" {
		env["PYTHONPATH"] = "{aux}:" + own
	}
	return env
}

// targets are the units as pytest takes them: relative to its directory, and
// never to be read as an option or a file of arguments.
func (r *Runner) targets(units []string) []string {
	targets := make([]string, len(units))
	for i, unit := range units {
		targets[i] = relative(r.Dir, unit)
		if strings.HasPrefix(targets[i], "-") || strings.HasPrefix(targets[i], "@") {
			targets[i] = "./" + targets[i]
		}
	}
	return targets
}

// fewRows is how many rows the shown command names; more are shown as their
// files.
const fewRows = 5

func (r *Runner) shownTargets(q question, targets []string) []string {
	if len(q.rows) == 0 || len(q.rows) > fewRows || slices.ContainsFunc(q.rows, rewritten) {
		return targets
	}
	return r.targets(q.rows)
}

// rewritten holds for an id that pytest would not know: ours for an address or
// a repeated name.
func rewritten(id string) bool { return strings.Contains(id, "0x_") || strings.Contains(id, "#") }

func relative(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

// unnameable holds for a path that pytest would not read as one file.
func unnameable(unit string) bool {
	return strings.Contains(unit, "::") || strings.Contains(unit, "[")
}
