package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/rts"
)

// mutantProject is one real project of testdata/mutants/projects.json.
type mutantProject struct {
	Name     string   `json:"name"` // of its clone in TOUCHSTONE_MUTANTS
	URL      string   `json:"url"`
	Commit   string   `json:"commit"`
	Language string   `json:"language"`
	Prepare  []string `json:"prepare"` // what makes its tests pass, in the clone
}

// language is all that the study needs to know of one: how sources are changed,
// and which other tools choose tests.
type language struct {
	suffixes []string
	tick     float64 // the least time, in seconds, that a test is taken to need: what its framework's clock shows
	// mutants are the small changes of meaning of one source.
	mutants func(t *testing.T, path string, source []byte) []edit
	// compiles tells whether the work tree, in which the files differ, still does.
	compiles func(dir string, files []string) bool
	// rivals are other tools that choose tests, made ready on the unchanged tree.
	rivals func(t *testing.T, dir string) map[string]rival
}

// rival tells what a tool selects for the work tree, in which the files differ.
type rival func(t *testing.T, changed []string) (selects func(rowKey) bool)

var languages = map[string]language{"python": pythonLanguage, "go": goLanguage, "javascript": javascriptLanguage}

// edit is one change: the bytes from Start to End become Text.
type edit struct {
	Operator string `json:"operator"`
	Line     int    `json:"line"`
	Start    int    `json:"start"`
	End      int    `json:"end"`
	Text     string `json:"text"`
	file     string
}

// planted is one change of a project: a mutant, or a fix taken back.
type planted struct {
	Kind     string // mutant, fix
	ID       string // file:line:column:operator, or the fix's commit
	Operator string
	files    []string
	apply    func() error
}

// TestMutants changes real projects, asks every strategy and the other tools of
// the language which tests to run, and runs everything to see which they should
// have been. TOUCHSTONE_MUTANTS=DIR names the clones; testdata/mutants/README.md
// tells the rest. It takes hours for all projects.
func TestMutants(t *testing.T) {
	dir := os.Getenv("TOUCHSTONE_MUTANTS")
	if dir == "" {
		t.Skip("needs prepared clones of public projects: set TOUCHSTONE_MUTANTS (testdata/mutants/README.md)")
	}
	only := os.Getenv("TOUCHSTONE_MUTANTS_ONLY")
	for _, p := range mutantProjects(t) {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) { study(t, p, filepath.Join(dir, p.Name)) })
	}
}

func mutantProjects(t *testing.T) (projects []mutantProject) {
	t.Helper()
	text, err := os.ReadFile("testdata/mutants/projects.json")
	if err == nil {
		err = json.Unmarshal(text, &projects)
	}
	if err != nil {
		t.Fatal(err)
	}
	return projects
}

// number is a setting of the environment.
func number(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// study plays the changes of one project that the results do not hold yet.
func study(t *testing.T, p mutantProject, dir string) {
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no clone %s", dir)
	}
	if at := gitIn(t, dir, "rev-parse", "HEAD"); at != p.Commit {
		t.Fatalf("%s stands on %.12s, not on %.12s", dir, at, p.Commit)
	}
	gitIn(t, dir, "checkout", "-q", "--", ".")
	s := &mutantStudy{project: p, language: languages[p.Language], dir: dir, mapFile: filepath.Join(t.TempDir(), "map")}
	done := doneChanges(t, p.Name)
	changes := slices.Concat(s.sample(t, number(t, "TOUCHSTONE_MUTANTS_COUNT", 60), done), s.fixes(t, number(t, "TOUCHSTONE_MUTANTS_FIXES", 10), done))
	if len(changes) == 0 {
		return
	}
	s.base(t)
	for _, c := range changes {
		appendResult(t, s.play(t, c))
	}
}

// mutantStudy is one project under study.
type mutantStudy struct {
	project mutantProject
	language
	dir, mapFile string
	rival        map[string]rival
	before       map[rowKey]seenRow // rows that are green on base each time
	wall         time.Duration
}

// open prepares select for the work tree as it lies.
func (s *mutantStudy) open(t *testing.T, index string) *selecting {
	t.Helper()
	prepared, err := prepareSelect(context.Background(), selectOptions{repo: s.dir, base: "HEAD", mapFile: s.mapFile, index: index})
	if err != nil {
		t.Fatal(err)
	}
	return prepared
}

