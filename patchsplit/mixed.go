package patchsplit

import (
	"bytes"
	"fmt"
	"strings"
)

// mixed takes a changed production file apart when it holds test code of its
// own. A file of which only test code changed is test, of which both did is
// Mixed with its hunks.
func (c *Classifier) mixed(change FileChange, d Decision) FilePart {
	whole := FilePart{FileChange: change, Decision: d}
	if d.Part != Production || change.Binary || !holdsTests(change.Path) || d.Class == ClassVendored {
		return whole
	}
	old, new, ok := c.versions(change)
	if !ok {
		return whole
	}
	return takeApart(whole, old, new, c.inlineTests)
}

// takeApart is mixed with the two versions at hand; nil is one that does not
// exist.
func takeApart(whole FilePart, old, new []byte, tests func(path string, source []byte) regions) FilePart {
	oldPath := whole.Path
	if whole.OldPath != "" {
		oldPath = whole.OldPath
	}
	edits, kind := editsOf(old, new, tests(oldPath, old), tests(whole.Path, new))
	if kind == "" {
		return whole
	}
	return whole.divide(edits, kind)
}

// divide gives the part that a file's edits make it, and its hunks.
func (f FilePart) divide(edits []edit, kind string) FilePart {
	production := f.Status == Renamed || f.Status == Copied || f.OldMode != f.NewMode && f.Status == Modified
	for _, e := range edits {
		f.Hunks = append(f.Hunks, e.hunk())
		production = production || !e.test
	}
	if !production {
		f.Hunks = nil
		f.Decision = Decision{Part: Test, Class: f.Class, Why: fmt.Sprintf("only test code in it changed: %s", kind)}
		return f
	}
	f.Decision = Decision{Part: Mixed, Class: f.Class, Why: fmt.Sprintf("production code and test code of its own: %s", kind)}
	return f
}

// versions reads a change's two contents, nil for one that does not exist. ok
// is false when one that should exist cannot be read whole.
func (c *Classifier) versions(change FileChange) (old, new []byte, ok bool) {
	before := change.Path
	if change.Status == Renamed || change.Status == Copied {
		before = change.OldPath
	}
	ok = true
	read := func(tree *view, path string) []byte {
		data := tree.content(path)
		ok = ok && tree.has(path) && len(data) < maxRead && bytes.IndexByte(data, 0) < 0
		return append([]byte{}, data...)
	}
	if change.Status != Added && change.Status != Copied {
		old = read(c.base, before)
	}
	if change.Status != Deleted {
		new = read(c.head, change.Path)
	}
	return old, new, ok
}

// editsOf compares two versions of a file by part; kind names the test code
// that changed, "" for none.
func editsOf(old, new []byte, was, is regions) (edits []edit, kind string) {
	if len(was)+len(is) == 0 {
		return nil, ""
	}
	for {
		before, after := linesOf(old, was), linesOf(new, is)
		edits = compare(before, after)
		standing := func(r regions, side func(edit) (from, to int)) regions { return r.standing(edits, side) }
		oldStanding := standing(was, func(e edit) (int, int) { return e.oldFrom, e.oldTo })
		newStanding := standing(is, func(e edit) (int, int) { return e.newFrom, e.newTo })
		if len(oldStanding) == len(was) && len(newStanding) == len(is) {
			joinBlanks(before, after, edits)
			break
		}
		was, is = oldStanding, newStanding
	}
	var kinds []string
	for _, e := range edits {
		if e.test {
			kinds = appendNew(kinds, e.kind(was, is))
		}
	}
	return edits, strings.Join(kinds, ", ")
}

// standing leaves out the tests that hang on a line which only one version
// has: an example in the documentation of a new function comes and goes with
// the function.
func (r regions) standing(edits []edit, side func(edit) (from, to int)) regions {
	var kept regions
	for _, x := range r {
		alone := x.subject >= 0
		for _, e := range edits {
			if from, to := side(e); alone && from <= x.subject && x.subject < to {
				alone = false
			}
		}
		if x.subject < 0 || alone {
			kept = append(kept, x)
		}
	}
	return kept
}

// joinBlanks puts edits of blank lines with the tests where nothing else of the
// production code changes: a line between two tests is nobody's.
func joinBlanks(before, after []sourceLine, edits []edit) {
	blank := func(e edit) bool {
		for _, line := range append(before[e.oldFrom:e.oldTo:e.oldTo], after[e.newFrom:e.newTo]...) {
			if len(bytes.TrimSpace([]byte(line.text))) > 0 {
				return false
			}
		}
		return true
	}
	for _, e := range edits {
		if !e.test && !blank(e) {
			return
		}
	}
	for i := range edits {
		edits[i].test = true
	}
}

func (e edit) kind(was, is regions) string {
	if r := is.at(e.newFrom); r != nil && e.newTo > e.newFrom {
		return r.kind
	}
	if r := was.at(e.oldFrom); r != nil {
		return r.kind
	}
	return ""
}

// hunk counts as a unified diff does: a side without lines stands at the line
// before it.
func (e edit) hunk() Hunk {
	h := Hunk{OldStart: e.oldFrom + 1, OldLines: e.oldTo - e.oldFrom, NewStart: e.newFrom + 1, NewLines: e.newTo - e.newFrom, Part: Production}
	if h.OldLines == 0 {
		h.OldStart--
	}
	if h.NewLines == 0 {
		h.NewStart--
	}
	if e.test {
		h.Part = Test
	}
	return h
}

func (h Hunk) edit() edit {
	e := edit{oldFrom: h.OldStart - 1, newFrom: h.NewStart - 1, test: h.Part == Test}
	if h.OldLines == 0 {
		e.oldFrom++
	}
	if h.NewLines == 0 {
		e.newFrom++
	}
	e.oldTo, e.newTo = e.oldFrom+h.OldLines, e.newFrom+h.NewLines
	return e
}

// OnlyPart is a version of a mixed file that takes the hunks of one part and
// leaves the others: from base's old and head's new content, base with the test
// part of the change (Test), or with its production part (Production). The hunks
// are those that Split gave for these two contents; others are an error.
func OnlyPart(old, new []byte, hunks []Hunk, part Part) ([]byte, error) {
	before, after := linesOf(old, nil), linesOf(new, nil)
	var out bytes.Buffer
	write := func(lines []sourceLine) {
		for _, line := range lines {
			if text := out.Bytes(); len(text) > 0 && text[len(text)-1] != '\n' {
				out.WriteByte('\n') // a last line of either side that is no longer the last
			}
			out.WriteString(line.text)
		}
	}
	at := 0
	for _, h := range hunks {
		e := h.edit()
		if e.oldFrom < at || e.oldTo > len(before) || e.newFrom < 0 || e.newTo > len(after) {
			return nil, fmt.Errorf("taking a file apart: hunk -%d,%d +%d,%d does not fit its %d old and %d new lines", h.OldStart, h.OldLines, h.NewStart, h.NewLines, len(before), len(after))
		}
		write(before[at:e.oldFrom])
		if h.Part == part {
			write(after[e.newFrom:e.newTo])
		} else {
			write(before[e.oldFrom:e.oldTo])
		}
		at = e.oldTo
	}
	write(before[at:])
	return out.Bytes(), nil
}
