// Package braces reads the declarations of source files in languages whose blocks
// stand in braces (Java, Kotlin, C++, PHP, C#), without a compiler: where each
// begins and ends, its name, its annotations, what is inside it.
//
// It also takes declarations out of sources that do not compile, and keeps the
// rest in its place.
//
// Goals: never wrong about where a declaration ends in code that a compiler
// accepts; harmless where it does not.
//
// Non-goals: types, expressions, macros; knowing which declaration is a test.
package braces
