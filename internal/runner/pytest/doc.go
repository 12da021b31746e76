// Package pytest runs pytest and says what was observed of each test.
//
// The witness is a plugin of ours (folder observer), carried in the binary and
// loaded from outside the tree. It reports over a channel of its own, as JSON
// lines; nothing that pytest prints is read for a verdict.
//
// Goals: rows that are the same on every state; reasons told apart (the test's
// own assertion, an exception of the code under test, an import, a fixture);
// names that were not found handed on; a file that cannot be collected, a
// conftest that cannot be imported or a test that kills the process takes no
// other row with it.
//
// Non-goals: judging (that is the gate's), coverage, installing anything,
// writing anything to disk.
package pytest
