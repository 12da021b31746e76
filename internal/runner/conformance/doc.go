// Package conformance runs a framework's runner over a small repository in which
// each of the same 25 situations has one right answer. Adding a framework is
// adding a repository and a test of one line. For tests only.
//
// A repository is a txtar archive or a directory, in testdata/conformance of the
// runner's package. README.md here says how it is written.
package conformance
