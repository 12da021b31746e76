// Package ruby runs RSpec and minitest through a reporter of its own, which comes
// out of the binary and writes JSON lines to a channel of its own.
//
// Units are spec and test files. Rows are named by file and titles, since RSpec's
// own ids are positions, which another example moves.
//
// Invariants: nothing that a framework or a test prints is read; a row that began
// and did not end is the one that killed its process; a file that does not load
// is left out, and the others run.
//
// Non-goals: test-unit; starting servers; parallel workers, which would run rows
// in processes that report nothing.
package ruby
