package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestCollectLate holds that garbage is collected at its usual pace again after the
// first time.
func TestCollectLate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	collectLate()
	if put := debug.SetGCPercent(1600); put != 1600 {
		t.Fatalf("collects at %d %%", put)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		runtime.GC()
		now := debug.SetGCPercent(77)
		if now == 77 {
			return
		}
		debug.SetGCPercent(now)
	}
	t.Error("the usual pace did not return")
}
