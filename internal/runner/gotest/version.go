package gotest

import "github.com/touchstone-gate/touchstone/gate"

// Version asks the go command which it is.
func (r *Runner) Version() gate.Command {
	return gate.Command{Argv: []string{r.Command[0], "version"}, Dir: r.Dir, Env: r.Env, Timeout: r.Timeout}
}
