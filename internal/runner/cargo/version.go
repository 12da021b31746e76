package cargo

import (
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
)

// Version asks cargo which it is.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: append(slices.Clone(r.tool), "--version"), Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
}
