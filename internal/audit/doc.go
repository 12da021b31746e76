// Package audit holds the statistics of random full-suite audits: the coin that
// says which change is audited, estimates and bounds of what selection misses,
// the rates to use next, corrected rewards, and a simulator of policies.
//
// Everything here is pure: no files, no clock, no network, no source of chance
// but the coin's key and, in the simulator, a seed. Records and their stores
// are in the packages below this one.
//
// Words: a group is a set of attempts at one task (a linked issue, a pull
// request with its later heads, a step of reinforcement learning). An attempt
// passes the cheap check or does not; a flip is an attempt that passes the cheap
// check and fails the full suite, confirmed. A probability is a whole number of
// parts per million, fixed before the coin is looked at. docs/statistics.md
// has the assumptions, the proofs and the limits.
package audit
