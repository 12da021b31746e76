package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// states makes the columns of the matrix: trees by parts of the change, shown
// at the work tree's path by the sandbox. Close removes what it made.
type states struct {
	change  *change
	sandbox *sandbox.Sandbox
	staging string
	trees   map[gate.StateName]map[string]git.Entry // only the paths of union
	union   []string                                // every path that any state or the disk has otherwise
	further                                         // what makes the states beyond the plain ones
	setups  *setups

	mu   sync.Mutex
	open []*sandbox.State
}

// newStates plans the states. Every state writes the union of the paths in
// which any of them differs from the work tree, so that none of them can be
// told by which files look freshly written.
func newStates(ctx context.Context, c *change, parts, steering []patchsplit.FilePart, box *sandbox.Sandbox, others ...*attempt) (*states, error) {
	staging, err := git.Scratch("files")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the states' files: %w", err)
	}
	s := &states{change: c, sandbox: box, staging: staging, trees: make(map[gate.StateName]map[string]git.Entry)}
	if s.union, err = unionPaths(ctx, c, others); err != nil {
		return nil, err
	}
	s.trees[gate.Base] = pick(c.base, s.union)
	s.trees[gate.Head] = pick(c.head, s.union)
	s.trees[gate.BaseTests] = withTests(s.trees[gate.Base], s.trees[gate.Head], parts)
	s.trees[gate.HeadBaseTests] = withTests(s.trees[gate.Head], s.trees[gate.Base], reversed(slices.Concat(parts, steering)))
	s.trees[gate.HeadBaseInfra] = withTests(s.trees[gate.Head], s.trees[gate.Base], reversed(steering))
	if err := errors.Join(s.mixInto(s.trees[gate.BaseTests], parts, patchsplit.Test), s.mixInto(s.trees[gate.HeadBaseTests], parts, patchsplit.Production)); err != nil {
		return nil, err
	}
	s.attempts(parts, others)
	return s, s.stage(ctx)
}

func unionPaths(ctx context.Context, c *change, others []*attempt) ([]string, error) {
	var union []string
	for _, pair := range [][2]string{{c.baseTree, c.headTree}, {c.diskTree, c.headTree}, {c.diskTree, c.baseTree}} {
		if pair[0] == pair[1] {
			continue
		}
		changes, err := c.repo.Differences(ctx, pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		for _, change := range changes {
			if change.OldMode != git.ModeSubmodule && change.NewMode != git.ModeSubmodule {
				union = append(union, change.Path)
			}
		}
	}
	for _, other := range others {
		union = append(union, other.paths()...)
	}
	slices.Sort(union)
	return slices.Compact(union), nil
}

// pick keeps the paths that the tree has.
func pick(tree *git.Tree, paths []string) map[string]git.Entry {
	picked := make(map[string]git.Entry)
	for _, path := range paths {
		if entry, ok := tree.Entry(path); ok {
			picked[path] = entry
		}
	}
	return picked
}

// reversed are the parts of the change that takes this one back.
func reversed(parts []patchsplit.FilePart) []patchsplit.FilePart {
	back := slices.Clone(parts)
	for i := range back {
		switch part := &back[i]; part.Status {
		case patchsplit.Added, patchsplit.Copied:
			part.Status, part.OldPath = patchsplit.Deleted, ""
		case patchsplit.Deleted:
			part.Status = patchsplit.Added
		case patchsplit.Renamed:
			part.Path, part.OldPath = part.OldPath, part.Path
		}
	}
	return back
}

// withTests is one side of the change with the other side's test part.
func withTests(side, other map[string]git.Entry, parts []patchsplit.FilePart) map[string]git.Entry {
	tree := maps.Clone(side)
	for _, part := range parts {
		if part.Part != patchsplit.Test {
			continue
		}
		if part.Status == patchsplit.Renamed {
			delete(tree, part.OldPath)
		}
		delete(tree, part.Path)
		if entry, ok := other[part.Path]; ok && part.Status != patchsplit.Deleted {
			tree[part.Path] = entry
		}
	}
	return tree
}

// stage writes every content that any state needs, once, named by its id.
func (s *states) stage(ctx context.Context) error {
	var ids []string
	for _, tree := range s.trees {
		for _, entry := range tree {
			ids = append(ids, entry.ID)
		}
	}
	slices.Sort(ids)
	return s.change.repo.Materialize(ctx, slices.Compact(ids), s.staging)
}

// Open makes one state ready.
func (s *states) Open(ctx context.Context, name gate.StateName) (gate.State, error) {
	if make := s.makers[name]; make != nil {
		return make(ctx)
	}
	tree, ok := s.trees[name]
	if !ok && s.hunks != nil {
		return s.without(ctx, name)
	}
	if !ok {
		return nil, fmt.Errorf("there is no state %q", name)
	}
	return s.shown(ctx, name, tree)
}

// shown is show for those that want any state.
func (s *states) shown(ctx context.Context, name gate.StateName, tree map[string]git.Entry) (gate.State, error) {
	c, err := s.show(ctx, name, tree)
	if err != nil {
		return nil, err // and no typed nil beside it
	}
	return c, nil
}

// show makes a state of a tree.
func (s *states) show(ctx context.Context, name gate.StateName, tree map[string]git.Entry) (*column, error) {
	layer, err := s.layer(ctx, tree)
	if err != nil {
		return nil, err
	}
	state, err := s.sandbox.StateOn(ctx, layer, s.files(tree))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.open = append(s.open, state)
	s.mu.Unlock()
	view, err := s.view(name, tree)
	if err != nil {
		return nil, err
	}
	return &column{State: state, name: name, tree: view, kind: s.sandbox.Kind(), layers: s.sandbox.Layers()}, nil
}

// files are what a state has otherwise than the disk.
func (s *states) files(tree map[string]git.Entry) []sandbox.File {
	files := make([]sandbox.File, len(s.union))
	for i, path := range s.union {
		files[i].Path = path
		if entry, ok := tree[path]; ok {
			files[i].Mode, files[i].Blob = entry.Mode, filepath.Join(s.staging, entry.ID)
		}
	}
	return files
}
