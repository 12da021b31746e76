package pytest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

var update = flag.Bool("update", false, "write what was observed into testdata/observe")

// TestObserve runs each archive of testdata/observe under the real pytest and
// compares what was observed: see the README there.
func TestObserve(t *testing.T) {
	files, err := filepath.Glob("testdata/observe/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			observe(t, file, archive)
		})
	}
}

func observe(t *testing.T, file string, archive *txtar.Archive) {
	options := settingsOf(string(archive.Comment))
	config := Config{Command: []string{python(t, options["modules"]...), "-m", "pytest"}, Timeout: time.Minute}
	if dir := options["dir"]; dir != nil {
		config.Dir = dir[0]
	}
	if limit := options["timeout"]; limit != nil {
		config.Timeout, _ = time.ParseDuration(limit[0])
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		t.Fatalf("%s has no want", file)
	}
	state := plainstate.At(t, plainstate.Write(t, slices.Delete(slices.Clone(archive.Files), i, i+1)))
	runner := New(config)
	units := options["units"]
	if units == nil {
		var err error
		if units, err = runner.Units(t.Context(), state.Tree(), nil, true); err != nil {
			t.Fatal(err)
		}
	}
	result, err := runner.Run(context.Background(), state, gate.Batch{Units: units, Rows: options["rows"], Subjects: options["subjects"]})
	if err != nil {
		t.Fatal(err)
	}
	got := describe(result)
	if *update {
		archive.Files[i].Data = []byte(strings.Join(got, "\n") + "\n")
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	compare(t, got, strings.Split(strings.TrimSpace(string(archive.Files[i].Data)), "\n"))
}

// settingsOf reads the lines "key: word word" above the files.
func settingsOf(comment string) map[string][]string {
	found := make(map[string][]string)
	for line := range strings.Lines(comment) {
		if key, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(key, " ") {
			found[key] = strings.Fields(value)
		}
	}
	return found
}

// describe is a result as lines: what was observed, a bar, the message.
func describe(result gate.Result) []string {
	var lines []string
	for _, observed := range result.Rows {
		for _, o := range observed.Observations {
			lines = append(lines, line(observed.Row.ID, o))
		}
	}
	for _, unit := range result.Units {
		lines = append(lines, line("unit "+unit.Unit, unit.Observation))
	}
	slices.Sort(lines)
	for _, loaded := range result.Loaded {
		lines = append(lines, fmt.Sprintf("loaded %s in tree %v |", loaded.Subject, loaded.InTree))
	}
	return lines
}

func line(what string, o gate.Observation) string {
	text := strings.TrimRight(fmt.Sprintf("%s: %s %s", what, o.Outcome, o.Reason), " ")
	if o.Place.File != "" {
		text += fmt.Sprintf(" at %s:%d", o.Place.File, o.Place.Line)
	}
	for _, m := range o.Missing {
		text += fmt.Sprintf(" needs %s", strings.TrimPrefix(m.Owner+"."+m.Name, "."))
		if m.FromProduction {
			text += "(production)"
		}
		if m.Signature {
			text += "(signature)"
		}
	}
	return strings.TrimRight(text+" | "+o.Message, " ")
}

// compare holds each line against the wanted one: equal up to the bar, and a
// message that contains the wanted words.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		gotHead, gotMessage, _ := strings.Cut(g, " |")
		wantHead, wantMessage, _ := strings.Cut(w, " |")
		if gotHead != wantHead || !strings.Contains(gotMessage, strings.TrimSpace(wantMessage)) {
			t.Errorf("line %d\n got %s\nwant %s", i+1, g, w)
		}
	}
}
