// Package tells reads the lines that a change adds to tests for signs that a
// person should look at: skips, focus marks, assertions that cannot fail or
// whose failure is swallowed, mocks of the very code that changed, sleeps, looks
// at the surroundings; and those of production code for questions whether a test
// runs it.
//
// They are notes beside what running showed, and decide nothing: each has honest
// uses. A rule is one entry of the table in rules.go, with its section in
// docs/rules.md and its examples in tells_test.go. The package is pure.
package tells
