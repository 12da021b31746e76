package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/rts"
)

// TestPlantedChanges plants every change of testdata/selection in its
// repository, runs everything on both sides, and asks of each strategy which of
// the newly failing rows it had selected. auto must have selected all of them.
//
// It runs every suite of every change, minutes in all: TOUCHSTONE_PLANTED=all
// asks for that, TOUCHSTONE_PLANTED=NAME for one archive. Otherwise only a few
// changes of one archive are played.
func TestPlantedChanges(t *testing.T) {
	files, err := filepath.Glob("testdata/selection/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	asked := os.Getenv("TOUCHSTONE_PLANTED")
	total := make(score)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		only := func(string) bool { return true }
		switch {
		case asked == "" && name == "py_fixtures":
			only = func(scenario string) bool { return scenario == "session_fixture_body" || scenario == "nearer_override" }
		case asked != "all" && asked != name:
			continue
		}
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "py") {
				need(t, "pytest")
			} else {
				need(t, "go")
			}
			plant(t, file, only, total)
		})
	}
	t.Logf("\n%s", total)
}

// score is what each strategy came to.
type score map[rts.Strategy]*points

type points struct {
	changes, all, some int // changes that break rows; with all of them selected; with at least one
	failing, found     int // rows
	share              float64
	missed             []string
}

func (s score) add(strategy rts.Strategy, change string, failing, found int, share float64) {
	p := s[strategy]
	if p == nil {
		p = &points{}
		s[strategy] = p
	}
	p.changes++
	p.failing, p.found, p.share = p.failing+failing, p.found+found, p.share+share
	if found == failing {
		p.all++
	} else {
		p.missed = append(p.missed, change)
	}
	if found > 0 {
		p.some++
	}
}

func (s score) String() string {
	var out strings.Builder
	fmt.Fprintln(&out, "| strategy | changes | all failing rows selected | at least one | failing rows selected | rows run |\n|---|---|---|---|---|---|")
	for _, strategy := range rts.Strategies() {
		if p := s[strategy]; p != nil {
			n := float64(p.changes) / 100
			fmt.Fprintf(&out, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", strategy, p.changes, float64(p.all)/n, float64(p.some)/n, 100*float64(p.found)/float64(p.failing), 100*p.share/float64(p.changes))
		}
	}
	for _, strategy := range rts.Strategies() {
		if p := s[strategy]; p != nil && len(p.missed) > 0 {
			fmt.Fprintf(&out, "missed by %s: %s\n", strategy, strings.Join(p.missed, ", "))
		}
	}
	return out.String()
}

// plant plays the changes of one archive.
func plant(t *testing.T, file string, only func(string) bool, total score) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trees := make(map[string]map[string]string)
	var scenarios []string
	for _, f := range archive.Files {
		scenario, path, _ := strings.Cut(f.Name, "/")
		if trees[scenario] == nil {
			trees[scenario] = make(map[string]string)
			scenarios = append(scenarios, scenario)
		}
		trees[scenario][path] = strings.TrimPrefix(string(f.Data), "DELETED\n")
		if string(f.Data) != "" && trees[scenario][path] == "" {
			continue // write takes an empty content for a deletion
		}
		if len(f.Data) == 0 {
			trees[scenario][path] = "\n"
		}
	}
	dir := repository(t, "", trees["base"])
	base, mapFile := gitIn(t, dir, "rev-parse", "HEAD"), filepath.Join(t.TempDir(), "map")
	indexed := false
	var before map[string]bool
	for _, scenario := range scenarios {
		if scenario == "base" || !only(scenario) {
			continue
		}
		gitIn(t, dir, "checkout", "-q", "-B", scenario, base)
		write(t, dir, trees[scenario])
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-qm", scenario)
		s, err := prepareSelect(context.Background(), selectOptions{repo: dir, base: base, head: "HEAD", mapFile: mapFile, index: "build"})
		if err != nil {
			t.Fatalf("%s: %v", scenario, err)
		}
		if !indexed {
			if err := s.makeIndex(context.Background(), io.Discard); err != nil {
				t.Fatal(err)
			}
			before, indexed = everything(t, s, gate.Base), true
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + scenario
		judge(t, name, s, before, everything(t, s, gate.Head), total)
		s.Close()
	}
}

// rowKey names a row; without id, a unit that did not load.
type rowKey struct{ id, unit string }

// seenRow is what one run of a row came to.
type seenRow struct {
	green   bool
	died    bool // with its process, or because nobody waited any longer
	seconds float64
}

// observe runs the whole suite on a state. A unit that does not load stands for
// its rows under its own name.
func observe(t *testing.T, s *selecting, name gate.StateName, limit time.Duration) map[rowKey]seenRow {
	t.Helper()
	return observeRows(t, s, name, limit, nil)
}

// observeRows runs some rows on a state, nil for the whole suite.
func observeRows(t *testing.T, s *selecting, name gate.StateName, limit time.Duration, rows []rowKey) map[rowKey]seenRow {
	t.Helper()
	state, err := s.states.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	r := s.runners.list[0]
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	batch := gate.Batch{Units: units, Timeout: limit}
	if len(rows) > 0 {
		batch.Units = nil
		for _, key := range rows {
			batch.Units, batch.Rows = append(batch.Units, key.unit), append(batch.Rows, key.id)
		}
		slices.Sort(batch.Units)
		batch.Units = slices.Compact(batch.Units)
	}
	result, err := r.Run(context.Background(), state, batch)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[rowKey]seenRow)
	for _, o := range result.Rows {
		if o.Row.Parent != "" {
			continue
		}
		row := seenRow{green: len(o.Observations) > 0, died: len(o.Observations) == 0}
		for _, o := range o.Observations {
			row.green = row.green && (o.Outcome == gate.Passed || o.Outcome == gate.Skipped)
			row.died = row.died || o.Outcome == gate.Crashed || o.Outcome == gate.TimedOut || o.Reason == gate.NoReport
			row.seconds = o.Duration.Seconds()
		}
		seen[rowKey{o.Row.ID, o.Row.Unit}] = row
	}
	for _, failure := range result.Units {
		seen[rowKey{unit: failure.Unit}] = seenRow{died: failure.Observation.Reason != gate.Compile && failure.Observation.Reason != gate.Import}
	}
	return seen
}

