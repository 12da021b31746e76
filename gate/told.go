package gate

import (
	"fmt"
	"slices"
)

func (r *replay) doubt(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.doubts, text) {
		r.doubts = append(r.doubts, text)
	}
}

// doubtOnce is doubt for what may befall several states by one cause: the first
// of them speaks for all.
func (r *replay) doubtOnce(cause, format string, args ...any) {
	r.mu.Lock()
	known := r.causes[cause]
	r.causes[cause] = true
	r.mu.Unlock()
	if !known {
		r.doubt(format, args...)
	}
}

func (r *replay) phase(name string) {
	if r.in.Progress != nil {
		r.in.Progress.Phase(name)
	}
}

func (r *replay) add(state string, total int) {
	if r.in.Progress != nil {
		r.in.Progress.Add(state, total)
	}
}

func (r *replay) done(state string, o Outcome) {
	if r.in.Progress != nil {
		r.in.Progress.Done(state, o != Passed && o != Skipped)
	}
}
