package gate

import (
	"context"
	"fmt"
	"strings"
)

// Emptied is head with the body of each new or changed function replaced by a
// bare return: does any check notice that the behaviour is gone?
const Emptied StateName = "emptied"

// emptied asks the checks of new behaviour, which base cannot be asked about,
// whether they notice that the change's functions do nothing.
func (r *replay) emptied(ctx context.Context) {
	if !r.in.Further.Emptied || len(r.unloadable("")) == 0 {
		return
	}
	r.phase("empty the changed functions")
	r.states[Emptied] = &opened{}
	r.askEach(ctx, Emptied, r.unloadable)
	r.release(Emptied)
}

// notices holds for a check that fails, every time, when the functions that the
// change adds or edits do nothing.
func notices(m *Matrix, key Key) bool {
	cell := m.Cell(key, Emptied)
	return m.firm(cell) && colour(cell[0]) == red
}

// overlooks holds for one that passes all the same.
func overlooks(m *Matrix, key Key) bool {
	cell := m.Cell(key, Emptied)
	return m.firm(cell) && colour(cell[0]) == green
}

// newBehaviour words the evidence of a change whose checks base cannot load.
func newBehaviour(f Facts) Verdict {
	n := f.MissingSymbol
	if n == 0 {
		return say(Pass, "new behaviour: %s of this change %s names that only this change adds; with those standing in, %s on base too, so none shows what the change does", checks(f.BehindBridge), plural(f.BehindBridge, "needs", "need"), plural(f.BehindBridge, "it passes", "they pass"))
	}
	words := fmt.Sprintf("new behaviour: %s of this change %s names that only this change adds, so base cannot be asked; they pass on head", checks(n), plural(n, "needs", "need"))
	if f.Noticing > 0 {
		words += fmt.Sprintf(", and %d of them %s when the changed functions do nothing", f.Noticing, plural(f.Noticing, "fails", "fail"))
	}
	if f.BehindBridge > 0 {
		words += fmt.Sprintf("; %d more %s on base as soon as the names stand in", f.BehindBridge, plural(f.BehindBridge, "passes", "pass"))
	}
	return Verdict{Pass, []string{words}}
}

// calls holds for a check that is known to call what the change adds: behind the
// bridge, a stand-in for a function ended it.
func calls(m *Matrix, key Key) bool {
	for _, o := range m.Cell(key, Bridge) {
		if strings.HasSuffix(o.Reached, "()") {
			return true
		}
	}
	return false
}

// aboutUnnoticed is the finding for a check of new behaviour that passes without
// any, although it calls what is new: a check of data has nothing to notice. Where
// another check of the change notices, this one may well be about the easy case.
func aboutUnnoticed(m *Matrix, row readRow, facts Facts) (Finding, bool) {
	if row.read.Role != NotComparable || row.read.Reason != MissingSymbol || !overlooks(m, row.key) || !calls(m, row.key) {
		return Finding{}, false
	}
	severity := SeverityWarning
	if facts.Noticing > 0 {
		severity = SeverityNote
	}
	return Finding{"unnoticed-behaviour", severity, row.row.File, row.row.Line, fmt.Sprintf("%s passes on head, and passes there too when every function that this change adds or edits, those it calls among them, does nothing: assert what they return or do", row.row.ID)}, true
}
