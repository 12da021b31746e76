// Package cargo runs the tests of Rust packages with cargo and says what was
// observed of each.
//
// Goals: one unit for each test target (the unit tests of a library or a
// program, a file of tests/, the documentation tests of one source); the list of
// a target and what it prints must agree with each other and with the exit
// status; exact rows; a test that kills its process takes no other with it; test
// code that does not compile is taken out by the compiler's own places, so that
// the rest of its target still runs, and the names that the compiler did not
// find are handed on; builds are kept between the runs of one state.
//
// Non-goals: judging (that is the gate's), coverage, benchmarks, fetching
// dependencies, nightly-only formats.
package cargo