// everything is the colours of observe: id and unit -> green.
func everything(t *testing.T, s *selecting, name gate.StateName) map[string]bool {
	t.Helper()
	green := make(map[string]bool)
	for key, seen := range observe(t, s, name, 0) {
		green[key.id+"\x00"+key.unit] = seen.green
	}
	return green
}

// judge compares what each strategy selects with the rows that newly fail.
func judge(t *testing.T, name string, s *selecting, before, after map[string]bool, total score) {
	t.Helper()
	var failing []string
	for row, green := range after {
		if was, known := before[row]; !green && (was || !known) {
			failing = append(failing, row)
		}
	}
	for row, was := range before { // a unit that does not load takes its rows along
		_, unit, _ := strings.Cut(row, "\x00")
		if _, ran := after[row]; was && !ran && after["\x00"+unit] == false {
			if _, died := after["\x00"+unit]; died {
				failing = append(failing, row)
			}
		}
	}
	if len(failing) == 0 {
		t.Errorf("%s breaks nothing: it shows nothing", name)
		return
	}
	facts, err := gatherFacts(context.Background(), s.change, s.parts, s.runners.list, s.states, s.mapFile)
	if err != nil {
		t.Fatal(err)
	}
	defer facts.Close()
	if facts.stored == nil {
		t.Fatalf("%s: %s", name, facts.facts.NoMap)
	}
	for _, strategy := range rts.Strategies() {
		chosen := facts.choose(s.settings, strategy)
		found := 0
		for _, row := range failing {
			id, unit, _ := strings.Cut(row, "\x00")
			if slices.ContainsFunc(chosen.Rows, func(r rts.Selected) bool { return r.Unit == unit && (r.Whole || r.All || id == "" || r.ID == id) }) {
				found++
			} else if strategy == rts.Auto {
				t.Errorf("%s: auto leaves out %q (%d of %d failing rows missed so far; fallback %q)", name, row, len(failing)-found, len(failing), chosen.Fallback)
			}
		}
		ran := 0
		for row := range after {
			id, unit, _ := strings.Cut(row, "\x00")
			if slices.ContainsFunc(chosen.Rows, func(r rts.Selected) bool { return r.Unit == unit && (r.Whole || r.All || id == "" || r.ID == id) }) {
				ran++
			}
		}
		total.add(strategy, name, len(failing), found, float64(ran)/float64(len(after)))
	}
}
