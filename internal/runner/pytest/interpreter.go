package pytest

import (
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// find is a shell program that runs a framework with the first interpreter that
// has it: in a virtual environment of the directory or of the repository's root,
// in the active one, in those that tox and nox made, in what Poetry, Hatch, PDM or
// Pipenv keep for the project, or in PATH. Virtual environments are files that
// the tree does not list, so they are looked for in the state itself. Its
// arguments are the way up to the root, the framework's module, and the words.
const find = `up=$1; module=$2; shift 2
has="import importlib.util as u, sys; sys.exit(u.find_spec('$module') is None)"
without=
try() {
	command -v "$1" >/dev/null 2>&1 || return 1
	"$1" -c "$has" 2>/dev/null && return 0
	without="$without $1"; return 1
}
go() { export TOUCHSTONE_PYTHON="$p"; exec "$p" "$@"; }
for p in .venv/bin/python venv/bin/python env/bin/python \
	"$up.venv/bin/python" "${up}venv/bin/python" "${up}env/bin/python" \
	${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python"} .tox/*/bin/python .nox/*/bin/python "$up".tox/*/bin/python "$up".nox/*/bin/python; do
	try "$p" && go "$@"
done
ask() { # a file or a word that tells of a tool, the tool, how it is asked
	[ -f "$1" ] && command -v "$2" >/dev/null 2>&1 || return
	shift; home=$("$@" 2>/dev/null </dev/null | tail -n 1)
	p=$home/bin/python
	[ -n "$home" ] && try "$p"
}
if ask poetry.lock poetry env info --path || ask Pipfile pipenv --venv; then go "$@"; fi
if { grep -qs '^\[tool\.hatch' pyproject.toml hatch.toml; } 2>/dev/null; then
	for one in hatch-test test default; do if ask pyproject.toml hatch env find "$one"; then go "$@"; fi; done
fi
if [ -f pdm.lock ] && command -v pdm >/dev/null 2>&1; then p=$(pdm info --python 2>/dev/null </dev/null | tail -n 1); [ -n "$p" ] && try "$p" && go "$@"; fi
for p in python3 python; do try "$p" && go "$@"; done
if [ -n "$without" ]; then echo "asked$without" >&2; exit 126; fi
echo "looked for .venv, venv, env, the active virtual environment, those of tox, nox, Poetry, Hatch, PDM and Pipenv, and python3 and python in PATH" >&2
exit 127`

// start are the words behind an interpreter that start the framework with our
// ear on it, and those of a person.
func (r *Runner) start() (ours, shown []string) {
	switch r.Config.Framework {
	case Django:
		return []string{"manage.py", "test"}, []string{"manage.py", "test"}
	case Unittest:
		return []string{"-m", "touchstone_unittest"}, []string{"-m", "unittest"}
	}
	return []string{"-m", "pytest"}, []string{"-m", "pytest"}
}

// argv is how the framework is started, and how that is shown. What was found
// once is not looked for again.
func (r *Runner) argv() (argv, shown []string) {
	ours, plain := r.start()
	switch {
	case len(r.Command) > 0 && r.Config.Framework == Unittest:
		by := interpreterOf(r.Command)
		return slices.Concat(by, ours), slices.Concat(by, plain)
	case len(r.Command) > 0:
		return r.Command, r.Command
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interpreter != "" {
		return slices.Concat([]string{r.interpreter}, ours), slices.Concat([]string{r.interpreter}, plain)
	}
	return slices.Concat(r.finding(), ours), slices.Concat([]string{"python3"}, plain)
}

// finding is the call of the shell program, without the words for what it finds.
func (r *Runner) finding() []string {
	return []string{"sh", "-c", find, "sh", strings.Repeat("../", depth(r.Dir)), r.Config.Framework}
}

// python is how the interpreter is started that runs the tests.
func (r *Runner) python(args ...string) []string {
	if len(r.Command) > 0 {
		return slices.Concat(interpreterOf(r.Command), args)
	}
	return slices.Concat(r.finding(), args)
}

var pythonName = lazyregexp.New(`^(?:python|pypy)[\d.]*(?:\.exe)?$`)

// managers run a program in the environment that they keep.
var managers = []string{"uv", "poetry", "pdm", "hatch", "pipenv", "rye", "pixi"}

// fromScript is a shell program that starts the interpreter that a script such as
// pytest names in its first line.
const fromScript = `s=$(command -v "$1") || exit 127; shift
p=$(head -n 1 "$s" | sed -n 's/^#! *//p'); exec ${p:-python3} "$@"`

// interpreterOf is how a command's interpreter is started: the command up to it;
// by the tool that keeps the environment; by a script's first line.
func interpreterOf(command []string) []string {
	if i := slices.IndexFunc(command, func(word string) bool { return pythonName.MatchString(path.Base(word)) }); i >= 0 {
		return command[:i+1]
	}
	if i := slices.Index(command, "run"); i > 0 && slices.Contains(managers, path.Base(command[0])) {
		return append(slices.Clone(command[:i+1]), "python")
	}
	return []string{"sh", "-c", fromScript, "sh", command[0]}
}

// found remembers the interpreter that a run was started with.
func (r *Runner) found(interpreter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interpreter = interpreter
}
