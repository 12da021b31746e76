package gotest

import (
	"path"
	"slices"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// session is one call of Run.
type session struct {
	*Runner
	*layout
	state   gate.State
	batch   gate.Batch
	timeout time.Duration // of one test binary
	books   []*book
	left    *leftOut
	asked   bool          // from where the packages are loaded
	canary  string        // a test that is added and must fail; "" for none
	mark    string        // see markOf
	judged  map[*book]int // answers that reached has seen
	last    string        // the stand-in that was reached last
	result  gate.Result
}

// job is one invocation of go test.
type job struct {
	books     []*book
	run, skip string // patterns; "" for none
}

func (r *Runner) session(state gate.State, batch gate.Batch) *session {
	s := &session{Runner: r, layout: newLayout(state.Tree(), r.Dir), state: state, batch: batch, timeout: r.Timeout, left: r.kept(state)}
	if s.mark = markOf(state); s.mark != "" {
		s.asked, s.judged = true, make(map[*book]int)
	}
	if batch.Timeout > 0 {
		s.timeout = batch.Timeout
	}
	for _, unit := range batch.Units {
		b := newBook(s.layout, r.parse(s.layout, path.Clean(unit)))
		for _, id := range batch.Rows {
			b.ask(id)
		}
		if len(b.files) > 0 && (len(batch.Rows) == 0 || b.asked != nil || b.whole) {
			s.books = append(s.books, b)
		}
	}
	return s
}

// kept is what earlier runs isolated on the state, as far as it still holds.
func (r *Runner) kept(state gate.State) *leftOut {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := r.left[state.Name()]; left != nil && left.holds(state.Tree()) {
		return left.clone()
	}
	return newLeftOut().withSetUps(state.Name())
}

func (r *Runner) keep(state gate.State, left *leftOut) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left[state.Name()] = left.clone()
}

// plan makes as few invocations as ask for no test that is not wanted: one
// where all packages can share a pattern, else one for each pattern.
func (s *session) plan() []job {
	if len(s.books) == 0 {
		return nil
	}
	var all []string
	whole := false
	for _, b := range s.books {
		all = append(all, b.names()...)
		whole = whole || b.names() == nil
	}
	if len(s.batch.Rows) == 0 {
		return []job{{books: s.books}}
	}
	wanted := make(map[string]bool)
	for _, name := range all {
		wanted[topOf(name)] = true
	}
	if !whole && !slices.ContainsFunc(s.books, func(b *book) bool { return b.overruns(wanted) }) {
		return []job{{books: s.books, run: alternatives(all)}}
	}
	var jobs []job
	for _, b := range s.books {
		pattern := alternatives(b.names())
		at := slices.IndexFunc(jobs, func(j job) bool { return j.run == pattern })
		if at < 0 {
			at, jobs = len(jobs), append(jobs, job{run: pattern})
		}
		jobs[at].books = append(jobs[at].books, b)
	}
	return jobs
}

// overruns tells whether the package has a test of these names that it was not
// asked for.
func (b *book) overruns(wanted map[string]bool) bool {
	asked := make(map[string]bool)
	for name := range b.asked {
		asked[topOf(name)] = true
	}
	return slices.ContainsFunc(b.rows, func(row gate.Row) bool { return wanted[row.Name] && !asked[row.Name] })
}
