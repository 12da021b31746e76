package template

import (
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

// TestConformance reads what other tools write: node:test's TAP, pytest's JUnit XML.
func TestConformance(t *testing.T) {
	for framework, config := range map[string]Config{
		TAP:   {Command: []string{"node", "--test", "--test-reporter=tap", "{files}"}},
		JUnit: {Command: []string{"python3", "-m", "pytest", "--junit-xml=build/report.xml", "{files}"}, Report: "build/*.xml"},
	} {
		t.Run(framework, func(t *testing.T) {
			conformance.Run(t, "testdata/conformance/"+framework+".txtar", conformance.Subject{
				New: func(dir string, timeout time.Duration) gate.Runner {
					c := config
					c.Framework, c.Dir, c.Timeout = framework, dir, timeout
					return New(c)
				},
			})
		})
	}
}
