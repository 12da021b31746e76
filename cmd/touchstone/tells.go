package main

import (
	"context"
	"regexp"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/tells"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// readTells reads the lines that the change adds to its test part. A patch that
// cannot be had (too large) gives none: they decide nothing.
func readTells(ctx context.Context, c *change, parts []patchsplit.FilePart) []gate.Finding {
	patch, err := readPatch(ctx, c, c.baseTree, c.headTree)
	if err != nil {
		return nil
	}
	part := make(map[string]patchsplit.Part)
	for _, p := range parts {
		part[p.Path] = p.Part
	}
	edited := make(map[string]bool)
	for _, file := range patch.Files {
		if part[file.Path] == patchsplit.Production || part[file.Path] == patchsplit.Mixed {
			editedFunctions(file, edited)
		}
	}
	var found []gate.Finding
	for _, file := range patch.Files {
		if part[file.Path] == patchsplit.Test {
			found = append(found, tells.Find(file.Path, addedLines(file), edited)...)
		}
	}
	return found
}

func addedLines(file *patchsplit.File) []tells.Line {
	var lines []tells.Line
	for _, fragment := range file.Fragments {
		at := int(fragment.NewPosition)
		for _, line := range fragment.Lines {
			if line.Op == gitdiff.OpAdd {
				text := line.Line
				if n := len(text); n > 0 && text[n-1] == '\n' {
					text = text[:n-1]
				}
				lines = append(lines, tells.Line{Number: at, Text: text})
			}
			if line.Op != gitdiff.OpDelete {
				at++
			}
		}
	}
	return lines
}

var functionName = regexp.MustCompile(`\b(?:def|func|function|fn)\s+(?:\([^)]*\)\s*)?(\w+)`)

// editedFunctions adds the functions that a file's hunks stand in or declare.
func editedFunctions(file *patchsplit.File, names map[string]bool) {
	for _, fragment := range file.Fragments {
		texts := []string{fragment.Comment}
		for _, line := range fragment.Lines {
			texts = append(texts, line.Line)
		}
		for _, text := range texts {
			if match := functionName.FindStringSubmatch(text); match != nil {
				names[match[1]] = true
			}
		}
	}
}
