package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// worktree is what reports call a head that is no commit.
const worktree = "worktree"

// change is the pair of trees that is compared, with what git says about it.
type change struct {
	repo *git.Repo
	info gate.ChangeInfo

	base, head *git.Tree
	baseTree   string // tree ids
	headTree   string
	diskTree   string // what lies in the work tree
	files      []git.Change
	subjects   []string
	headCommit string // the commit of head, or the one the work tree stands on
}

// readChange resolves what is compared. Without names, base is the merge base
// with the default branch and head is the work tree.
func readChange(ctx context.Context, repo *git.Repo, baseRev, headRev string) (*change, error) {
	c := &change{repo: repo, info: gate.ChangeInfo{Head: worktree}}
	headCommit, err := c.readHead(ctx, headRev)
	if err != nil {
		return nil, err
	}
	c.headCommit = headCommit
	if err := c.readBase(ctx, baseRev, headCommit); err != nil {
		return nil, err
	}
	if c.files, err = repo.Changes(ctx, c.baseTree, c.headTree); err != nil {
		return nil, undecided(err)
	}
	if c.base, err = repo.Tree(ctx, c.baseTree); err != nil {
		return nil, undecided(err)
	}
	if c.head, err = repo.Tree(ctx, c.headTree); err != nil {
		return nil, undecided(err)
	}
	if c.subjects, err = repo.Subjects(ctx, c.info.Base, headCommit); err != nil {
		return nil, undecided(err)
	}
	return c, nil
}

func (c *change) readHead(ctx context.Context, rev string) (commit string, err error) {
	if rev != "" && rev != worktree {
		commit, err = c.repo.Resolve(ctx, rev)
		if errors.Is(err, git.ErrNoCommit) {
			return "", &exit{exitUsage, err}
		}
		if err != nil {
			return "", &exit{exitUsage, fmt.Errorf("--head: %w", err)}
		}
		c.info.Head = commit
		if c.headTree, err = c.repo.TreeOf(ctx, commit); err != nil {
			return "", undecided(err)
		}
	}
	if c.diskTree, err = c.repo.Snapshot(ctx, c.headTree != ""); err != nil {
		return "", undecided(err)
	}
	if c.headTree == "" {
		c.headTree = c.diskTree
		if commit, err = c.repo.Resolve(ctx, "HEAD"); err != nil {
			return "", &exit{exitUsage, err}
		}
	}
	return commit, nil
}

func (c *change) readBase(ctx context.Context, rev, headCommit string) error {
	if rev == "" {
		return c.findBase(ctx, headCommit)
	}
	commit, err := c.repo.Resolve(ctx, rev)
	if err != nil {
		return &exit{exitUsage, fmt.Errorf("--base: %w", err)}
	}
	c.info.Base = commit
	c.baseTree, err = c.repo.TreeOf(ctx, commit)
	return undecided(err)
}

// errNothing is the default branch itself, with nothing uncommitted.
var errNothing = errors.New("nothing to check")

// findBase takes the merge base with the default branch. When head stands on
// that branch itself and nothing is uncommitted, its last commit is the change.
func (c *change) findBase(ctx context.Context, headCommit string) error {
	branch, why, err := c.repo.DefaultBranch(ctx)
	if err != nil {
		return &exit{exitUsage, err}
	}
	tip, err := c.repo.Resolve(ctx, branch)
	if err != nil {
		return &exit{exitUsage, err}
	}
	if c.info.Base, err = c.repo.MergeBase(ctx, tip, headCommit); err != nil {
		return undecided(err)
	}
	c.info.BaseWhy = "merge base with " + why
	if c.baseTree, err = c.repo.TreeOf(ctx, c.info.Base); err != nil {
		return undecided(err)
	}
	if c.baseTree != c.headTree {
		return nil
	}
	return &exit{exitUsage, fmt.Errorf("%w: head and its merge base with %s (%s) are the same; commit or edit something, or compare with the commit before by --base HEAD~1", errNothing, strings.TrimPrefix(strings.TrimPrefix(branch, "refs/remotes/"), "refs/heads/"), c.info.Base[:12])}
}

// fileChanges is the change as patchsplit reads it.
func (c *change) fileChanges() []patchsplit.FileChange { return fileChanges(c.files) }

func fileChanges(files []git.Change) []patchsplit.FileChange {
	statuses := map[byte]patchsplit.Status{'A': patchsplit.Added, 'M': patchsplit.Modified, 'D': patchsplit.Deleted, 'R': patchsplit.Renamed, 'C': patchsplit.Copied, 'T': patchsplit.TypeChanged}
	changes := make([]patchsplit.FileChange, len(files))
	for i, file := range files {
		changes[i] = patchsplit.FileChange{Path: file.Path, Status: statuses[file.Status], OldMode: mode(file.OldMode), NewMode: mode(file.NewMode)}
		if file.Status == 'R' || file.Status == 'C' {
			changes[i].OldPath = file.OldPath
		}
	}
	return changes
}

func mode(m uint32) string {
	if m == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(m), 8)
}

// splitEntries writes the parts in the report's shape.
func splitEntries(parts []patchsplit.FilePart) []gate.SplitEntry {
	entries := make([]gate.SplitEntry, len(parts))
	for i, part := range parts {
		entries[i] = gate.SplitEntry{Path: part.Path, Part: part.Part.String(), Class: part.Class, Why: part.Why}
		if part.OldPath != "" {
			old := part.OldPath
			entries[i].OldPath = &old
		}
		for _, hunk := range part.Hunks {
			entries[i].Hunks = append(entries[i].Hunks, gate.SplitHunk{NewStart: hunk.NewStart, NewLines: hunk.NewLines, Part: hunk.Part.String()})
		}
	}
	return entries
}
