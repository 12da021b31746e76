package patchsplit

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Large diffs are worked on by all processors. What comes out is what one would
// have made of it; whatever is not certain to be that is left to one.

const (
	minPiece  = 64 << 10 // bytes of a diff that are worth a goroutine
	minPlaced = 32       // files that are
	perCore   = 16       // pieces, so that one that takes long keeps nobody waiting
)

// sideBySide does so many pieces of work, each once, and returns when all are
// done.
func sideBySide(pieces int, do func(piece int)) {
	var taken atomic.Int64
	work := func() {
		for piece := int(taken.Add(1)) - 1; piece < pieces; piece = int(taken.Add(1)) - 1 {
			do(piece)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), pieces) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// pieceCount is into how many pieces to cut work of a size, 1 for not at all.
func pieceCount(size, least int) int {
	cores := runtime.GOMAXPROCS(0)
	if cores == 1 {
		return 1
	}
	return max(1, min(cores*perCore, size/least))
}

// parsePieces reads a diff in at most so many pieces. Its result is the one that a
// reading from start to end would give; ok is false when there may be another, and
// then nothing is known: the diff is damaged, over a limit, or cannot be cut.
//
// A piece begins with a line "diff --git ". Where a reading from the start is
// outside a hunk and outside binary data, such a line always begins a section, and
// what follows does not depend on what came before. Inside them, the piece that
// ends there was cut short, which is an error.
func parsePieces(data string, most int) (patch *Patch, ok bool) {
	pieces := cutPieces(data, most)
	if len(pieces) < 2 {
		return nil, false
	}
	read := make([]scanner, len(pieces))
	patches := make([]*Patch, len(pieces))
	sideBySide(len(pieces), func(i int) {
		read[i] = scanner{data: pieces[i], line: 1}
		patches[i], _ = read[i].patch()
	})
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
	files, inflated := 0, int64(0)
	for i, patch := range patches {
		if patch == nil {
			return nil, false
		}
		files += len(patch.Files)
		inflated += read[i].inflated
	}
	if files > maxFiles || inflated > maxInflated {
		return nil, false
	}
	whole := &Patch{Files: make([]*File, 0, files)}
	lines := 0
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

// each does what has to be done for each of so many files. Where names alone
// decide, every piece of them has a classifier of its own.
func (c *Classifier) each(files int, do func(c *Classifier, file int)) {
	pieces := 1
	if c.base.tree == nil && c.head.tree == nil {
		pieces = pieceCount(files, minPlaced)
	}
	sideBySide(pieces, func(piece int) {
		own := c
		if pieces > 1 {
			own = newClassifier(c.globs, nil, nil)
		}
		for i := piece * files / pieces; i < (piece+1)*files/pieces; i++ {
			do(own, i)
		}
	})
}
