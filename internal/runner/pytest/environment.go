package pytest

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// about prints what an interpreter and what is installed with it are.
const about = `import sys
try:
    from importlib import metadata
    found = sorted({"%s %s" % (d.metadata["Name"], d.version) for d in metadata.distributions()})
except ImportError:
    found = []
print(sys.version, sys.platform, *found, sep="\n")`

// Environment identifies the interpreter and the distributions that run the
// tests.
func (r *Runner) Environment(ctx context.Context, state gate.State) (string, error) {
	argv := []string{"sh", "-c", strings.ReplaceAll(find, `-m pytest "$@"`, `"$@"`), "sh", strings.Repeat("../", depth(r.Dir)), "-c", about}
	if len(r.Command) > 0 {
		argv = []string{r.Command[0], "-c", about}
	}
	var out, said strings.Builder
	exit, err := state.Run(ctx, gate.Command{Argv: argv, Dir: r.Dir, Env: r.Env, Stdout: &out, Stderr: &said, Timeout: r.Timeout})
	if err != nil {
		return "", fmt.Errorf("asking the interpreter what it is: %w", err)
	}
	if exit.Code != 0 || out.Len() == 0 {
		return "", fmt.Errorf("asking the interpreter what it is: exit status %d: %s", exit.Code, clean(said.String()))
	}
	return out.String(), nil
}
