package patchsplit

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Run is a maximal run of changed lines of one file: Old stands where New does
// on the other side.
type Run struct {
	Path     string   // on head
	NewStart int      // first line of New, from 1; where lines were only taken away, that of what follows
	OldStart int      // the same of Old
	Old, New []string // lines with their ends
}

// Runs lists a file's changed lines without context, in order.
func (f *File) Runs() []Run {
	var runs []Run
	for _, fragment := range f.Fragments() {
		was, is := int(fragment.OldPosition), int(fragment.NewPosition)
		if fragment.OldLines == 0 {
			was++ // git names the line before
		}
		if fragment.NewLines == 0 {
			is++
		}
		var open *Run
		for _, line := range fragment.Lines {
			if line.Op == gitdiff.OpContext {
				if open != nil {
					runs, open = append(runs, *open), nil
				}
				was, is = was+1, is+1
				continue
			}
			if open == nil {
				open = &Run{Path: f.Path, NewStart: is, OldStart: was}
			}
			if line.Op == gitdiff.OpDelete {
				open.Old = append(open.Old, line.Line)
				was++
			} else {
				open.New = append(open.New, line.Line)
				is++
			}
		}
		if open != nil {
			runs = append(runs, *open)
		}
	}
	return runs
}

// Without is a source with some of its runs, in order, taken back.
func Without(source []byte, runs []Run) []byte {
	lines := strings.SplitAfter(string(source), "\n")
	var out strings.Builder
	at := 1
	for _, run := range runs {
		for ; at < run.NewStart && at <= len(lines); at++ {
			out.WriteString(lines[at-1])
		}
		out.WriteString(strings.Join(run.Old, ""))
		at += len(run.New)
	}
	for ; at <= len(lines); at++ {
		out.WriteString(lines[at-1])
	}
	return []byte(out.String())
}

// RunsOf lists the runs of one part of a mixed file, from base's old and head's
// new content and the hunks that Split gave for them.
func RunsOf(path string, old, new []byte, hunks []Hunk, part Part) []Run {
	before, after := strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(new), "\n")
	var runs []Run
	for _, h := range hunks {
		e := h.edit()
		if h.Part != part || e.oldTo > len(before) || e.newTo > len(after) {
			continue
		}
		runs = append(runs, Run{
			Path: path, OldStart: e.oldFrom + 1, NewStart: e.newFrom + 1,
			Old: before[e.oldFrom:e.oldTo], New: after[e.newFrom:e.newTo],
		})
	}
	return runs
}
