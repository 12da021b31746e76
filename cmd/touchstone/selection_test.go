package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
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
// asks for that, TOUCHSTONE_PLANTED=NAME for one archive, NAME/CHANGE for one
// change. Otherwise only a few
// changes of one archive are played.
func TestPlantedChanges(t *testing.T) {
	files, err := filepath.Glob("testdata/selection/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	asked, one, _ := strings.Cut(os.Getenv("TOUCHSTONE_PLANTED"), "/")
	total := make(score)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		only := func(scenario string) bool { return one == "" || scenario == one }
		switch {
		case asked == "" && name == "py_fixtures":
			only = func(scenario string) bool { return scenario == "session_fixture_body" || scenario == "nearer_override" }
		case asked == "" && name == "js_node":
			only = func(scenario string) bool { return scenario == "body" || scenario == "shadowing_file" }
		case asked != "all" && asked != name:
			continue
		}
		t.Run(name, func(t *testing.T) {
			need(t, map[string]string{"py": "pytest", "go": "go", "js": "node"}[name[:2]])
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
	for _, strategy := range append(rts.Strategies(), related) {
		if p := s[strategy]; p != nil {
			n := float64(p.changes) / 100
			fmt.Fprintf(&out, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", strategy, p.changes, float64(p.all)/n, float64(p.some)/n, 100*float64(p.found)/float64(p.failing), 100*p.share/float64(p.changes))
		}
	}
	for _, strategy := range append(rts.Strategies(), related) {
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
	installPackages(t, dir, string(archive.Comment))
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
		after := everything(t, s, gate.Head)
		failing := judge(t, name, s, before, after, total)
		if strings.Contains(string(archive.Comment), "jest") && len(failing) > 0 {
			relate(t, dir, base, name, failing, after, total)
		}
		s.Close()
	}
}

// installPackages puts what an archive "needs:" into node_modules of a
// repository, out of the directories that TOUCHSTONE_TEST_NODE_MODULES lists,
// and makes its "link:"s.
func installPackages(t *testing.T, dir, comment string) {
	t.Helper()
	for line := range strings.SplitSeq(comment, "\n") {
		verb, value, _ := strings.Cut(line, ": ")
		switch verb {
		case "needs":
			from := ""
			for _, modules := range filepath.SplitList(os.Getenv("TOUCHSTONE_TEST_NODE_MODULES")) {
				if _, err := os.Stat(filepath.Join(modules, "node_modules", value, "package.json")); err == nil {
					from = modules
				}
			}
			if from == "" {
				t.Skipf("no directory of TOUCHSTONE_TEST_NODE_MODULES has %s in its node_modules", value)
			}
			if out, err := exec.Command("cp", "-a", filepath.Join(from, "node_modules"), dir).CombinedOutput(); err != nil {
				t.Fatalf("copying %s's node_modules: %v: %s", from, err, out)
			}
		case "link":
			name, to, _ := strings.Cut(value, " ")
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
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
func judge(t *testing.T, name string, s *selecting, before, after map[string]bool, total score) (failing []string) {
	t.Helper()
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
		return nil
	}
	facts, err := gatherFacts(context.Background(), s.change, s.parts, s.runners.list, s.states, s.mapFile)
	if err != nil {
		t.Fatal(err)
	}
	defer facts.Close()
	if facts.stored == nil {
		t.Fatalf("%s: %s", name, facts.facts.NoMap)
	}
	rows := make(map[rts.Strategy]int)
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
		rows[strategy] = ran
	}
	if rows[rts.Auto] > rows[rts.ByFiles] {
		t.Errorf("%s: auto selects %d rows, files %d", name, rows[rts.Auto], rows[rts.ByFiles])
	}
	return failing
}

// related is what jest offers by itself, to compare with.
const related rts.Strategy = "jest --findRelatedTests"

// relate asks jest which test files belong to the changed files.
func relate(t *testing.T, dir, base, name string, failing []string, after map[string]bool, total score) {
	t.Helper()
	argv := []string{"node_modules/jest/bin/jest.js", "--listTests", "--findRelatedTests"}
	for _, file := range strings.Fields(gitIn(t, dir, "diff", "--name-only", base)) {
		argv = append(argv, filepath.Join(dir, file))
	}
	cmd := exec.Command("node", argv...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s: jest lists nothing: %v", name, err) // it selects nothing
	}
	found, ran := 0, 0
	selects := func(row string) bool {
		_, unit, _ := strings.Cut(row, "\x00")
		return strings.Contains(string(out), filepath.Join(dir, unit)+"\n")
	}
	for _, row := range failing {
		if selects(row) {
			found++
		}
	}
	for row := range after {
		if selects(row) {
			ran++
		}
	}
	total.add(related, name, len(failing), found, float64(ran)/float64(len(after)))
}
