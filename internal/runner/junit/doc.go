// Package junit reads test reports in JUnit's XML, in one pass and bounded
// memory, and knows the words in which well-known compilers and interpreters say
// that a name is not there.
//
// Goals: tolerant of what tools really write (nested suites, several documents,
// invalid characters, undeclared entities); strict about a report that breaks off.
//
// Non-goals: naming rows, which each runner does; writing reports.
package junit
