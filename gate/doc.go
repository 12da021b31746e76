// Package gate is the decision: it fills the evidence matrix, reads it, and
// judges a change by it.
//
// A row of the matrix is a check, a column a state of the code, a cell what was
// observed when the row ran on that state. [Run] is the pipeline; the functions
// that choose rows (plan.go), read roles (roles.go, read.go) and decide
// (verdict.go) are pure, and not knowing never passes: every zero value is the
// undecided one.
//
// The package declares the small interfaces through which it meets the world
// (State, Runner, Tree) and starts no process, opens no file and knows no
// framework itself.
package gate
