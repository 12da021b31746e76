// Package importtest holds the project's import arrows as one test: which
// package may know which. It has no other content.
package importtest
