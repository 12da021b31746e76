package gate

import (
	"context"
	"fmt"
	"time"
)

// allowed gives the further questions their time; ok is false when nothing they
// find could change or explain the verdict, or when they may take none.
func (r *replay) allowed(ctx context.Context) (limited context.Context, cancel context.CancelFunc, ok bool) {
	f := r.in.Further
	if !f.Bridge && !f.Emptied && len(f.Groups) == 0 || f.Budget < 0 || len(r.production) == 0 || r.clock.busy() == 0 {
		return nil, nil, false
	}
	so := read(r)
	if so.facts.UnseenOnHead > 0 || Decide(so.facts, r.in.Policy).Conclusion == Fail {
		return nil, nil, false // nothing that is found could change that
	}
	limited, cancel = context.WithTimeout(ctx, r.limit())
	return limited, cancel, true
}

// limit is the budget in wall-clock time. What was broken off without an answer
// earns no time for more.
func (r *replay) limit() time.Duration {
	if r.in.Further.Budget > 0 {
		return r.in.Further.Budget
	}
	return 2 * (r.clock.busy() - r.vain)
}

// overspent says that the budget was not enough for all.
func (r *replay) overspent() {
	left := 0
	for _, g := range r.groups {
		if g.Result == NotAsked {
			left++
		}
	}
	if left > 0 {
		r.remark("the time budget ended before %d of %d hunk groups of the production part were asked (--budget)", left, len(r.groups))
		return
	}
	r.remark("the time budget ended before all further questions were answered (--budget)")
}

// remark adds a note to the report, once.
func (r *replay) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, note := range r.notes {
		if note == text {
			return
		}
	}
	r.notes = append(r.notes, text)
}
