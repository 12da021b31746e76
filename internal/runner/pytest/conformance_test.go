package pytest

import (
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

func TestConformance(t *testing.T) {
	program := python(t)
	conformance.Run(t, "testdata/conformance/pytest.txtar", conformance.Subject{
		New: func(dir string, timeout time.Duration) gate.Runner {
			return New(Config{Command: []string{program, "-m", "pytest"}, Dir: dir, Timeout: timeout})
		},
	})
}
