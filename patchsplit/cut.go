package patchsplit

import (
	"fmt"
	"slices"
	"strings"
)

// document is what a diff tells of one text file's two versions: whole when
// the diff or base's tree gives all of it, else a block for each hunk.
type document struct {
	blocks []block
	whole  bool
}

// block is a run of lines of both versions with its differences. Line i of old
// is line oldAt+i of the file, both counted from 0; edits count within the block.
type block struct {
	oldAt, newAt int
	old, new     []sourceLine
	edits        []edit
	heading      string // of a hunk alone: what git says it stands in
}

// pieces lists the changes of one part as hunks that can be applied whether or
// not the other part has been: their context never holds a line that the other
// part changes.
func (d document) pieces(test bool, context int) []hunkText {
	var hunks []hunkText
	shift := 0 // lines that this part's earlier hunks added
	for _, b := range d.blocks {
		for i := 0; i < len(b.edits); i++ {
			if b.edits[i].test != test {
				continue
			}
			last := i
			for last+1 < len(b.edits) && b.edits[last+1].test == test && b.edits[last+1].oldFrom-b.edits[last].oldTo <= 2*context {
				last++
			}
			h := b.hunk(i, last, context, shift)
			shift += h.newLines - h.oldLines
			hunks = append(hunks, h)
			i = last
		}
	}
	return hunks
}

// hunkText is a hunk as it is printed. Starts are counted from 0.
type hunkText struct {
	oldAt, oldLines, newAt, newLines int
	lines                            []string // each with its mark, ' ', '-' or '+'
}

// hunk puts the edits from first to last into one hunk, with as much context as
// there is up to the neighbouring edits.
func (b block) hunk(first, last, context, shift int) hunkText {
	from, to := b.edits[first].oldFrom, b.edits[last].oldTo
	low, high := 0, len(b.old)
	if first > 0 {
		low = b.edits[first-1].oldTo
	}
	if last+1 < len(b.edits) {
		high = b.edits[last+1].oldFrom
	}
	at := max(low, from-context)
	h := hunkText{oldAt: b.oldAt + at, newAt: b.oldAt + at + shift}
	for _, e := range b.edits[first : last+1] {
		h.add(' ', b.old[at:e.oldFrom])
		h.add('-', b.old[e.oldFrom:e.oldTo])
		h.add('+', b.new[e.newFrom:e.newTo])
		at = e.oldTo
	}
	h.add(' ', b.old[at:min(high, to+context)])
	return h
}

func (h *hunkText) add(mark byte, lines []sourceLine) {
	for _, line := range lines {
		h.lines = append(h.lines, string(mark)+line.text)
	}
	if mark != '+' {
		h.oldLines += len(lines)
	}
	if mark != '-' {
		h.newLines += len(lines)
	}
}

func (h hunkText) write(out *strings.Builder) {
	start := func(at, lines int) int {
		if lines == 0 {
			return at
		}
		return at + 1
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start(h.oldAt, h.oldLines), h.oldLines, start(h.newAt, h.newLines), h.newLines)
	for _, line := range h.lines {
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// side returns the lines of one side of a hunk: what it looks for, '-', or what
// it leaves, '+'.
func (h hunkText) side(mark byte) []string {
	var lines []string
	for _, line := range h.lines {
		if line[0] == ' ' || line[0] == mark {
			lines = append(lines, line[1:])
		}
	}
	return lines
}

// apply does what git apply --unidiff-zero does with hunks: each is looked for
// at its new line and, further and further, below and above it.
func apply(text []string, hunks []hunkText) ([]string, bool) {
	for _, h := range hunks {
		before := h.side('-')
		at, ok := place(text, before, h)
		if !ok {
			return nil, false
		}
		text = slices.Concat(text[:at], h.side('+'), text[at+len(before):])
	}
	return text, true
}

func place(text, lines []string, h hunkText) (int, bool) {
	fits := func(at int) bool {
		return at >= 0 && at+len(lines) <= len(text) && slices.Equal(text[at:at+len(lines)], lines)
	}
	start := h.newAt
	if h.newLines == 0 {
		start = max(0, start-1)
	}
	start = min(start, len(text))
	if h.oldAt == 0 && h.oldLines == 0 {
		return 0, true
	}
	for distance := 0; distance <= len(text); distance++ {
		if fits(start + distance) {
			return start + distance, true
		}
		if fits(start - distance) {
			return start - distance, true
		}
	}
	return 0, false
}

// text is one version of a document as lines. What lies between the blocks is
// not known: a line that stands nowhere else takes its place.
func (d document) text(side func(block) (at int, lines []sourceLine)) []string {
	var text []string
	for i, b := range d.blocks {
		at, lines := side(b)
		for n := 0; len(text) < at; n++ {
			text = append(text, fmt.Sprintf("\x00%d.%d\n", i, n))
		}
		for _, line := range lines {
			text = append(text, line.text)
		}
	}
	if !d.whole && joined(text) {
		text = append(text, "\x00end\n")
	}
	return text
}

func oldSide(b block) (at int, lines []sourceLine) { return b.oldAt, b.old }

func newSide(b block) (at int, lines []sourceLine) { return b.newAt, b.new }

// apart finds hunks for the two parts that give the whole in either order, with
// more context if need be; ok is false when there are none.
func (d document) apart() (production, test []hunkText, ok bool) {
	base, head := d.text(oldSide), d.text(newSide)
	for _, context := range []int{3, 8, 30} {
		production, test = d.pieces(false, context), d.pieces(true, context)
		for range 2 {
			if d.held(production) && d.held(test) && agree(base, head, production, test) && agree(base, head, test, production) {
				return production, test, true
			}
			d.pinAtEnd(production, len(base), len(head))
			d.pinAtEnd(test, len(base), len(head))
		}
	}
	return nil, nil, false
}

// held holds when hunks have a context to hold on to. Of a whole file it is known
// that they are found in their place; of a hunk alone, its context has to do.
func (d document) held(hunks []hunkText) bool {
	return d.whole || !slices.ContainsFunc(hunks, func(h hunkText) bool {
		return !slices.ContainsFunc(h.lines, func(line string) bool { return line[0] == ' ' })
	})
}

func agree(base, head []string, first, second []hunkText) bool {
	text, ok := apply(base, first)
	if !ok || len(text) > 0 && !joined(text[:len(text)-1]) {
		return false
	}
	text, ok = apply(text, second)
	return ok && slices.Equal(text, head)
}

// joined holds when every line has its line break.
func joined(lines []string) bool {
	for _, line := range lines {
		if !strings.HasSuffix(line, "\n") {
			return false
		}
	}
	return true
}

// pinAtEnd gives an addition at the end of the file that has nothing to hold on
// to the place that it has in head: whoever applies it cuts that to the end of
// what is there.
func (d document) pinAtEnd(hunks []hunkText, base, head int) {
	for i := range hunks {
		if h := &hunks[i]; d.whole && h.oldLines == 0 && h.oldAt == base {
			h.newAt = head - h.newLines
		}
	}
}
