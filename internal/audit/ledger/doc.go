// Package ledger keeps audit records: append-only, hash-chained, in a file or on
// a git ref, as the same JSON lines everywhere. docs/ledger.md describes them.
//
// Every store gives the same promises: an append that returned is never lost; of
// one that was killed, each record is there whole or not at all; recording an id
// again changes nothing, so whoever is not sure may try again; writers in other
// processes may append at the same time.
//
// It does not judge: numbers are made in internal/audit. It runs no program:
// access to git comes in through the interface Branch.
package ledger
