package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/patchsplit"
)

// sample draws mutants of the production sources, evenly over the operators.
func (s *mutantStudy) sample(t *testing.T, count int, done map[string]bool) (chosen []planted) {
	byOperator := make(map[string][]edit)
	for _, file := range s.production(t) {
		path := filepath.Join(s.dir, file)
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.mutants(t, path, source) {
			e.file = file
			byOperator[e.Operator] = append(byOperator[e.Operator], e)
		}
	}
	random := rand.New(rand.NewPCG(7, uint64(len(s.project.Name))))
	var operators []string
	for operator, edits := range byOperator {
		operators = append(operators, operator)
		slices.SortFunc(edits, func(a, b edit) int { return strings.Compare(a.id(), b.id()) })
	}
	slices.Sort(operators)
	for _, operator := range operators {
		edits := byOperator[operator]
		random.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
	}
	for taken := 0; taken < count && len(operators) > 0; {
		operators = slices.DeleteFunc(operators, func(operator string) bool { return len(byOperator[operator]) == 0 })
		for _, operator := range operators {
			e := byOperator[operator][0]
			byOperator[operator] = byOperator[operator][1:]
			c := planted{Kind: "mutant", ID: e.id(), Operator: operator, files: []string{e.file}, apply: func() error { return s.write(e) }}
			if done[c.ID] {
				taken++
			} else if s.fit(t, c) {
				taken++
				chosen = append(chosen, c)
			}
			if taken == count {
				break
			}
		}
	}
	return chosen
}

func (e edit) id() string { return fmt.Sprintf("%s:%d:%d:%s", e.file, e.Line, e.Start, e.Operator) }

func (s *mutantStudy) write(e edit) error {
	path := filepath.Join(s.dir, e.file)
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, slices.Concat(source[:e.Start], []byte(e.Text), source[e.End:]), 0o644)
}

// fit tells whether a change can be made and compiles.
func (s *mutantStudy) fit(t *testing.T, c planted) bool {
	defer gitIn(t, s.dir, "checkout", "-q", "--", ".")
	return c.apply() == nil && s.compiles(s.dir, c.files)
}

// production lists the sources that tests are there for.
func (s *mutantStudy) production(t *testing.T) (files []string) {
	prepared := s.open(t, "build")
	defer prepared.Close()
	classifier := s.classifier(t, prepared)
	for _, file := range prepared.change.base.Paths() {
		if s.source(file) && classifier.File(file).Part == patchsplit.Production && !aside(file) {
			files = append(files, file)
		}
	}
	return files
}

// source holds for files of the language; what only declares types is none.
func (l language) source(file string) bool {
	return slices.ContainsFunc(l.suffixes, func(suffix string) bool { return strings.HasSuffix(file, suffix) }) && !strings.HasSuffix(file, ".d.ts")
}

// aside holds for sources that are shipped beside the product.
func aside(file string) bool {
	top, _, nested := strings.Cut(file, "/")
	return !nested && (file == "setup.py" || file == "noxfile.py") || slices.Contains([]string{"examples", "docs", "doc", "scripts", "_examples", "benchmarks", "tasks"}, top)
}

func (s *mutantStudy) classifier(t *testing.T, prepared *selecting) *patchsplit.Classifier {
	classifier, err := patchsplit.NewClassifier(patchsplit.Rules{}, prepared.change.base, prepared.change.base)
	if err != nil {
		t.Fatal(err)
	}
	return classifier
}

// fixes are the newest commits with tests whose production part can be taken
// back alone: the change that the fix's own tests are there to notice.
func (s *mutantStudy) fixes(t *testing.T, count int, done map[string]bool) (chosen []planted) {
	prepared := s.open(t, "build")
	classifier := s.classifier(t, prepared)
	prepared.Close()
	taken := 0
	for _, commit := range strings.Fields(gitIn(t, s.dir, "rev-list", "--no-merges", "-n", "400", "HEAD")) {
		if taken == count {
			break
		}
		var production []string
		tests := false
		for _, file := range strings.Split(gitIn(t, s.dir, "show", "--format=", "--name-only", "-z", commit), "\x00") {
			switch part := classifier.File(file).Part; {
			case file == "" || !s.source(file):
			case part == patchsplit.Production && !aside(file):
				production = append(production, file)
			case part == patchsplit.Test:
				tests = true
			}
		}
		if !tests || len(production) == 0 {
			continue
		}
		c := planted{Kind: "fix", ID: commit[:12], Operator: "fix", files: production, apply: func() error { return s.takeBack(commit, production) }}
		if done[c.ID] || s.fit(t, c) {
			taken++
			if !done[c.ID] {
				chosen = append(chosen, c)
			}
		}
	}
	return chosen
}

func (s *mutantStudy) takeBack(commit string, files []string) error {
	show := exec.Command("git", append([]string{"-C", s.dir, "show", "--format=", "--no-renames", "--diff-filter=M", commit, "--"}, files...)...)
	diff, err := show.Output()
	if err != nil || len(diff) == 0 {
		return fmt.Errorf("no changed sources in %s: %v", commit, err)
	}
	apply := exec.Command("git", "-C", s.dir, "apply", "-R")
	apply.Stdin = strings.NewReader(string(diff))
	return apply.Run()
}
