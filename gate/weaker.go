package gate

import "slices"

// weakening is what base's version of a test on head's source says about the
// version that the change brings, or about the test code around an untouched one.
type weakening uint8

const (
	notWeaker   weakening = iota
	perhaps               // the old version fails, and that has honest uses
	weaker                // the change takes an expectation back, and its new one holds on base too
	unknownWeak           // nobody could find out
	hides                 // the old question is no longer asked at all, or its subject is replaced
)

// weakened tells whether a check of the change, or one that it does not touch,
// passes on head only because the change expects less: base's version of it
// passes on base and fails on head by its own assertion, and what the change
// made of it passes without the change too. Which old row that is, and how it
// failed, comes with it.
//
// A check that fails without the change says in the open that it expects
// something else, and is not meant. Neither is an old version that fails by an
// exception: it may call what has moved.
func (r *replay) weakened(row readRow) (w weakening, from Key, old Observation) {
	if len(r.production) == 0 || r.in.Reverts || row.row.Parent != "" || r.in.SameTree(HeadBaseTests, Head) || row.read.Role.proves() {
		return notWeaker, Key{}, Observation{}
	}
	for _, key := range r.olderOf(row) {
		if found := r.fails(key); found > w {
			w, from, old = found, key, first(r.m.Cell(key, HeadBaseTests))
		}
	}
	if w == weaker {
		w = r.weakness(row)
	}
	return w, from, old
}

// olderOf are the rows of base whose versions a row is held against.
func (r *replay) olderOf(row readRow) []Key {
	switch _, onBase := r.m.Seen(row.key, Base); {
	case row.read.Role == DiagnosticNegative || row.read.Role == Flaky:
		return nil
	case row.origin == Modified && onBase && row.read.Role != NoRole, row.origin == Existing && r.maskable(row.key):
		return []Key{row.key}
	case row.origin == Added && row.read.Role != NoRole:
		return slices.DeleteFunc(r.ancestors(row.key)[1:], func(key Key) bool { return r.m.Row(key).Digest == row.row.Digest })
	}
	return nil
}

// maskable holds for an untouched row that passes on head and that test code
// around it, which the change edits, may let pass.
func (r *replay) maskable(key Key) bool {
	base, onBase := r.m.Seen(key, Base)
	return r.support != "" && onBase && base.Parent == "" && key.ID != selfCheckID && OriginOf(r.m, key) == Existing &&
		slices.Contains(r.touchedU[key.Runner][Base], base.Unit) && allGreen(r.m.Cell(key, Head))
}

// fails reads whether base's version of a row passes on base and fails on head's
// source, as often as asked and by its own assertion.
func (r *replay) fails(key Key) weakening {
	base, old := r.m.Cell(key, Base), r.m.Cell(key, HeadBaseTests)
	switch {
	case anyOf(base, red) || anyOf(base, blank):
		return notWeaker
	case len(old) == 0:
		return unknownWeak
	case !anyOf(old, red) || !agree(old):
		return notWeaker
	case len(old) < r.m.Repeat:
		return unknownWeak
	case r.gone(old) || slices.ContainsFunc(old, func(o Observation) bool { return o.Reason != Assertion }):
		return perhaps
	case !r.m.firm(base):
		return unknownWeak
	}
	return weaker
}

// weakness reads what the change's own version comes to without the change.
func (r *replay) weakness(row readRow) weakening {
	before := r.m.Cell(row.key, BaseTests)
	switch {
	case row.origin == Existing && len(before) == 0:
		return unknownWeak
	case row.origin == Existing && !agree(before):
		return notWeaker
	case row.origin == Existing && colour(before[0]) == green && r.support == supportReplaces:
		return hides
	case row.origin == Existing && colour(before[0]) == red:
		return notWeaker
	case row.origin == Existing:
		return perhaps
	case row.bridged || row.read.Reason == MissingSymbol:
		if r.forsakes[row.key] {
			return hides
		}
		return perhaps
	case row.read.Reason == ChangedInfrastructure:
		return perhaps
	case row.read.Role == NotComparable:
		return unknownWeak
	case r.forsakes[row.key]:
		return hides
	}
	return weaker
}

// weaken counts what the change hides or expects less of, and makes doubts of what
// could not be found out and would be held against it.
func (out *reading) weaken(r *replay) {
	for _, row := range out.rows {
		w, from, _ := r.weakened(row)
		may := r.in.Policy.LoosenedTests == LevelFail || r.forsakes[row.key] || row.origin == Existing && r.support == supportReplaces
		switch {
		case w == hides:
			out.facts.Masked++
		case w == weaker:
			out.facts.Loosened++
		case w == unknownWeak && may:
			out.doubt("nobody knows whether %s still asks what it asked: base's version of %s could not be compared between base and head", row.row.ID, from.ID)
		}
	}
}

// forsaking lists the rows whose new version no longer names any of what the
// changed files declare and the old one named: they ask about something else
// under the old name.
func (r *replay) forsaking() map[Key]bool {
	forsakes := make(map[Key]bool)
	if r.in.Declared == nil {
		return forsakes
	}
	for _, key := range r.m.Keys() {
		base, onBase := r.m.Seen(key, Base)
		head, onHead := r.m.Seen(key, Head)
		if !onBase || !onHead || base.Digest == head.Digest || head.Parent != "" {
			continue
		}
		named, kept := false, false
		now := wordsOf(r.text(Head, head))
		for word := range wordsOf(r.text(Base, base)) {
			if r.in.Declared(word) {
				named, kept = true, kept || now[word] > 0
			}
		}
		if named && !kept && len(now) > 0 {
			forsakes[key] = true
		}
	}
	return forsakes
}
