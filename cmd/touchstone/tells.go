package main

import (
	"context"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/tells"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// readTells reads the lines that the change adds to its test part, and to production
// code those that ask for tests. A patch that
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
			for _, name := range file.Functions() {
				edited[name] = true
			}
		}
	}
	var found []gate.Finding
	for _, file := range patch.Files {
		switch part[file.Path] {
		case patchsplit.Test:
			found = append(found, tells.Find(file.Path, added(file), edited)...)
		case patchsplit.Production, patchsplit.Mixed:
			found = append(found, tells.FindInProduct(file.Path, added(file))...)
		}
	}
	return found
}

func added(file *patchsplit.File) []tells.Line {
	var lines []tells.Line
	for _, line := range file.AddedLines() {
		lines = append(lines, tells.Line(line))
	}
	return lines
}
