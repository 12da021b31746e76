// Package bridge writes Go sources with base's behaviour behind head's names: a
// package of base with the declarations that head adds standing in.
//
// Goals: every body that base has stays as it is; a body that base does not have
// ends the process with a mark when it is reached, whatever the check around it
// recovers or swallows; types, fields, constants and harmless variables keep
// head's declaration; positions of base's code do not move.
//
// Non-goals: it does not resolve types. A declaration that cannot stand on base
// is found by the compiler and left out by [Package.Build]'s caller, piece by
// piece.
package bridge
