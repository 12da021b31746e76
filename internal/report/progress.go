package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Progress draws one line that tells how far a run is. It is safe for
// concurrent use. Where there is no terminal it draws nothing.
type Progress struct {
	w     io.Writer
	now   func() time.Time
	mu    sync.Mutex
	phase string
	began time.Time
	drawn time.Time
	count map[string]*tally
	shown bool
}

// tally counts one state's rows. total is 0 while it is not known.
type tally struct{ done, red, total int }

// redraw bounds how often the line is drawn.
const redraw = 100 * time.Millisecond

// NewProgress draws on w when it is a terminal.
func NewProgress(w io.Writer, terminal bool, now func() time.Time) *Progress {
	p := &Progress{now: now, count: make(map[string]*tally)}
	if terminal {
		p.w = w
	}
	return p
}

// Phase begins a new step; its counts start again.
func (p *Progress) Phase(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.began, p.count = name, p.now(), make(map[string]*tally)
	p.draw(true)
}

// Add says that total more rows are to come on a state; 0 means not known.
func (p *Progress) Add(state string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(state).total += total
	p.draw(false)
}

// Done counts one row of a state that ended.
func (p *Progress) Done(state string, red bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(state)
	t.done++
	if red {
		t.red++
	}
	p.draw(false)
}

// Close takes the line away.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *Progress) of(state string) *tally {
	if p.count[state] == nil {
		p.count[state] = &tally{}
	}
	return p.count[state]
}

func (p *Progress) draw(now bool) {
	if p.w == nil || !now && p.now().Sub(p.drawn) < redraw {
		return
	}
	p.drawn, p.shown = p.now(), true
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.line())
}

func (p *Progress) line() string {
	parts := []string{p.phase}
	var names []string
	for name := range p.count {
		names = append(names, name)
	}
	slices.Sort(names)
	done, total, red := 0, 0, 0
	for _, name := range names {
		t := p.count[name]
		done, red = done+t.done, red+t.red
		if t.total > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", name, t.done, t.total))
			total += t.total
		} else {
			parts = append(parts, fmt.Sprintf("%s %d", name, t.done))
		}
	}
	if red > 0 {
		parts = append(parts, fmt.Sprintf("%d red", red))
	}
	if took := p.now().Sub(p.began); total > done && done > 0 {
		left := time.Duration(float64(took) / float64(done) * float64(total-done))
		parts = append(parts, fmt.Sprintf("about %s left", left.Round(time.Second)))
	}
	return strings.Join(parts, "  ")
}
