package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// attempt is another solution of the same task: a reference fix (peer 0) or the
// peer of that number.
type attempt struct {
	label string
	peer  int
	id    string // commit
	tree  *git.Tree
	parts []patchsplit.FilePart
}

// readAttempts resolves --gold and --peer. Each is what its commit changes since
// it left base, in the parts that base's rules put it.
func readAttempts(ctx context.Context, c *change, rules patchsplit.Rules, gold string, peers []string) ([]*attempt, error) {
	var list []*attempt
	if gold != "" {
		a, err := readAttempt(ctx, c, rules, gold)
		if err != nil {
			return nil, fmt.Errorf("--gold: %w", err)
		}
		c.info.Gold = &a.id
		list = append(list, a)
	}
	for i, rev := range peers {
		a, err := readAttempt(ctx, c, rules, rev)
		if err != nil {
			return nil, fmt.Errorf("--peer: %w", err)
		}
		a.peer = i + 1
		list = append(list, a)
	}
	return list, nil
}

func readAttempt(ctx context.Context, c *change, rules patchsplit.Rules, rev string) (*attempt, error) {
	a := &attempt{label: rev}
	var err error
	if number, pull := c.repo.PullNumber(ctx, rev); pull {
		a.label = "#" + number
		a.id, err = c.repo.Pull(ctx, number)
	} else {
		a.id, err = c.repo.Resolve(ctx, rev)
	}
	if err != nil {
		return nil, err
	}
	from, err := c.repo.MergeBase(ctx, c.info.Base, a.id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.label, err)
	}
	var trees [2]string
	for i, commit := range []string{from, a.id} {
		if trees[i], err = c.repo.TreeOf(ctx, commit); err != nil {
			return nil, err
		}
	}
	changes, err := c.repo.Changes(ctx, trees[0], trees[1])
	if err != nil {
		return nil, err
	}
	if a.tree, err = c.repo.Tree(ctx, trees[1]); err != nil {
		return nil, err
	}
	before, err := c.repo.Tree(ctx, trees[0])
	if err != nil {
		return nil, err
	}
	classifier, err := patchsplit.NewClassifier(rules, before, a.tree)
	if err != nil {
		return nil, err
	}
	a.parts = patchsplit.Split(fileChanges(changes), classifier)
	if from != c.info.Base && len(a.pathsOf(patchsplit.Production)) > 0 {
		return a, a.stale(ctx, c, trees[0])
	}
	return a, nil
}

// stale refuses an attempt whose files base has otherwise than where the attempt
// left it: put on base, they would undo what came in between.
func (a *attempt) stale(ctx context.Context, c *change, from string) error {
	since, err := c.repo.Differences(ctx, from, c.baseTree)
	if err != nil {
		return err
	}
	for _, path := range a.paths() {
		if slices.ContainsFunc(since, func(d git.Change) bool { return d.Path == path }) {
			return fmt.Errorf("%s changes %q, which base has otherwise than where %s left it: rebase it onto base", a.label, path, a.label)
		}
	}
	return nil
}

// pathsOf are the paths of one part, under their old and new names.
func (a *attempt) pathsOf(part patchsplit.Part) []string {
	var list []string
	for _, p := range a.parts {
		if p.Part != part {
			continue
		}
		list = append(list, p.Path)
		if p.OldPath != "" {
			list = append(list, p.OldPath)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// paths are those that the attempt's states take from it.
func (a *attempt) paths() []string {
	return slices.Concat(a.pathsOf(patchsplit.Production), a.pathsOf(patchsplit.Mixed), a.pathsOf(patchsplit.Test))
}

// attempts plans the states of the other solutions.
func (s *states) attempts(parts []patchsplit.FilePart, others []*attempt) {
	base, head := s.trees[gate.Base], s.trees[gate.Head]
	for _, a := range others {
		theirs := pick(a.tree, s.union)
		code := withPart(withPart(base, theirs, a.parts, patchsplit.Production), theirs, a.parts, patchsplit.Mixed)
		if a.peer == 0 {
			s.trees[gate.GoldTests] = withTests(code, head, parts)
			continue
		}
		s.trees[gate.PeerState(a.peer)] = withTests(code, head, parts)
		ours := withPart(withPart(base, head, parts, patchsplit.Production), head, parts, patchsplit.Mixed)
		s.trees[gate.PeerTests(a.peer)] = withPart(ours, theirs, a.parts, patchsplit.Test)
	}
}

// withPart is a tree with one part of a change taken from another tree.
func withPart(base, from map[string]git.Entry, parts []patchsplit.FilePart, want patchsplit.Part) map[string]git.Entry {
	var only []patchsplit.FilePart
	for _, part := range parts {
		if part.Part == want {
			part.Part = patchsplit.Test
			only = append(only, part)
		}
	}
	return withTests(base, from, only)
}
