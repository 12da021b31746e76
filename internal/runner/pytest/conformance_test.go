package pytest

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

// TestConformance runs one small repository for each of Python's frameworks.
func TestConformance(t *testing.T) {
	for framework, command := range map[string]string{Pytest: "-m pytest", Unittest: "-m unittest", Django: "manage.py test"} {
		t.Run(framework, func(t *testing.T) {
			program := having(t, framework)
			conformance.Run(t, "testdata/conformance/"+framework+".txtar", conformance.Subject{
				New: func(dir string, timeout time.Duration) gate.Runner {
					return New(Config{Framework: framework, Command: append([]string{program}, strings.Fields(command)...), Dir: dir, Timeout: timeout})
				},
			})
		})
	}
}

// having is an interpreter that has a module.
func having(t *testing.T, module string) string {
	t.Helper()
	for _, candidate := range interpreters() {
		if exec.Command(candidate, "-c", "import "+module).Run() == nil {
			return candidate
		}
	}
	t.Skipf("none of %v has %s", interpreters(), module)
	return ""
}
