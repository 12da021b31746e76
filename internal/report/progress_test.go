package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func onTerminal() (*Progress, *bytes.Buffer, *clock) {
	var out bytes.Buffer
	c := &clock{at: time.Unix(1_000_000, 0)}
	return NewProgress(&out, true, c.now), &out, c
}

// last is what stands on the terminal's line.
func last(out *bytes.Buffer) string {
	text := out.String()
	return text[strings.LastIndex(text, erase)+len(erase):]
}

func TestProgressLine(t *testing.T) {
	p, out, c := onTerminal()
	p.Phase("replay")
	p.Add("head", 120)
	p.Add("base+tests", 120)
	for i := range 114 {
		c.sleep(100 * time.Millisecond)
		p.Done([]string{"head", "head", "base+tests"}[i%3], i%3 == 2 && i < 6)
	}
	if want := "replay  base+tests 38/120  head 76/120  2 red  about 13 s left"; last(out) != want {
		t.Errorf("got  %q\nwant %q", last(out), want)
	}
	p.Close()
	if last(out) != "" {
		t.Errorf("after Close %q stands there", last(out))
	}
	p.Done("head", true)
	c.sleep(time.Hour)
	p.Phase("late")
	p.Note("late")
	if last(out) != "" {
		t.Errorf("drawn after Close: %q", last(out))
	}
}

func TestProgressKnowsWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		name        string
		total, done int
		took        time.Duration
		want        string
	}{
		{"no total", 0, 5, time.Minute, "replay  head 5"},
		{"more than the total", 3, 5, time.Minute, "replay  head 5"},
		{"nothing done", 9, 0, time.Minute, "replay  head 0/9"},
		{"too early", 9, 3, 500 * time.Millisecond, "replay  head 3/9"},
		{"done", 9, 9, time.Minute, "replay  head 9/9"},
		{"minutes", 30, 10, time.Minute, "replay  head 10/30  about 2 min 0 s left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, out, clock := onTerminal()
			p.Phase("replay")
			p.Add("head", c.total)
			for range c.done {
				p.Done("head", false)
			}
			clock.sleep(c.took)
			p.Add("head", 0)
			if last(out) != c.want {
				t.Errorf("got %q, want %q", last(out), c.want)
			}
		})
	}
}

func TestProgressDrawsTenTimesASecond(t *testing.T) {
	p, out, c := onTerminal()
	p.Phase("replay")
	for range 10_000 {
		c.sleep(time.Millisecond)
		p.Done("head", false)
	}
	if n := strings.Count(out.String(), erase); n < 90 || n > 101 {
		t.Errorf("drawn %d times in 10 s", n)
	}
}

func TestProgressStaysOnItsLine(t *testing.T) {
	p, out, c := onTerminal()
	p.Phase("replay")
	for i := range 20 {
		c.sleep(time.Second)
		p.Done(fmt.Sprintf("state number %d", i), true)
	}
	if n := len(last(out)); n > lineRoom {
		t.Errorf("%d columns: %q", n, last(out))
	}
}

func TestProgressNote(t *testing.T) {
	p, out, _ := onTerminal()
	p.Phase("replay")
	p.Note("states are copies\x1b[2J")
	if want := erase + "replay" + erase + "states are copies\n" + erase + "replay"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestProgressWithoutTerminal(t *testing.T) {
	play := func(p *Progress) {
		p.Phase("replay")
		p.Add("head", 3)
		p.Done("head", true)
		p.Note("a note")
		p.Phase("confirm")
		p.Close()
	}
	var silent, lines bytes.Buffer
	play(NewProgress(&silent, false, time.Now))
	if silent.Len() > 0 {
		t.Errorf("not silent: %q", silent.String())
	}
	p := NewProgress(&lines, false, time.Now)
	p.Lines()
	play(p)
	if want := "replay\na note\nconfirm\n"; lines.String() != want {
		t.Errorf("got %q, want %q", lines.String(), want)
	}
}

func TestProgressIsSafeForConcurrentUse(t *testing.T) {
	p, out, c := onTerminal()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			state := fmt.Sprint("s", i%3)
			for range 200 {
				p.Add(state, 1)
				c.sleep(time.Millisecond)
				p.Done(state, false)
				if i == 0 {
					p.Note("n")
				}
			}
		})
	}
	p.Phase("replay")
	all.Wait()
	p.Close()
	if last(out) != "" {
		t.Errorf("after Close %q stands there", last(out))
	}
}
