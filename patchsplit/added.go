package patchsplit

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// AddedLine is a line that a diff adds, with its number in the new file, from 1,
// and without its line break.
type AddedLine struct {
	Number int
	Text   string
}

// AddedLines are the lines that the diff adds to the file, in order.
func (f *File) AddedLines() []AddedLine {
	var lines []AddedLine
	for _, fragment := range f.Fragments() {
		at := int(fragment.NewPosition)
		for _, line := range fragment.Lines {
			if line.Op == gitdiff.OpAdd {
				lines = append(lines, AddedLine{at, strings.TrimSuffix(line.Line, "\n")})
			}
			if line.Op != gitdiff.OpDelete {
				at++
			}
		}
	}
	return lines
}

var functionName = lazyregexp.New(`\b(?:def|func|function|fn)\s+(?:\([^)]*\)\s*)?(\w+)`)

// Functions are the names of functions that the file's hunks stand in, by the
// words that git puts behind a hunk's numbers, or declare.
func (f *File) Functions() []string {
	var names []string
	for _, fragment := range f.Fragments() {
		texts := []string{fragment.Comment}
		for _, line := range fragment.Lines {
			texts = append(texts, line.Line)
		}
		for _, text := range texts {
			if match := functionName.FindStringSubmatch(text); match != nil {
				names = append(names, match[1])
			}
		}
	}
	return names
}
