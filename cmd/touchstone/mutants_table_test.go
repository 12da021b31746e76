package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// mutantResult is what came of one change, a line of testdata/mutants/results.jsonl.
type mutantResult struct {
	Project  string                `json:"project"`
	Language string                `json:"language"`
	Kind     string                `json:"kind"` // mutant, fix
	Change   string                `json:"change"`
	Operator string                `json:"operator"`
	Rows     int                   `json:"rows"` // green on base
	Failing  int                   `json:"failing"`
	By       map[string]chosenRows `json:"by"`
	Missed   []string              `json:"missed,omitempty"` // rows that auto left out, the first three
}

// chosenRows is what one strategy or tool selected.
type chosenRows struct {
	Found    int     `json:"found"` // of the failing rows
	Rows     int     `json:"rows"`
	Time     float64 `json:"time"` // share of all rows' time on base
	Fallback bool    `json:"fallback,omitempty"`
}

const mutantResults = "testdata/mutants/results.jsonl"

func rounded(share float64) float64 { return math.Round(share*1e4) / 1e4 }

func readResults(t *testing.T) (results []mutantResult) {
	t.Helper()
	text, err := os.ReadFile(mutantResults)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r mutantResult
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", mutantResults, err)
		}
		results = append(results, r)
	}
	return results
}

func doneChanges(t *testing.T, project string) map[string]bool {
	done := make(map[string]bool)
	for _, r := range readResults(t) {
		if r.Project == project {
			done[r.Change] = true
		}
	}
	return done
}

func appendResult(t *testing.T, r mutantResult) {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(mutantResults, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	auto, files := r.By["auto"], r.By["files"]
	t.Logf("%s: %d of %d fail; auto finds %d in %.0f %%, files %d in %.0f %% %v", r.Change, r.Failing, r.Rows, auto.Found, 100*auto.Time, files.Found, 100*files.Time, r.Missed)
}

// tally is what one selector came to over some results.
type tally struct {
	changes, breaking, all, some int
	failing, found               int
	time                         float64
}

func (t *tally) add(r mutantResult, c chosenRows) {
	t.changes++
	t.time += c.Time
	if r.Failing == 0 {
		return
	}
	t.breaking++
	t.failing, t.found = t.failing+r.Failing, t.found+c.Found
	if c.Found == r.Failing {
		t.all++
	}
	if c.Found > 0 {
		t.some++
	}
}

// tallies are by selector, over the results that hold.
func tallies(results []mutantResult, holds func(mutantResult) bool) map[string]*tally {
	by := make(map[string]*tally)
	for _, r := range results {
		if !holds(r) {
			continue
		}
		for name, chosen := range r.By {
			if by[name] == nil {
				by[name] = &tally{}
			}
			by[name].add(r, chosen)
		}
	}
	return by
}

func percent(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}

// mutantTable draws the two tables of docs/selection.md.
func mutantTable(results []mutantResult) string {
	var out strings.Builder
	row := func(cells ...string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	any := func(mutantResult) bool { return true }
	row("strategy", "changes", "that break rows", "all failing rows selected", "at least one", "failing rows selected", "share of time")
	row(slices.Repeat([]string{"---"}, 7)...)
	for _, language := range slices.Sorted(maps.Keys(languagesOf(results))) {
		by := tallies(results, func(r mutantResult) bool { return r.Language == language })
		for _, name := range byRecall(by) {
			a := by[name]
			row(language+", `"+name+"`", fmt.Sprint(a.changes), fmt.Sprint(a.breaking), percent(a.all, a.breaking), percent(a.some, a.breaking), percent(a.found, a.failing), share(a))
		}
	}
	by := tallies(results, any)
	for _, name := range byRecall(by) {
		if a := by[name]; a.changes == len(results) {
			row("**all, `"+name+"`**", fmt.Sprint(a.changes), fmt.Sprint(a.breaking), percent(a.all, a.breaking), percent(a.some, a.breaking), percent(a.found, a.failing), share(a))
		}
	}
	out.WriteByte('\n')
	row("project", "rows", "mutants, fixes", "break rows", "`auto` all, one, time", "`files` all, one, time", "`auto` of `files`' time", "other tool: all, one, time")
	row(slices.Repeat([]string{"---"}, 8)...)
	for _, project := range projectsOf(results) {
		of := func(r mutantResult) bool { return r.Project == project }
		by := tallies(results, of)
		first := results[slices.IndexFunc(results, of)]
		fixes := 0
		for _, r := range results {
			if of(r) && r.Kind == "fix" {
				fixes++
			}
		}
		other := "-"
		for name, a := range by {
			if strings.Contains(name, "testmon") || strings.Contains(name, " ") {
				other = "`" + name + "` " + three(a)
			}
		}
		auto, files := by["auto"], by["files"]
		row(project, fmt.Sprint(first.Rows), fmt.Sprintf("%d, %d", auto.changes-fixes, fixes), fmt.Sprint(auto.breaking), three(auto), three(files), fmt.Sprintf("%.0f %%", 100*auto.time/files.time), other)
	}
	return out.String()
}

func share(a *tally) string { return fmt.Sprintf("%.1f %%", 100*a.time/float64(a.changes)) }

func three(a *tally) string {
	return fmt.Sprintf("%s, %s, %s", percent(a.all, a.breaking), percent(a.some, a.breaking), share(a))
}

func languagesOf(results []mutantResult) map[string]bool {
	found := make(map[string]bool)
	for _, r := range results {
		found[r.Language] = true
	}
	return found
}

func projectsOf(results []mutantResult) (names []string) {
	for _, r := range results {
		if !slices.Contains(names, r.Project) {
			names = append(names, r.Project)
		}
	}
	return names
}

func byRecall(by map[string]*tally) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].all, by[a].all), cmp.Compare(by[a].time, by[b].time), cmp.Compare(a, b))
	})
}

var updateMutants = flag.Bool("update-mutants", false, "write the tables of docs/selection.md from "+mutantResults)

// TestMutantTable holds docs/selection.md to what the stored results say, and them
// to what auto is there for.
func TestMutantTable(t *testing.T) {
	const page, begin, end = "../../docs/selection.md", "<!-- mutants: begin -->\n", "<!-- mutants: end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place between %q and %q", page, begin, end)
	}
	results := readResults(t)
	by := tallies(results, func(mutantResult) bool { return true })
	if auto, files := by["auto"], by["files"]; float64(auto.all) < 0.995*float64(auto.breaking) || auto.time > 0.6*files.time {
		t.Errorf("auto has all failing rows of %d of %d changes, in %.2f of files' time", auto.all, auto.breaking, auto.time/files.time)
	}
	want := mutantTable(results)
	if was == want {
		return
	}
	if !*updateMutants {
		t.Fatalf("%s is not what %s says: go test ./cmd/touchstone -run TestMutantTable -update-mutants", page, mutantResults)
	}
	if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
