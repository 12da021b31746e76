package ruby

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// meddling is what lets code make a test process report something else than what
// happened: a hand in the framework, in how examples are run, in the process's end.
var meddling = lazyregexp.New(`\bRSpec(?:\.configure|::Core|::Expectations|::Support|\.world|\.configuration)\b|\bMini[Tt]est(?:::(?:Runnable|Reporters?|Assertions|Result|Unit|Spec|Expectations)\b|\.\w+)|` +
	`\bMini[Tt]est::Test\.(?:class_eval|prepend|include|send|define_method)|\b(?:at_exit|exit!?|abort|prepend|refine|class_eval|instance_eval|module_eval|instance_variable_set|define_method|alias_method|TracePoint|ObjectSpace)\b|` +
	`\b(?:config|c)\.(?:around|after|append_after|prepend_after)\b|\b(?:class|module) (?:Object|Kernel|BasicObject|Exception|RSpec|Mini[Tt]est)\b|\baround\b`)

// Canary runs rows once more, each with a body that must fail, and beside them a check
// of that kind in each of their classes or groups. Where one of those comes out passed, or the process says that all went well,
// something else is reported than what happened: the units are in Result.Forged.
// Nothing is run when none of the changed files holds code that could do so.
func (r *Runner) Canary(ctx context.Context, state gate.State, batch gate.Batch, changed []string) (gate.Result, error) {
	if !meddles(state.Tree(), changed) {
		return gate.Result{}, nil
	}
	canary := "t" + rand.Text() // the code that is tested cannot know it before it runs
	s := &session{Runner: r, state: state, batch: batch, canary: canary}
	s.prepare()
	units := s.present()
	if len(units) == 0 {
		return gate.Result{}, nil
	}
	h, err := s.invoke(ctx, units, batch.Rows)
	if err != nil {
		return gate.Result{}, err
	}
	s.result.Rows, s.result.Units = nil, nil
	for _, row := range h.rows {
		end, ran := h.ended[row.ID]
		if !ran {
			continue
		}
		if forged := end.Outcome == "passed" || end.Outcome == "failed" && h.exit.Code == 0 && !h.exit.TimedOut; forged && !slices.Contains(s.result.Forged, row.Unit) {
			s.result.Forged = append(s.result.Forged, row.Unit)
		}
	}
	return s.result, nil
}

func meddles(tree gate.Tree, changed []string) bool {
	return slices.ContainsFunc(changed, func(file string) bool {
		if path.Ext(file) != ".rb" {
			return false
		}
		source, err := tree.ReadFile(file)
		return err == nil && meddling.MatchString(withoutComments(string(source)))
	})
}

func withoutComments(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
