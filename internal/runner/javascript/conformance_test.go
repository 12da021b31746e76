package javascript

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

var _ gate.Runner = (*Runner)(nil)

// TestConformance runs, for each framework that is at hand, a small repository
// with the situations that a runner must tell apart.
func TestConformance(t *testing.T) {
	for _, framework := range Frameworks() {
		t.Run(framework, func(t *testing.T) {
			archive, err := txtar.ParseFile("testdata/conformance/" + framework + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			modules := packages(t, framework)
			state := plainstate.At(t, plainstate.Write(t, archive.Files[1:]))
			link(t, modules, state.Dir())
			runner := New(Config{Framework: framework, Timeout: 2 * time.Minute})
			units, err := runner.Units(context.Background(), state.Tree(), nil, true)
			if err != nil {
				t.Fatal(err)
			}
			// A focused test leaves the tests of other files out too.
			focused, rest := units, units
			focused = slices.DeleteFunc(slices.Clone(units), func(u string) bool { return !strings.Contains(u, "focused") })
			rest = slices.DeleteFunc(slices.Clone(units), func(u string) bool { return strings.Contains(u, "focused") })
			var got []string
			for _, part := range [][]string{rest, focused} {
				result, err := runner.Run(context.Background(), state, gate.Batch{Units: part})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, lines(result)...)
				for _, failure := range result.Units {
					t.Logf("%s: %s", failure.Unit, failure.Observation.Message)
				}
				for _, row := range result.Rows {
					for _, o := range row.Observations {
						t.Logf("%s:%d: %s %s (%s:%d)", row.Row.ID, row.Row.Line, o.Outcome, o.Message, o.Place.File, o.Place.Line)
					}
				}
			}
			compare(t, got, strings.Split(strings.TrimSpace(string(archive.Files[0].Data)), "\n"))
		})
	}
}

// lines writes a result the way the archives do: "id = outcome reason [names]".
func lines(result gate.Result) []string {
	var out []string
	answered := make(map[string]bool)
	for _, observed := range result.Rows {
		var words []string
		for _, o := range observed.Observations {
			words = append(words, said(o))
		}
		answered[observed.Row.Unit] = true
		out = append(out, observed.Row.ID+" = "+strings.Join(words, ", "))
	}
	for _, failure := range result.Units {
		out = append(out, failure.Unit+" = "+said(failure.Observation))
	}
	slices.Sort(out)
	return out
}

func said(o gate.Observation) string {
	text := o.Outcome.String()
	if o.Reason != "" {
		text += " " + string(o.Reason)
	}
	for _, m := range o.Missing {
		text += " [" + m.Name + "]"
	}
	return text
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("want  %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("got   %s", line)
		}
	}
}

// packages is a directory whose node_modules holds the framework: one of those
// that TOUCHSTONE_TEST_NODE_MODULES lists. It skips the test when there is none.
func packages(t *testing.T, framework string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if framework == Node {
		return ""
	}
	for _, dir := range filepath.SplitList(os.Getenv("TOUCHSTONE_TEST_NODE_MODULES")) {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", framework, "package.json")); err == nil {
			return dir
		}
	}
	t.Skipf("no directory of TOUCHSTONE_TEST_NODE_MODULES has %s in its node_modules", framework)
	return ""
}

func link(t *testing.T, modules, dir string) {
	t.Helper()
	if modules == "" {
		return
	}
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}
