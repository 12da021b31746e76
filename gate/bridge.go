package gate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bridge is base's behaviour behind head's names: base+tests with the names
// that only the production part adds standing in. What stands in for behaviour
// ends a check that reaches it (an observation with reason missing_symbol), so
// that a check which comes to a result there got it from base's code.
const Bridge StateName = "bridge"

// Bridged is what the state bridge can say of itself.
type Bridged interface {
	// Ahead is head's tree: the names that may stand in are declared there.
	Ahead() Tree
	// Mark is the absolute path of a file to which a stand-in appends a line
	// "ID NAME" when it is reached, whatever the check makes of that. The ID tells
	// processes (Go) or uses (JavaScript) apart.
	Mark() string
	// Values are the names that stand in with a value of head's: constants,
	// variables, fields that reflection reads. A check that reads one and passes
	// passes on head's data.
	Values() []string
	// Gaps say in words what does not stand in, and why.
	Gaps() []string
}

// bridge asks the checks that base could not load, again, behind the bridge.
func (r *replay) bridge(ctx context.Context) {
	if !r.in.Further.Bridge || !r.bridgeable() {
		return
	}
	r.phase("ask behind a bridge")
	r.states[Bridge] = &opened{}
	state, err := r.open(ctx, Bridge)
	if err != nil {
		if ctx.Err() == nil {
			r.remark("the bridge could not be built: %v", err)
		}
		return
	}
	r.askEach(ctx, Bridge, func(runner string) []Row {
		if slices.Contains(r.in.Further.Unbridged, runner) {
			return nil
		}
		return r.unloadable(runner)
	})
	if ctx.Err() == nil {
		r.checkState(ctx, Bridge, r.production)
	}
	r.release(Bridge)
	if b, ok := state.(Bridged); ok {
		for _, gap := range b.Gaps() {
			r.remark("bridge: %s", gap)
		}
		r.readers(state.Tree(), b.Values())
	}
}

// bridgeable tells whether there is a check to ask, and says of which runners
// none can be asked.
func (r *replay) bridgeable() bool {
	some := len(r.unloadable(""))
	for _, runner := range r.in.Runners {
		without := 0
		if slices.Contains(r.in.Further.Unbridged, runner.Name()) {
			without = len(r.unloadable(runner.Name()))
		}
		if without > 0 {
			some -= without
			r.remark("bridge: not available for %s: %s of this change %s names that only the change adds, so base cannot be asked", runner.Framework(), checks(without), plural(without, "needs", "need"))
		}
	}
	return some > 0
}

// unloadable are a runner's checks (all runners' for "") that pass on head and
// that base cannot be asked about, since they need a name that only the change
// adds.
func (r *replay) unloadable(runner string) []Row {
	var rows []Row
	for _, key := range r.m.Keys() {
		if runner != "" && key.Runner != runner || !r.own(key) {
			continue
		}
		if plain := RoleOf(r.m, key, r.in.Introduced); plain.Role == NotComparable && plain.Reason == MissingSymbol {
			rows = append(rows, r.m.Row(key))
		}
	}
	return rows
}

// readers remembers the checks whose own source names one of the values.
func (r *replay) readers(tree Tree, values []string) {
	if len(values) == 0 {
		return
	}
	var quoted []string
	for _, value := range values {
		quoted = append(quoted, regexp.QuoteMeta(value))
	}
	named := regexp.MustCompile(`\b(?:` + strings.Join(quoted, "|") + `)(?:\b|\W|$)`)
	for _, row := range r.unloadable("") {
		if source := sourceOf(tree, row); source == "" || named.MatchString(source) {
			r.reads[row.Key()] = true
		}
	}
}

// askedAgain refines a reading by what the bridge and the reference fix say.
// bridged is set when the role comes from the bridge.
func askedAgain(r *replay, key Key, plain Reading) (read Reading, bridged bool) {
	read, bridged = behindBridge(r, key, plain)
	if !r.m.Gold {
		return read, bridged
	}
	golden := withGold(r.m, key, read)
	if bridged && golden.Role == NotComparable {
		return plain, false // the fix says nothing, and base still lacks the name
	}
	return golden, bridged
}

// behindBridge reads a check that base cannot load off the bridge. Only a
// failure by its own assertion or by an exception of base's code is red there:
// whatever reached a stand-in, timed out, crashed or misses yet another new name
// leaves the check what it was.
func behindBridge(r *replay, key Key, plain Reading) (read Reading, bridged bool) {
	cell := r.m.Cell(key, Bridge)
	words, ok := r.lacks(key, plain)
	if !ok || !r.m.firm(cell) {
		return plain, false
	}
	for _, o := range cell {
		for _, name := range o.Missing {
			if r.in.Introduced != nil && r.in.Introduced(name) {
				return plain, false
			}
		}
	}
	switch o := cell[0]; {
	case o.Outcome == Passed && !r.reads[topOf(r.m, r.m.Row(key), Head).Key()]:
		return Reading{Role: RegressionOnly, Words: "bridged: " + words + "; with that standing in, it passes on base too"}, true
	case allFailed(cell):
		return Reading{Role: Discriminating, Reason: o.Reason, Words: "bridged: " + words + "; with that standing in, it fails by base's behaviour"}, true
	}
	return plain, false
}

// lacks says which name base lacks for a check, in words; ok is false when that is
// not why base could not be asked. A part of a test (a Go subtest) that never came
// to run there lacks what its test does.
func (r *replay) lacks(key Key, plain Reading) (words string, ok bool) {
	if plain.Role != NotComparable {
		return "", false
	}
	if plain.Reason == MissingSymbol {
		return plain.Words, true
	}
	top := topOf(r.m, r.m.Row(key), Head).Key()
	if plain.Reason != NoReport || len(r.m.Cell(key, BaseTests)) > 0 || top == key {
		return "", false
	}
	whole := RoleOf(r.m, top, r.in.Introduced)
	return "its test " + whole.Words, whole.Role == NotComparable && whole.Reason == MissingSymbol
}

func allFailed(cell []Observation) bool {
	for _, o := range cell {
		if o.Outcome != Failed || o.Reason != Assertion && o.Reason != Exception {
			return false
		}
	}
	return len(cell) > 0
}

// aboutBridged is the finding for a check that passes behind the bridge.
func aboutBridged(r *replay, row readRow) (rule string, severity Severity, message string) {
	if r.in.Policy.VacuousTests == LevelIgnore {
		return "", "", ""
	}
	return "vacuous-behind-bridge", SeverityWarning, fmt.Sprintf("%s does not load on base, and passes there as soon as the change's names stand in without any behaviour: assert what base gets wrong", row.row.ID)
}

// proof words the evidence of checks that fail without the change.
func proof(f Facts, red int) Verdict {
	words := fmt.Sprintf("%s of this change %s on base and %s with it", checks(red), plural(red, "fails", "fail"), plural(red, "passes", "pass"))
	switch {
	case f.Bridged == red:
		words += " (bridged: base lacks names that they need, which stood in without any behaviour)"
	case f.Bridged > 0:
		words += fmt.Sprintf(" (%d of them bridged: base lacks names that they need, which stood in without any behaviour)", f.Bridged)
	}
	return Verdict{Pass, []string{words}}
}
