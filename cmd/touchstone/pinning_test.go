package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
)

// fix is one case of testdata/fixes.
type fix struct {
	name, language string
	text           map[string]string
}

func readFixes(t *testing.T) []fix {
	t.Helper()
	names, err := filepath.Glob("testdata/fixes/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d fixes: %v", len(names), err)
	}
	var fixes []fix
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := fix{strings.TrimSuffix(filepath.Base(name), ".txtar"), strings.TrimSpace(string(archive.Comment)), make(map[string]string)}
		for _, file := range archive.Files {
			f.text[file.Name] = string(file.Data)
		}
		fixes = append(fixes, f)
	}
	return fixes
}

// planned is one fix in a change: its b as the change has it, the sentences that
// the change adds to the tests, and whether b must be found to be held by none.
type planned struct {
	fix
	b        string
	tests    []string
	unpinned bool
}

// TestPinning plays the fixes of testdata/fixes; its README says which sets.
func TestPinning(t *testing.T) {
	fixes, at := readFixes(t), 1
	if text := os.Getenv("TOUCHSTONE_PINNING"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("TOUCHSTONE_PINNING=%q is not a number of fixes", text)
		}
		at = n
	} else {
		fixes = fixes[1:2]
	}
	sets := map[string][]planned{}
	for _, f := range fixes {
		if f.language == "py" {
			need(t, "pytest")
		}
		sets["planted"] = append(sets["planted"], planned{f, "b.fixed", []string{"a.test"}, true})
		sets["pinned"] = append(sets["pinned"], planned{f, "b.fixed", []string{"a.test", "b.test"}, false})
		for _, name := range slices.Sorted(maps.Keys(f.text)) {
			if strings.HasPrefix(name, "b.mutant") {
				sets["mutated"] = append(sets["mutated"], planned{f, name, []string{"a.test"}, true})
			}
		}
	}
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		t.Run(set, func(t *testing.T) { playSet(t, sets[set], at) })
	}
}

// playSet plays a set, at most so many fixes of one language to a change.
func playSet(t *testing.T, set []planned, at int) {
	right, asked := 0, 0
	for len(set) > 0 {
		var batch, rest []planned
		for _, p := range set {
			taken := slices.ContainsFunc(batch, func(q planned) bool { return q.name == p.name })
			if len(batch) < at && !taken && (len(batch) == 0 || batch[0].language == p.language) {
				batch = append(batch, p)
			} else {
				rest = append(rest, p)
			}
		}
		right += playFixes(t, batch)
		asked += len(batch)
		set = rest
	}
	t.Logf("%d of %d right", right, asked)
}

// playFixes makes one change of some fixes and returns how many were reported as
// they must be.
func playFixes(t *testing.T, batch []planned) int {
	t.Helper()
	base, head := make(map[string]string), make(map[string]string)
	for _, p := range batch {
		p.write(base, head)
	}
	dir := repository(t, "", base, head)
	began := time.Now()
	_, r := checkJSON(t, "--repo", dir, "--base", "HEAD~1", "--head", "HEAD", "--budget", "30m")
	right := 0
	for _, p := range batch {
		if problem := p.compare(r); problem != "" {
			t.Errorf("%s with %s: %s", p.name, p.b, problem)
		} else {
			right++
		}
	}
	plain, without := 0.0, 0.0
	for name, state := range r.States {
		if strings.HasPrefix(string(name), "without(") {
			without += state.TestSeconds
		} else {
			plain += state.TestSeconds
		}
	}
	t.Logf("%d fixes of %s, %d hunk groups: plain replay %.1f s of tests, without hunks %.1f s, all %.1f s", len(batch), batch[0].language, len(r.Groups), plain, without, time.Since(began).Seconds())
	return right
}

// write puts the fix into both sides of a change.
func (p planned) write(base, head map[string]string) {
	a, b, test := p.paths()
	base[a], head[a] = p.text["a.base"], p.text["a.fixed"]
	base[b], head[b] = p.text["b.base"], p.text[p.b]
	base[test] = p.testFile([]string{"b.weak"})
	head[test] = p.testFile(append([]string{"b.weak"}, p.tests...))
	if p.language == "go" {
		base["go.mod"] = goMod
	} else {
		base["pytest.ini"] = "[pytest]\npythonpath = .\n"
	}
}

func (p planned) paths() (a, b, test string) {
	if p.language == "go" {
		return p.name + "/a.go", p.name + "/b.go", p.name + "/m_test.go"
	}
	return p.name + "_a.py", p.name + "_b.py", "test_" + p.name + ".py"
}

// testFile is a test for each of some sentences.
func (p planned) testFile(sentences []string) string {
	if p.language == "go" {
		text := "package m\n\nimport \"testing\"\n"
		for _, s := range sentences {
			text += fmt.Sprintf("\nfunc Test_%s(t *testing.T) {\n\tif !(%s) {\n\t\tt.Error(\"no\")\n\t}\n}\n", strings.ReplaceAll(s, ".", "_"), strings.TrimSpace(p.text[s]))
		}
		return text
	}
	text := fmt.Sprintf("from %s_a import *\nfrom %s_b import *\n", p.name, p.name)
	for _, s := range sentences {
		text += fmt.Sprintf("\n\ndef test_%s():\n    %s", strings.ReplaceAll(s, ".", "_"), p.text[s])
	}
	return text
}

// compare says what is wrong with what a report says of the fix's two places.
func (p planned) compare(r *gate.Report) string {
	a, b, _ := p.paths()
	for _, g := range r.Groups {
		for _, place := range g.Places {
			switch {
			case place.Path == a && g.Result != gate.Pinned:
				return fmt.Sprintf("%s is %s", place, g.Result)
			case place.Path == b && p.unpinned != (g.Result == gate.Unpinned):
				return fmt.Sprintf("%s is %s", place, g.Result)
			}
		}
	}
	named := slices.ContainsFunc(r.Findings, func(f gate.Finding) bool { return f.Rule == "unpinned-hunk" && f.Path == b && f.Line > 0 })
	if named != p.unpinned {
		return fmt.Sprintf("named %v; findings %+v", named, r.Findings)
	}
	return ""
}