// base runs everything twice, and once under observation.
func (s *mutantStudy) base(t *testing.T) {
	prepared := s.open(t, "build")
	defer prepared.Close()
	began := time.Now()
	s.before = observe(t, prepared, gate.Base, 0)
	s.wall = time.Since(began)
	again, all := observe(t, prepared, gate.Base, 0), len(s.before)
	for key, seen := range s.before {
		if !seen.green || !again[key].green {
			delete(s.before, key)
			continue
		}
		seen.seconds = max(s.tick, (seen.seconds+again[key].seconds)/2)
		s.before[key] = seen
	}
	began = time.Now()
	if err := prepared.makeIndex(context.Background(), io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d rows, %d of them green twice, in %.1fs; observed in %.1fs", s.project.Name, all, len(s.before), s.wall.Seconds(), time.Since(began).Seconds())
	s.rival = s.rivals(t, s.dir)
}

// play plays one change.
func (s *mutantStudy) play(t *testing.T, c planted) mutantResult {
	if err := c.apply(); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	defer gitIn(t, s.dir, "checkout", "-q", "--", ".")
	prepared := s.open(t, "off")
	defer prepared.Close()
	limit := 10*time.Second + 4*s.wall
	result := mutantResult{Project: s.project.Name, Language: s.project.Language, Kind: c.Kind, Change: c.ID, Operator: c.Operator, Rows: len(s.before), By: make(map[string]chosenRows)}
	after := observe(t, prepared, gate.Head, limit)
	failing := s.broken(after)
	selects, fallbacks := s.selectors(t, prepared, c.files)
	if missed := s.missed(failing, selects["auto"], selects["files"]); len(missed) > 0 {
		again := s.broken(observe(t, prepared, gate.Head, limit)) // it may not be stable
		failing = slices.DeleteFunc(failing, func(key rowKey) bool { return !slices.Contains(again, key) })
		failing = s.ownFault(t, prepared, limit, failing, s.missed(failing, selects["auto"], selects["files"]), after)
	}
	result.Failing = len(failing)
	for name, selects := range selects {
		result.By[name] = s.judge(failing, selects, fallbacks[name])
	}
	for _, key := range failing {
		if !selects["auto"](key) && len(result.Missed) < 3 {
			result.Missed = append(result.Missed, key.id)
		}
	}
	return result
}

func (s *mutantStudy) missed(failing []rowKey, selectors ...func(rowKey) bool) (rows []rowKey) {
	for _, key := range failing {
		if slices.ContainsFunc(selectors, func(selects func(rowKey) bool) bool { return !selects(key) }) {
			rows = append(rows, key)
		}
	}
	return rows
}

// ownFault takes rows out that a selector left out and that only died with their
// process, when they pass in one of their own: another row is what fails.
func (s *mutantStudy) ownFault(t *testing.T, prepared *selecting, limit time.Duration, failing, missed []rowKey, after map[rowKey]seenRow) []rowKey {
	var died []rowKey
	for _, key := range missed {
		seen, ran := after[key]
		if seen.died || !ran && after[rowKey{unit: key.unit}].died {
			died = append(died, key)
		}
	}
	if len(died) == 0 {
		return failing
	}
	alone := observeRows(t, prepared, gate.Head, limit, died)
	t.Logf("%d rows died with their process", len(died))
	return slices.DeleteFunc(failing, func(key rowKey) bool { return slices.Contains(died, key) && alone[key].green })
}

// broken are the rows that base passes and that are no longer green, sorted: a
// unit that does not load takes its rows along.
func (s *mutantStudy) broken(after map[rowKey]seenRow) (rows []rowKey) {
	for key := range s.before {
		seen, ran := after[key]
		if _, died := after[rowKey{unit: key.unit}]; ran && !seen.green || !ran && died {
			rows = append(rows, key)
		}
	}
	slices.SortFunc(rows, func(a, b rowKey) int { return strings.Compare(a.id, b.id) })
	return rows
}

// selectors are the strategies and the other tools, as what they select.
func (s *mutantStudy) selectors(t *testing.T, prepared *selecting, changed []string) (selects map[string]func(rowKey) bool, fallbacks map[string]bool) {
	facts, err := gatherFacts(context.Background(), prepared.change, prepared.parts, prepared.runners.list, prepared.states, s.mapFile)
	if err != nil {
		t.Fatal(err)
	}
	defer facts.Close()
	if facts.stored == nil {
		t.Fatal(facts.facts.NoMap)
	}
	selects, fallbacks = make(map[string]func(rowKey) bool), make(map[string]bool)
	for _, strategy := range rts.Strategies() {
		chosen := facts.choose(prepared.settings, strategy)
		rows := make(map[rowKey]bool)
		for _, row := range chosen.Rows {
			rows[rowKey{row.ID, row.Unit}] = true
			if row.Whole || row.All {
				rows[rowKey{unit: row.Unit}] = true
			}
		}
		selects[string(strategy)] = func(key rowKey) bool { return rows[key] || rows[rowKey{unit: key.unit}] }
		fallbacks[string(strategy)] = chosen.Fallback != ""
	}
	for name, rival := range s.rival {
		selects[name] = rival(t, changed)
	}
	return selects, fallbacks
}

// judge counts what a selector chose.
func (s *mutantStudy) judge(failing []rowKey, selects func(rowKey) bool, fallback bool) chosenRows {
	var c chosenRows
	var chosen, whole float64
	for key, seen := range s.before {
		whole += seen.seconds
		if selects(key) {
			chosen += seen.seconds
			c.Rows++
		}
	}
	for _, key := range failing {
		if selects(key) {
			c.Found++
		}
	}
	c.Time, c.Fallback = rounded(chosen/whole), fallback
	return c
}
