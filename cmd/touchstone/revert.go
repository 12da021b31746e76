package main

import (
	"bytes"
	"context"

	"github.com/touchstone-gate/touchstone/patchsplit"
)

// takesBack tells whether the change is the revert that its message says it is:
// its production and test parts undo, line by line, one commit that base holds.
// What the message says alone proves nothing.
func takesBack(ctx context.Context, c *change, classifier *patchsplit.Classifier) bool {
	if c.headCommit == "" {
		return false
	}
	commits, err := c.repo.Reverted(ctx, c.info.Base, c.headCommit)
	if err != nil || len(commits) != 1 {
		return false
	}
	now, err := readPatch(ctx, c, c.baseTree, c.headTree)
	if err != nil {
		return false
	}
	undone, err := readPatch(ctx, c, commits[0], commits[0]+"^")
	if err != nil {
		return false
	}
	return patchsplit.SameEdits(now, undone, func(path string) bool { return classifier.File(path).Part != patchsplit.Neutral })
}

func readPatch(ctx context.Context, c *change, from, to string) (*patchsplit.Patch, error) {
	text, err := c.repo.Patch(ctx, from, to)
	if err != nil {
		return nil, err
	}
	return patchsplit.Parse(bytes.NewReader(text))
}
