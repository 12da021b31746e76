package pytest

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

//go:embed observer/*.py
var observer embed.FS

// observerFiles are the observer's modules by the name they are imported under.
var observerFiles = map[string]string{
	"touchstone_observer.py": "observer/plugin.py",
	"touchstone_canary.py":   "observer/canary.py",
	"touchstone_channel.py":  "observer/channel.py",
	"touchstone_django.py":   "observer/django.py",
	"touchstone_unittest.py": "observer/unittest.py",
	"touchstone_guard.py":    "observer/guard.py",
	"touchstone_failure.py":  "observer/failure.py",
	"touchstone_rows.py":     "observer/rows.py",
	"touchstone_standins.py": "observer/standins.py",
	"touchstone_tree.py":     "observer/tree.py",
	"touchstone_trace.py":    "observer/trace.py",
	"touchstone_marks.py":    "observer/marks.py",
}

// flags come after the repository's own addopts, so that these do not cut a run
// short. Nothing else is changed: the suite runs as its users run it.
var flags = []string{"-p", "touchstone_observer", "--continue-on-collection-errors", "--maxfail=0"}

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
	canary := "test_" + rand.Text() // the code that is tested cannot know it before it runs
	told, err := json.Marshal(map[string]any{
		"dir": r.Dir, "rows": q.rows, "subjects": batch.Subjects, "tests": q.units, "patterns": patterns, "ahead": q.ahead, "canary": canary, "must_fail": q.fail, "list": q.list,
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
	argv, shown := r.argv()
	targets := r.targets(slices.Concat(q.company, q.units))
	command := gate.Command{
		Argv: slices.Concat(argv, r.flags(q, targets)), Dir: r.Dir, Env: r.environment(), Files: files, Timeout: r.Timeout,
	}
	if batch.Timeout > 0 {
		command.Timeout = batch.Timeout
	}
	return command, slices.Concat(shown, r.shownTargets(q, targets)), nil
}

// flags are our words behind those that start the framework. What our own
// programs are to run is in their settings.
func (r *Runner) flags(q question, targets []string) []string {
	switch {
	case r.Config.Framework == Django:
		return []string{"--testrunner=touchstone_django.Runner", "--no-input"}
	case r.Config.Framework == Unittest:
		return nil
	}
	ours := slices.Clone(flags)
	if q.list {
		ours = append(ours, "--collect-only", "-q")
	}
	if q.trace {
		ours = append(ours, "-p", "touchstone_trace")
	}
	return append(ours, targets...)
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

func (r *Runner) environment() map[string]string {
	env := map[string]string{}
	maps.Copy(env, r.Env)
	env["PYTHONPATH"] = "{aux}"
	if _, own := env["UV_NO_SYNC"]; !own { // the environment is what set-up left
		env["UV_NO_SYNC"], env["UV_OFFLINE"] = "1", "1"
	}
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
		targets[i] = treepath.Relative(r.Dir, unit)
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
	if r.Config.Framework != Pytest {
		return r.shownNames(q)
	}
	if len(q.rows) == 0 || len(q.rows) > fewRows || slices.ContainsFunc(q.rows, rewritten) {
		return targets
	}
	return r.targets(q.rows)
}

// shownNames are the units or rows by the dotted names that unittest takes.
func (r *Runner) shownNames(q question) []string {
	ids := q.units
	if len(q.rows) > 0 && len(q.rows) <= fewRows && !slices.ContainsFunc(q.rows, rewritten) {
		ids = q.rows
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		file, test, _ := strings.Cut(treepath.Relative(r.Dir, id), "::")
		names[i] = strings.TrimSuffix(strings.NewReplacer("/", ".", "::", ".").Replace(strings.TrimSuffix(file, ".py")+"."+test), ".")
	}
	return names
}

// rewritten holds for an id that pytest would not know: ours for an address or
// a repeated name.
func rewritten(id string) bool { return strings.Contains(id, "0x_") || strings.Contains(id, "#") }

// unnameable holds for a path that pytest would not read as one file.
func unnameable(unit string) bool {
	return strings.Contains(unit, "::") || strings.Contains(unit, "[")
}
