// Package javascript runs the test frameworks of JavaScript and TypeScript
// (jest, vitest, mocha, node:test, ava) and says what was observed of each test.
//
// The witnesses are reporters of ours (folder observer), carried in the binary
// and loaded from outside the tree; the repository needs no new dependency.
// They report as JSON lines over a channel of their own; nothing that a
// framework prints is read for a verdict.
//
// Goals: the suite runs the way the repository's own script runs it; rows that
// are the same on every state; reasons told apart; names that were not found
// handed on; a file that does not load or a test that kills its process takes
// no other row with it; what the tests need built is built on every state.
//
// Non-goals: judging (that is the gate's), coverage, installing packages,
// browsers.
package javascript
