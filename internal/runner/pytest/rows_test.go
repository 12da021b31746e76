package pytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const rowsSource = `import functools
import pytest

LIMIT = 3

def helper(n):
    return n

def wrapped(f):
    def inner():
        f()
    return inner

def make(n):
    def made():
        assert n
    return made

@pytest.mark.parametrize("n", [1,
    pytest.param({"b", "a", "c"}, id="set"),
    pytest.param(lambda: 1, id="function"), pytest.param(9, id="nine")])
def test_table(n):
    """doc"""
    assert helper(n)

@wrapped
def test_wrapped():
    assert LIMIT

test_made = make(1)

class TestClass:
    kind = 1
    def test_method(self):
        assert self.kind
`

// TestDigests edits a file and lists which rows' digests and whether their
// context changed. Every edit is a file of its own, listed in one run.
func TestDigests(t *testing.T) {
	cases := []struct {
		name, old, new string
		changed        string
		context        bool
	}{
		{"nothing", "\n", "\n", "", false},
		{"lines move", "LIMIT", "# moved\n\nLIMIT", "", false},
		{"a case added", "[1,", "[0, 1,", "test_table[0]", false},
		{"a param", `9, id="nine"`, `8, id="nine"`, "test_table[nine]", false},
		{"a mark", `9, id="nine"`, `9, id="nine", marks=pytest.mark.skip`, "test_table[nine]", false},
		{"a lambda", "lambda: 1", "lambda: 2", "test_table[function]", false},
		{"a body", "helper(n)\n\n@wrapped", "helper(n) is n\n\n@wrapped", "test_table[1] test_table[set] test_table[function] test_table[nine]", false},
		{"a method", "assert self.kind", "assert not self.kind", "test_method", false},
		{"under a wrap", "assert LIMIT", "assert not LIMIT", "test_wrapped", false},
		{"a constant", "LIMIT = 3", "LIMIT = 4", "test_made", true},
		{"what made it", "make(1)", "make(2)", "test_made", true},
		{"an attribute", "kind = 1", "kind = 2", "test_made", true},
	}
	sources := []string{rowsSource}
	for _, c := range cases {
		sources = append(sources, strings.Replace(rowsSource, c.old, c.new, 1))
	}
	listed := listEach(t, sources)
	before := listed[0]
	if row := before["test_table[set]"]; len(before) != 7 || row.Line != 19 || row.End != 24 || row.File != row.Unit || row.File == "" {
		t.Fatalf("%d rows, place of test_table: %+v", len(before), row)
	}
	if again := listEach(t, sources[:1])[0]; again["test_table[set]"].Digest != before["test_table[set]"].Digest {
		t.Error("the digest of a set differs from process to process")
	}
	for i, c := range cases {
		after := listed[i+1]
		want, got := make(map[string]bool), make(map[string]bool)
		for _, field := range strings.Fields(c.changed) {
			want[field] = true
		}
		for row := range maps.Keys(after) {
			if after[row].Digest != before[row].Digest {
				got[row] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: changed %v, want %v", c.name, got, want)
		}
		if changed := after["test_table[1]"].Context != before["test_table[1]"].Context; changed != c.context {
			t.Errorf("%s: context changed: %v", c.name, changed)
		}
	}
}

// listEach lists each source as a test file of its own and returns its rows by
// name.
func listEach(t *testing.T, sources []string) []map[string]gate.Row {
	t.Helper()
	var units []string
	archive := &txtar.Archive{}
	for i, source := range sources {
		units = append(units, fmt.Sprintf("test_%d.py", i))
		archive.Files = append(archive.Files, txtar.File{Name: units[i], Data: []byte(source)})
	}
	state := plainstate.At(t, plainstate.Write(t, archive.Files))
	result, err := New(Config{Command: []string{python(t), "-m", "pytest"}}).List(t.Context(), state, units)
	if err != nil || len(result.Units) > 0 {
		t.Fatalf("%v %v", result.Units, err)
	}
	listed := make([]map[string]gate.Row, len(sources))
	for _, observed := range result.Rows {
		i := slices.Index(units, observed.Row.Unit)
		if listed[i] == nil {
			listed[i] = make(map[string]gate.Row)
		}
		listed[i][observed.Row.Name] = observed.Row
		if len(observed.Observations) > 0 {
			t.Errorf("%s was run", observed.Row.ID)
		}
	}
	return listed
}

// TestLoaded tells the tree's own file from one that is installed in its place.
func TestLoaded(t *testing.T) {
	command := []string{python(t), "-m", "pytest"}
	const archive = `
-- src/mine/core.py --
WHERE = "tree"
-- src/mine/__init__.py --
-- other/site-packages/mine/__init__.py --
-- other/site-packages/mine/core.py --
WHERE = "elsewhere"
-- vendor/json/__init__.py --
-- vendor/json/decoder.py --
-- tests/test_a.py --
import json.decoder, mine.core
def test_a():
    pass
`
	for path, want := range map[string]bool{"src": true, "other/site-packages": false} {
		state := plainstate.New(t, archive)
		runner := New(Config{Command: command, Env: map[string]string{"PYTHONPATH": state.Dir() + "/" + path}})
		subjects := []string{"src/mine/core.py", "vendor/json/decoder.py", "src/mine/unused.py", "README.md"}
		result, err := runner.Run(t.Context(), state, gate.Batch{Units: []string{"tests/test_a.py"}, Subjects: subjects})
		if err != nil || len(result.Loaded) != 1 {
			t.Fatalf("loaded %+v, %v", result.Loaded, err)
		}
		if l := result.Loaded[0]; l.Subject != "src/mine/core.py" || l.InTree != want || len(l.SHA256) != 64 || !strings.Contains(l.File, path) {
			t.Errorf("from %s: %+v", path, l)
		}
	}
}

// TestSeen is called once for each row that ends.
func TestSeen(t *testing.T) {
	state := plainstate.New(t, "-- test_a.py --\nimport os\ndef test_a(): pass\ndef test_b(): os._exit(1)\ndef test_c(): assert 0\n")
	seen := make(chan string, 10)
	_, err := New(Config{Command: []string{python(t), "-m", "pytest"}}).Run(t.Context(), state, gate.Batch{
		Units: []string{"test_a.py"}, Seen: func(id string, o gate.Outcome) { seen <- id + " " + o.String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	close(seen)
	got := make(map[string]int)
	for one := range seen {
		got[one]++
	}
	want := map[string]int{"test_a.py::test_a passed": 1, "test_a.py::test_b crashed": 1, "test_a.py::test_c failed": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
