package patchsplit

import (
	"bytes"
	"slices"
)

// sourceLine is one line of a version of a mixed file. Its text keeps its line
// break, so that a last line without one is another line.
type sourceLine struct {
	text string
	test bool // lies in test code
}

// linesOf cuts a source into lines and marks those in test code.
func linesOf(source []byte, tests regions) []sourceLine {
	lines := make([]sourceLine, 0, bytes.Count(source, []byte("\n"))+1)
	for text := range bytes.Lines(source) {
		lines = append(lines, sourceLine{string(text), tests.holds(len(lines))})
	}
	return lines
}

// region is a run of lines that are test code, counted from 0, end excluded.
type region struct {
	from, to int
	kind     string // in words: "#[cfg(test)] mod"
	// subject is a line that the tests hang on and are broken without: the item
	// that a documentation test documents, the string that holds a doctest. -1
	// when they stand by themselves.
	subject int
}

// regions are in order and do not overlap.
type regions []region

func (r regions) holds(line int) bool { return r.at(line) != nil }

func (r regions) at(line int) *region {
	i, found := slices.BinarySearchFunc(r, line, func(x region, line int) int {
		switch {
		case x.to <= line:
			return -1
		case x.from > line:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &r[i]
}

// maxEdits bounds the work on two versions that have little in common. Beyond
// it what lies between their common ends counts as replaced.
const maxEdits = 1500

// edit is a run of lines that one version has and the other has otherwise:
// old[oldFrom:oldTo] became new[newFrom:newTo]. Counted from 0.
type edit struct {
	oldFrom, oldTo, newFrom, newTo int
	test                           bool
}

// compare lists what differs between two versions. Lines are the same only if
// they are the same in text and in being test code: so each edit is of one
// part, and a version that takes the edits of one part only has the production
// code of one side and the test code of the other, both whole.
func compare(old, new []sourceLine) []edit {
	from := 0
	for from < len(old) && from < len(new) && old[from] == new[from] {
		from++
	}
	oldTo, newTo := len(old), len(new)
	for oldTo > from && newTo > from && old[oldTo-1] == new[newTo-1] {
		oldTo--
		newTo--
	}
	var edits []edit
	gap := edit{oldFrom: from, newFrom: from}
	for _, same := range append(commonLines(old[from:oldTo], new[from:newTo]), [2]int{oldTo - from, newTo - from}) {
		gap.oldTo, gap.newTo = from+same[0], from+same[1]
		edits = append(edits, gap.byPart(old, new)...)
		gap = edit{oldFrom: gap.oldTo + 1, newFrom: gap.newTo + 1}
	}
	return edits
}

// commonLines returns the index pairs of a longest common subsequence, by
// Myers' greedy algorithm (An O(ND) Difference Algorithm and Its Variations,
// 1986); none when the versions need more than maxEdits edits.
func commonLines(old, new []sourceLine) [][2]int {
	most := min(len(old)+len(new), maxEdits)
	reach := make([]int, 2*most+3) // by diagonal: the furthest line of old
	at := func(k int) *int { return &reach[k+most+1] }
	var trail [][]int // reach before each step, diagonals -d-1 to d+1
	for d := 0; d <= most; d++ {
		trail = append(trail, slices.Clone(reach[most-d:most+d+3]))
		for k := -d; k <= d; k += 2 {
			x := *at(k - 1) + 1
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			}
			for x < len(old) && x-k < len(new) && old[x] == new[x-k] {
				x++
			}
			*at(k) = x
			if x >= len(old) && x-k >= len(new) {
				return retrace(trail, len(old), len(new))
			}
		}
	}
	return nil
}

// retrace walks back from the ends over the steps that led there.
func retrace(trail [][]int, x, y int) [][2]int {
	var pairs [][2]int
	for d := len(trail) - 1; d >= 0; d-- {
		before := func(k int) int { return trail[d][k+d+1] }
		k, fromX, fromY := x-y, 0, 0
		if d > 0 {
			via := k - 1
			if k == -d || k != d && before(k-1) < before(k+1) {
				via = k + 1
			}
			fromX, fromY = before(via), before(via)-via
		}
		for x > fromX && y > fromY {
			x--
			y--
			pairs = append(pairs, [2]int{x, y})
		}
		x, y = fromX, fromY
	}
	slices.Reverse(pairs)
	return pairs
}

// byPart cuts a gap between common lines at the borders of test code. Its runs
// of production and test lines alternate on either side; runs of one part that
// stand in the same turn replace each other.
func (e edit) byPart(old, new []sourceLine) []edit {
	var pieces []edit
	for e.oldFrom < e.oldTo || e.newFrom < e.newTo {
		piece := edit{oldFrom: e.oldFrom, oldTo: e.oldFrom, newFrom: e.newFrom, newTo: e.newFrom}
		piece.test = e.turn(old, new)
		for piece.oldTo < e.oldTo && old[piece.oldTo].test == piece.test {
			piece.oldTo++
		}
		for piece.newTo < e.newTo && new[piece.newTo].test == piece.test {
			piece.newTo++
		}
		e.oldFrom, e.newFrom = piece.oldTo, piece.newTo
		pieces = append(pieces, piece)
	}
	return pieces
}

// turn says which part comes next in a gap. Where the sides disagree, the side
// with more runs left goes first, so that the others can still meet.
func (e edit) turn(old, new []sourceLine) bool {
	switch {
	case e.oldFrom == e.oldTo:
		return new[e.newFrom].test
	case e.newFrom == e.newTo || runs(old[e.oldFrom:e.oldTo]) >= runs(new[e.newFrom:e.newTo]):
		return old[e.oldFrom].test
	}
	return new[e.newFrom].test
}

func runs(lines []sourceLine) int {
	n := 0
	for i := range lines {
		if i == 0 || lines[i].test != lines[i-1].test {
			n++
		}
	}
	return n
}
