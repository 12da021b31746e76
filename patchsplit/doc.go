// Package patchsplit puts every change of a patch into exactly one part:
// production, test, or neutral (documentation, licence, CI that no test can
// see). It works on a list of changed paths and two trees ([Split]), or on the
// text of a diff ([Parse], [Patch.Split]).
//
// Goals: a part that is right in every ecosystem and says why in words;
// evidence before convention (the repository's configuration, then what the
// test framework collects, then names, then who uses a file); files with tests of
// their own by hunk ([OnlyPart]); a diff that is
// damaged or hostile is an error, never a short result; printing what was
// parsed gives the same bytes.
//
// Non-goals: reading the disk or running anything (trees are handed in), and
// repairing broken diffs. Applying patches is left to git; making the states of
// the code is done from blobs, not from the patches printed here.
package patchsplit
