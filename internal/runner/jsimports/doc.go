// Package jsimports reads which modules sources of JavaScript and TypeScript ask
// for, with esbuild as the parser.
//
// esbuild is what most bundlers of today parse with; it reads every dialect
// that test frameworks transform, reports require, import and import() from the
// syntax tree, and is a Go library. It would resolve names on disk too; here
// trees are read that lie on no disk, so it is asked only what stands in a source.
//
// Goals: every name that a source asks for, types included; what cannot be told
// is said. Non-goals: which file a name means (that depends on a tree).
package jsimports
