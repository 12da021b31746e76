package patchsplit

import (
	"runtime"
	"strings"
	"sync"
)

// minPiece is the size in bytes from which a piece of a diff is worth a goroutine.
const minPiece = 64 << 10

// parsePieces reads a large diff in pieces, side by side. Its result is the one
// that a reading from start to end would give; ok is false when there may be
// another, and then nothing is known: the diff is damaged, over a limit, or
// small.
//
// A piece begins with a line "diff --git ". Where a reading from the start is
// outside a hunk and outside binary data, such a line always begins a section, and
// what follows does not depend on what came before. Inside them, the piece that
// ends there was cut short, which is an error.
func parsePieces(data string) (patch *Patch, ok bool) {
	pieces := cutPieces(data, min(runtime.GOMAXPROCS(0), len(data)/minPiece))
	if len(pieces) < 2 {
		return nil, false
	}
	read := make([]scanner, len(pieces))
	patches := make([]*Patch, len(pieces))
	var all sync.WaitGroup
	for i, piece := range pieces {
		all.Go(func() {
			read[i] = scanner{data: piece, line: 1}
			patches[i], _ = read[i].patch()
		})
	}
	all.Wait()
	return joinPieces(read, patches)
}

// cutPieces cuts a diff before lines that begin with "diff --git ", into at most
// so many pieces of about the same size.
func cutPieces(data string, most int) []string {
	var pieces []string
	for ; most > 1; most-- {
		aim := len(data) / most
		at := strings.Index(data[aim:], "\ndiff --git ")
		if at < 0 {
			break
		}
		pieces = append(pieces, data[:aim+at+1])
		data = data[aim+at+1:]
	}
	return append(pieces, data)
}

// joinPieces puts together what was read in pieces, unless one of them, or all
// together, are for a reading from start to end to refuse.
func joinPieces(read []scanner, patches []*Patch) (*Patch, bool) {
	whole := new(Patch)
	lines, inflated, files := 0, int64(0), 0
	for i, patch := range patches {
		if patch == nil {
			return nil, false
		}
		inflated += read[i].inflated
		files += len(patch.Files)
	}
	if inflated > maxInflated || files > maxFiles {
		return nil, false
	}
	whole.Files = make([]*File, 0, files)
	for i, patch := range patches {
		for _, file := range patch.Files {
			file.Line += lines
		}
		if len(patch.Files) > 0 {
			patch.Files[0].lead = whole.tail + patch.Files[0].lead
		}
		whole.Files = append(whole.Files, patch.Files...)
		whole.tail = patch.tail
		lines += read[i].line - 1
	}
	return whole, true
}
