package gate

import (
	"context"
	"slices"
	"time"
)

// Further says which questions are asked beyond the plain replay. Each is a
// state like any other, opened by its name.
type Further struct {
	Gold      bool     // there is a state gold+tests
	Bridge    bool     // there may be a state bridge
	Unbridged []string // runners for whose checks there is none
	Emptied   bool     // there may be a state emptied
	Groups    []Group  // of the production part, by without(ID)
	Peers     []Peer   // other attempts at the same task

	// Budget is the wall-clock time that all but Gold and Peers may take: 0 for
	// twice what the plain replay took, less than 0 for none.
	Budget time.Duration
}

// further asks what the plain replay left open: behind a bridge where base could
// not load a check, and with parts of the change taken away where base has
// nothing to say. Nothing of it is a doubt: what could not be asked is said.
func (r *replay) further(ctx context.Context) {
	r.peers(ctx)
	limited, cancel, ok := r.allowed(ctx)
	if !ok {
		return
	}
	defer cancel()
	r.bridge(limited)
	r.emptied(limited)
	r.withoutEach(limited)
	if limited.Err() != nil && ctx.Err() == nil {
		r.overspent()
	}
}

// isFurther tells a state that only refines what the others said: what goes
// wrong there is no doubt about the change.
func isFurther(name StateName) bool {
	return !slices.Contains([]StateName{Base, BaseTests, Head, HeadBaseTests, GoldTests}, name)
}

// trouble is a doubt about the states that decide, and a note about the others.
func (r *replay) trouble(name StateName, format string, args ...any) {
	if isFurther(name) {
		r.remark(format, args...)
	} else {
		r.doubt(format, args...)
	}
}

// columns are the states in the order in which they were asked.
func (r *replay) columns() []StateName {
	list := []StateName{Base, BaseTests, Head, HeadBaseTests, GoldTests, Bridge, Emptied, HeadAlone}
	for name := range r.states {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list[8:])
	return list
}

// aboutFurther are the findings on one row that only a further state can give.
func aboutFurther(r *replay, row readRow, facts Facts) []Finding {
	var findings []Finding
	if f, ok := aboutUnnoticed(r.m, row, facts); ok {
		findings = append(findings, f)
	}
	if f, ok := aboutPeers(r, row); ok {
		findings = append(findings, f)
	}
	return findings
}
