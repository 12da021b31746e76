package braces

import (
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
)

// States keeps what was taken out of each of a runner's states, with what else the
// runner knows of one. The zero States has none.
type States[K any] struct {
	mu sync.Mutex
	by map[gate.StateName]*Taken[K]
}

// Taken is what was taken out on one state. Whoever holds its lock runs there alone:
// calls for one state wait for one another.
type Taken[K any] struct {
	sync.Mutex
	*LeftOut
	Known K
}

// Of returns what was taken out on a state so far, locked.
func (s *States[K]) Of(state gate.State) *Taken[K] {
	s.mu.Lock()
	t := s.by[state.Name()]
	if t == nil {
		if s.by == nil {
			s.by = make(map[gate.StateName]*Taken[K])
		}
		t = &Taken[K]{LeftOut: NewLeftOut()}
		s.by[state.Name()] = t
	}
	s.mu.Unlock()
	t.Lock()
	t.Renew(state.Tree())
	return t
}
