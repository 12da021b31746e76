package pytest

import (
	"context"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// meddling marks Python code that could decide what pytest reports of a test:
// hooks, pytest's own parts, a hand in functions and frames that exist.
var meddling = lazyregexp.New(`\bdef pytest_(?:runtest|pyfunc|exception|report|make|pycollect|itemcollected|collection|configure|sessionstart|plugin|fixture)|` +
	`\bhook(?:impl|wrapper)\b|\b_pytest\b|\bpluggy\b|\bTestReport\b|\bCallInfo\b|\b__code__\b|\bset(?:trace|profile)\b|\bgc\.get_|\b_getframe\b|\bctypes\b|` +
	`\bunittest\.(?:case|result|suite|runner)\b|\bTestResult\b|\b(?:add(?:Failure|Error|Success)|_callTestMethod|countTestCases)\b|\bload_tests\b|\bTEST_RUNNER\b|\bDiscoverRunner\b|\bdef run\(self, result`)

// Canary runs rows once more with a test that must fail in the place of each,
// under its name and with its fixtures. The units of those that come out passed
// are in Result.Forged. Every run has canaries of another name; this one meets
// code that picks tests by name. Nothing is run where none of the changed files
// holds code that could do so; base is asked only when head forges.
func (r *Runner) Canary(ctx context.Context, state gate.State, batch gate.Batch, changed []string) (gate.Result, error) {
	if state.Name() != gate.Base && !meddles(state.Tree(), changed) {
		return gate.Result{}, nil
	}
	c := r.newCall(state, batch)
	q := question{units: c.present(), rows: batch.Rows, fail: true}
	if len(q.units) == 0 {
		return gate.Result{}, nil
	}
	q.company = c.company(q.units)
	if _, err := c.invoke(ctx, q); err != nil {
		return gate.Result{}, err
	}
	slices.Sort(c.result.Forged)
	c.result.Forged = slices.Compact(c.result.Forged)
	return c.result, nil
}

func meddles(tree gate.Tree, changed []string) bool {
	return slices.ContainsFunc(changed, func(file string) bool {
		if !strings.HasSuffix(file, ".py") {
			return false
		}
		content, err := tree.ReadFile(file) // absent: taken away
		return err == nil && meddling.Match(content)
	})
}
