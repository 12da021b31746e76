package gate

import (
	"sync"
	"time"
)

// clock adds up the wall-clock time during which at least one test process
// runs.
type clock struct {
	mu      sync.Mutex
	running int
	since   time.Time
	total   time.Duration
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == 0 {
		c.since = time.Now()
	}
	c.running++
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.running == 0 {
		c.total += time.Since(c.since)
	}
}

func (c *clock) busy() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}
