package cargo

import (
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

func TestConformance(t *testing.T) {
	ownHome(t)
	conformance.Run(t, "testdata/conformance/cargo.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner {
			return New(Config{Dir: dir, Env: map[string]string{"RUST_TEST_THREADS": "2"}, Timeout: timeout})
		},
	})
}
