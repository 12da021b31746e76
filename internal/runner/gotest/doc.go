// Package gotest runs Go tests and says what was observed of each.
//
// Run goes this way: parse the units' test sources; run them by one go test;
// read its events; blank what did not compile and build again; run again what a
// panic, an exit or a time limit kept from running; report.
//
// Goals: rows that are the same on every state (import/path.TestName/sub); the
// outcome from `go test -json` read as its event model, never from text where
// an event exists; a test that does not compile, panics or never ends does not
// take its package's other tests with it; names that the compiler did not find
// are handed on, so that the reader can tell a new symbol from a fault; exit
// status, events and sources must agree before a test counts as passed.
//
// Non-goals: judging (that is the gate's), coverage, benchmarks, fuzzing beyond
// the seeds, downloading modules.
package gotest
