// Package gotest runs Go tests and says what was observed of each.
//
// Goals: rows that are the same on every state (import/path.TestName/sub); the
// outcome from `go test -json` read as its event model, never from text where
// an event exists; a test that does not compile, panics or never ends does not
// take its package's other tests with it; names that the compiler did not find
// are handed on, so that the reader can tell a new symbol from a fault.
//
// Non-goals: judging (that is the gate's), coverage, benchmarks.
package gotest
