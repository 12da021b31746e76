package plainstate

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// Need skips a test visibly where a program does not run.
func Need(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s does not run here: %v %s", strings.Join(argv, " "), err, out)
	}
}

// Heavy skips a test that takes long, unless TOUCHSTONE_TEST_HEAVY is set.
func Heavy(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("TOUCHSTONE_TEST_HEAVY") == "" {
		t.Skipf("%s: set TOUCHSTONE_TEST_HEAVY=1 to run it", why)
	}
}

// Say is an observation in words: outcome, reason, the names that were not found.
func Say(o gate.Observation) string {
	text := o.Outcome.String() + " " + string(o.Reason)
	for _, m := range o.Missing {
		text += " " + m.Name
	}
	return strings.TrimSpace(text)
}

// Lines are a result's rows and failed units as sorted lines: "id: words", one
// observation behind the other.
func Lines(r gate.Result) []string {
	found := make(map[string]string)
	for _, row := range r.Rows {
		var all []string
		for _, o := range row.Observations {
			all = append(all, Say(o))
		}
		found[row.Row.ID] = strings.Join(all, ", ")
	}
	for _, u := range r.Units {
		found["unit "+u.Unit] = Say(u.Observation)
	}
	lines := make([]string, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		lines = append(lines, strings.TrimSpace(id+": "+found[id]))
	}
	return lines
}

// Compare holds a result's lines against the wanted ones, one a line; "#" begins
// a comment. It says all that differs.
func Compare(t testing.TB, r gate.Result, want string) {
	t.Helper()
	expected := make(map[string]bool)
	for line := range strings.Lines(want) {
		if line, _, _ = strings.Cut(line, " # "); strings.TrimSpace(line) != "" {
			expected[strings.TrimSpace(line)] = true
		}
	}
	for _, line := range Lines(r) {
		if !expected[line] {
			t.Errorf("got  %s", line)
		}
		delete(expected, line)
	}
	for _, line := range slices.Sorted(maps.Keys(expected)) {
		t.Errorf("want %s", line)
	}
	if t.Failed() {
		for _, u := range r.Units {
			t.Logf("%s: %s", u.Unit, u.Observation.Message)
		}
		for _, row := range r.Rows {
			for _, o := range row.Observations {
				if o.Outcome != gate.Passed {
					t.Logf("%s: %s %s:%d", row.Row.ID, o.Message, o.Place.File, o.Place.Line)
				}
			}
		}
	}
}
