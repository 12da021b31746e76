// Package rts is regression test selection: a change, the facts about a
// repository and a strategy in, the rows that the change can break out, each
// with its reasons.
//
// Facts come from two sides. Static ones (Graph) are read from the trees of
// base and of head: who imports whom. Observed ones (Map) were recorded while
// the rows ran on an older commit: what each loaded, executed, opened, listed.
// What lies between that commit and base is one more change.
//
// The laws, which law_test.go checks:
//
//   - a selector that cannot tell selects everything, and says why;
//   - more change never selects less, and two changes together select at least
//     what each selects alone;
//   - a rename is a deletion and an addition;
//   - taking what is known of a row away never takes the row away.
//
// Goals: nothing that a change breaks is left out; as little else as can be.
// Non-goals: running anything, reading files, knowing frameworks, predicting by
// training. Only the standard library is imported.
package rts
