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

// which prints the interpreter and its framework on one line.
const which = `import sys
try:
    import %[1]s as f
except ImportError as e:
    sys.exit(str(e))
version = getattr(f, "__version__", "") or sys.version.split()[0]
print("%[1]s", version + ", Python", sys.version.split()[0], "at", sys.executable)`

// Version asks the interpreter and the framework which they are.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: r.python("-c", fmt.Sprintf(which, r.Config.Framework)), Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
}

// Environment identifies the interpreter and the distributions that run the
// tests.
func (r *Runner) Environment(ctx context.Context, state gate.State) (string, error) {
	var out, said strings.Builder
	exit, err := state.Run(ctx, gate.Command{Argv: r.python("-c", about), Dir: r.Dir, Env: r.Env, Stdout: &out, Stderr: &said, Timeout: r.Timeout})
	if err != nil {
		return "", fmt.Errorf("asking the interpreter what it is: %w", err)
	}
	if exit.Code != 0 || out.Len() == 0 {
		return "", fmt.Errorf("asking the interpreter what it is: exit status %d: %s", exit.Code, clean(said.String()))
	}
	return out.String(), nil
}
