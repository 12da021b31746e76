package patchsplit

import (
	"slices"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// SameEdits tells whether two diffs remove and add the same lines of the same
// files, wherever in each file they stand. Only files that keep holds for are
// compared; nil keeps all. Binary changes are never the same.
func SameEdits(a, b *Patch, keep func(path string) bool) bool {
	one, binary := edits(a, keep)
	other, otherBinary := edits(b, keep)
	if binary || otherBinary || len(one) != len(other) || len(one) == 0 {
		return false
	}
	for path, lines := range one {
		if !slices.Equal(lines, other[path]) {
			return false
		}
	}
	return true
}

// edits are the lines that a diff removes and adds, in order, by file.
func edits(p *Patch, keep func(string) bool) (lines map[string][]string, binary bool) {
	lines = make(map[string][]string)
	for _, file := range p.Files {
		if keep != nil && !keep(file.Path) {
			continue
		}
		list := []string{file.Status.String(), file.OldPath}
		for _, fragment := range file.Fragments() {
			for _, line := range fragment.Lines {
				if line.Op != gitdiff.OpContext {
					list = append(list, line.Op.String()+line.Line)
				}
			}
		}
		if len(file.Fragments()) == 0 && file.Status == Modified && file.OldMode == file.NewMode {
			binary = true
		}
		lines[file.Path] = list
	}
	return lines, binary
}
