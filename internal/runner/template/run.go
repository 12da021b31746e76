package template

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// List cannot be asked of a command that only runs: it names no rows. What base
// has is known once it ran there.
func (r *Runner) List(ctx context.Context, state gate.State, units []string) (gate.Result, error) {
	result, err := r.Run(ctx, state, gate.Batch{Units: units})
	for i := range result.Rows {
		result.Rows[i].Observations = nil
	}
	return result, err
}

// Run runs the command: for TAP once for each file, since the stream does not
// say which file a point is of; for JUnit once.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	var result gate.Result
	units := r.present(state.Tree(), batch.Units)
	groups := [][]string{units}
	if r.Config.Framework == TAP && r.byFile() {
		groups = nil
		for _, unit := range units {
			groups = append(groups, []string{unit})
		}
	}
	for _, group := range groups {
		if len(group) == 0 {
			continue
		}
		if err := r.once(ctx, state, batch, group, &result); err != nil {
			return gate.Result{}, err
		}
	}
	return result, nil
}

func (r *Runner) present(tree gate.Tree, units []string) []string {
	if !r.byFile() {
		return slices.Clone(units)
	}
	return slices.DeleteFunc(slices.Clone(units), func(unit string) bool {
		_, found := slices.BinarySearch(tree.Paths(), unit)
		return !found || !treepath.Within(r.Dir, path.Dir(unit))
	})
}

// collect is a shell program: it takes old reports away, runs the command and
// hands on the reports that it wrote. Its first argument is find's pattern.
const collect = `p=$1; shift; report=$TOUCHSTONE_REPORT; unset TOUCHSTONE_REPORT
find . -path "$p" -type f ! -path '*/node_modules/*' -exec rm -f {} + 2>/dev/null
"$@"
status=$?
find . -path "$p" -type f ! -path '*/node_modules/*' 2>/dev/null | LC_ALL=C sort | while IFS= read -r f; do cat "$f"; echo; done >>"$report"
exit $status`

func (r *Runner) once(ctx context.Context, state gate.State, batch gate.Batch, units []string, result *gate.Result) error {
	argv := r.argv(units, batch.Rows)
	command := gate.Command{Argv: argv, Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
	if batch.Timeout > 0 {
		command.Timeout = batch.Timeout
	}
	b := newBook(r, units, batch)
	report, ended := console.Parsed(b.read)
	var out gate.Tail
	command.Stderr = &out
	if r.Report == "-" {
		command.Stdout = io.MultiWriter(report, &out)
	} else {
		command.Stdout, command.Report = &out, report
		command.Argv = slices.Concat([]string{"sh", "-c", collect, "sh", findPattern(r.Report)}, argv)
	}
	exit, err := state.Run(ctx, command)
	broken := ended()
	if err != nil {
		return r.cannotRun(argv[0], state, err)
	}
	result.Wall += exit.Wall
	result.Commands = append(result.Commands, r.shown(argv))
	b.close(exit, broken, out.Lines(3), result)
	return nil
}

func (r *Runner) cannotRun(program string, state gate.State, err error) error {
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "executable file not found") {
		return fmt.Errorf("%s does not run: %w: install it, or name another program in runners: command: of .github/touchstone.yml", program, err)
	}
	return fmt.Errorf("running %s on %s: %w", program, state.Name(), err)
}

// argv fills the template's holes: a word that is one becomes as many words as
// there are values; inside a word they are joined with commas.
func (r *Runner) argv(units, rows []string) []string {
	files := make([]string, len(units))
	for i, unit := range units {
		files[i] = treepath.Relative(r.Dir, unit)
	}
	var argv []string
	for _, word := range r.Command {
		switch {
		case word == "{files}":
			argv = append(argv, files...)
		case word == "{rows}":
			argv = append(argv, rows...)
		default:
			word = strings.ReplaceAll(word, "{files}", strings.Join(files, ","))
			argv = append(argv, strings.ReplaceAll(word, "{rows}", strings.Join(rows, ",")))
		}
	}
	return argv
}

func (r *Runner) shown(argv []string) []string {
	if r.Dir != "." {
		return slices.Concat([]string{"env", "-C", r.Dir}, argv)
	}
	return argv
}

// findPattern makes a glob find's, whose * also matches slashes.
func findPattern(glob string) string {
	glob = strings.TrimPrefix(glob, "./")
	for _, wide := range []string{"**/*", "**/", "**"} {
		glob = strings.ReplaceAll(glob, wide, "*")
	}
	return "./" + glob
}
