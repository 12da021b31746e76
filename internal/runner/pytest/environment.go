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

// which prints the interpreter and its pytest on one line.
const which = `import sys, pytest
print("pytest", pytest.__version__ + ", Python", sys.version.split()[0], "at", sys.executable)`

// Version asks the interpreter and pytest which they are.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: r.python("-c", which), Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
}

// python is how the interpreter is started that runs pytest.
func (r *Runner) python(args ...string) []string {
	if len(r.Command) > 0 {
		return append([]string{r.Command[0]}, args...)
	}
	return append([]string{"sh", "-c", strings.ReplaceAll(find, `-m pytest "$@"`, `"$@"`), "sh", strings.Repeat("../", depth(r.Dir))}, args...)
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
