// Package coverage keeps what rows were observed to do, so that selection can
// ask for the rows of one file, function or directory without reading the rest.
//
// A map is one file, written whole and never changed: a bbolt database (one
// file, no server, pure Go, pages read on demand) with one compressed bitmap of
// row numbers (roaring) for each thing. It belongs to one commit and to one
// environment; whoever opens it must compare both. Carrying a map forward to
// another commit is the selector's: see rts.Facts.Gap.
//
// A file that is damaged, of another schema or not there is an error, never an
// empty map.
package coverage
