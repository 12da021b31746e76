// Package ctest builds a CMake project in the state's own home and runs its tests
// by ctest: GoogleTest, Catch2 and doctest cases where the build has them
// discovered, else programs as a whole.
//
// Units are test sources. Rows have ctest's names. Test code that does not
// compile is taken out where the compiler says, and the rest built again.
//
// Invariants: the work tree's own build directories are not used; a whole program
// whose source was taken apart is never run for what is left of it.
//
// Non-goals: other build systems; installing dependencies.
package ctest
