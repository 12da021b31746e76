package gotest

import (
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, "testdata/conformance/gotest.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner { return New(Config{Dir: dir, Timeout: timeout}) },
	})
}
