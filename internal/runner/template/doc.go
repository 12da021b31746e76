// Package template runs any test command that can write JUnit XML or TAP, and
// reads what it wrote.
//
// The command is a template: {files} stands for the test files, {rows} for the
// rows, one argument each. The report is read from files of the tree or from
// standard output, in one pass and bounded memory.
//
// Goals: tolerant of reports as tools really write them (nested suites, several
// documents, absent class names, invalid characters, repeated names); strict
// about emptiness and about an exit status that contradicts the report.
//
// Non-goals: knowing any framework; telling a missing symbol by anything but
// the words of well-known compilers and interpreters.
package template
