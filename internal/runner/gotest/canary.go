package gotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// meddling marks Go code that could end the test binary behind the testing
// package's back or write its protocol: an exit that testing does not see, a
// set-up of its own, a hand in its memory, its marker byte.
var meddling = lazyregexp.New(`\bos\.Exit\b|\bsyscall\b|\bgolang\.org/x/sys\b|\bfunc TestMain\b|\bunsafe\b|\bgo:linkname\b|"C"|\\x16|\\u0016|\\026`)

// Canary runs rows once more beside a test that must fail, the last in each of
// their packages. A package whose binary ends well all the same reports
// something else than what happened: it is in Result.Forged. Nothing is run
// when none of the changed files holds code that could do so.
func (r *Runner) Canary(ctx context.Context, state gate.State, batch gate.Batch, changed []string) (gate.Result, error) {
	if !r.meddles(state.Tree(), changed) {
		return gate.Result{}, nil
	}
	s := r.session(state, batch)
	s.canary = "TestZ" + rand.Text() // the code that is tested cannot know it before it runs
	for _, b := range s.books {
		var tops []string
		for name := range b.asked {
			tops = append(tops, topOf(name))
		}
		if b.asked != nil {
			tops = append(tops, s.canary)
		}
		said, exit, err := s.invoke(ctx, job{books: []*book{b}, run: alternatives(tops)})
		if err != nil {
			return gate.Result{}, err
		}
		if run := said.packages[b.importPath]; run != nil && exit.Code >= 0 && run.belies(s.canary) {
			s.result.Forged = append(s.result.Forged, b.dir)
		}
	}
	s.result.Rows = nil
	return s.result, nil
}

func (r *Runner) meddles(tree gate.Tree, changed []string) bool {
	for _, file := range changed {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		if content, err := tree.ReadFile(file); err == nil && meddling.Match(content) {
			return true
		}
	}
	return false
}

// belies tells whether the package reports a good end although a test in it must
// fail. One that did not compile, crashed or failed says nothing of the kind.
func (p *packageRun) belies(canary string) bool {
	for i := range p.ended {
		if t := &p.ended[i]; t.name() == canary {
			return t.action != fail || p.action == "pass"
		}
	}
	return p.action == "pass"
}

// canaries are the sources to add to the packages, by path in the tree.
func (s *session) canaries(books []*book) map[string][]byte {
	if s.canary == "" {
		return nil
	}
	files := make(map[string][]byte)
	for _, b := range books {
		if clause := s.clause(b); clause != "" {
			text := fmt.Sprintf("%s\n\nimport \"testing\"\n\nfunc %s(t *testing.T) { t.Fatal(\"this test of the gate's must fail\") }\n", clause, s.canary)
			files[path.Join(b.dir, "zz_"+strings.ToLower(s.canary)+"_test.go")] = []byte(text)
		}
	}
	return files
}

// clause is the package clause of one of the package's test files.
func (s *session) clause(b *book) string {
	for _, file := range b.files {
		if content, err := s.state.Tree().ReadFile(file); err == nil {
			if clause := packageClause.Find(content); clause != nil {
				return string(clause)
			}
		}
	}
	return ""
}
