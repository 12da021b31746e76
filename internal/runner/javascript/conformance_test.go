package javascript

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/conformance"
)

var _ gate.Runner = (*Runner)(nil)

// TestConformance runs, for each framework that is at hand, a small repository
// with the situations that a runner must tell apart.
func TestConformance(t *testing.T) {
	for _, framework := range Frameworks() {
		t.Run(framework, func(t *testing.T) {
			modules := packages(t, framework)
			conformance.Run(t, "testdata/conformance/"+framework+".txtar", conformance.Subject{
				New: func(dir string, timeout time.Duration) gate.Runner {
					return New(Config{Framework: framework, Dir: dir, Timeout: timeout})
				},
				Prepare: func(t *testing.T, dir string) { link(t, modules, dir) },
			})
		})
	}
}

// packages is a directory whose node_modules holds the framework: one of those
// that TOUCHSTONE_TEST_NODE_MODULES lists. It skips the test when there is none.
func packages(t *testing.T, framework string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	if framework == Node {
		return ""
	}
	for _, dir := range filepath.SplitList(os.Getenv("TOUCHSTONE_TEST_NODE_MODULES")) {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", framework, "package.json")); err == nil {
			return dir
		}
	}
	t.Skipf("no directory of TOUCHSTONE_TEST_NODE_MODULES has %s in its node_modules", framework)
	return ""
}

func link(t *testing.T, modules, dir string) {
	t.Helper()
	if modules == "" {
		return
	}
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}
