package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Progress tells on a terminal how far a run is, in one line that is drawn
// again at most ten times a second and taken away at the end. Where there is
// no terminal it is silent, or after Lines prints a line for every phase and
// note. It is safe for concurrent use. A failing writer is not an error: the
// run matters, not its progress.
type Progress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time

	mu     sync.Mutex
	lines  bool
	closed bool
	phase  string
	began  time.Time // of the phase
	drawn  time.Time
	shown  bool // the line stands on the terminal
	states map[string]*tally
}

// tally counts one state's rows. total is 0 while it is not known.
type tally struct{ done, total, red int }

const (
	redraw   = 100 * time.Millisecond // between two drawings
	warmUp   = time.Second            // before a rate says anything
	lineRoom = 79                     // columns; a longer line would wrap and stay
)

// erase takes the line away.
const erase = "\r\x1b[K"

// NewProgress draws on w when it is a terminal. now is the clock.
func NewProgress(w io.Writer, terminal bool, now func() time.Time) *Progress {
	return &Progress{w: w, terminal: terminal, now: now, states: make(map[string]*tally)}
}

// Lines asks for a line for every phase and note where there is no terminal.
func (p *Progress) Lines() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = true
}

// Phase begins a new step; its counts start again.
func (p *Progress) Phase(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.began, p.states = Sanitize(name, 40), p.now(), make(map[string]*tally)
	p.print(p.phase)
	p.draw(true)
}

// Add says that total more rows are to come on a state; 0 when that is not
// known.
func (p *Progress) Add(state string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(state).total += total
	p.draw(false)
}

// Done counts one row of a state that ended.
func (p *Progress) Done(state string, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.of(state)
	t.done++
	if failed {
		t.red++
	}
	p.draw(false)
}

// Note prints a line that stays.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text = Sanitize(text, 0)
	p.print(text)
	if p.terminal && !p.closed {
		fmt.Fprintf(p.w, "%s%s\n", erase, text)
		p.draw(true)
	}
}

// Close takes the line away. Later calls draw nothing.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, erase)
	}
	p.shown, p.closed = false, true
}

func (p *Progress) of(state string) *tally {
	if p.states[state] == nil {
		p.states[state] = &tally{}
	}
	return p.states[state]
}

func (p *Progress) print(text string) {
	if p.lines && !p.terminal && !p.closed {
		fmt.Fprintln(p.w, text)
	}
}

func (p *Progress) draw(now bool) {
	if !p.terminal || p.closed || p.phase == "" || !now && p.now().Sub(p.drawn) < redraw {
		return
	}
	p.drawn, p.shown = p.now(), true
	fmt.Fprint(p.w, erase+cutEnd(p.line(), lineRoom))
}

// line is the phase, how far each state is, what is red, and the time left.
func (p *Progress) line() string {
	parts := []string{p.phase}
	var sum tally
	known := true
	for _, name := range slices.Sorted(maps.Keys(p.states)) {
		t := *p.states[name]
		sum = tally{sum.done + t.done, sum.total + t.total, sum.red + t.red}
		switch {
		case t.total >= t.done && t.total > 0:
			parts = append(parts, fmt.Sprintf("%s %d/%d", name, t.done, t.total))
		case t.done > 0:
			parts = append(parts, fmt.Sprintf("%s %d", name, t.done))
			known = false
		default:
			known = false
		}
	}
	if sum.red > 0 {
		parts = append(parts, fmt.Sprintf("%d red", sum.red))
	}
	if left := p.left(sum); known && left > 0 {
		parts = append(parts, fmt.Sprintf("about %s left", spell(left)))
	}
	return strings.Join(parts, "  ")
}

// left is the time that the rows to come take at the rate so far; 0 when the
// rate says nothing.
func (p *Progress) left(sum tally) time.Duration {
	took := p.now().Sub(p.began)
	if sum.done == 0 || sum.total <= sum.done || took < warmUp {
		return 0
	}
	left := time.Duration(float64(took) / float64(sum.done) * float64(sum.total-sum.done))
	if left < time.Second {
		return 0
	}
	return left.Round(time.Second)
}

// spell writes a time as people say it: 12 s, 2 min 5 s.
func spell(d time.Duration) string {
	seconds := int(d / time.Second)
	if seconds < 60 {
		return fmt.Sprintf("%d s", seconds)
	}
	return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
}
