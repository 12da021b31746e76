package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	setups  *setups
	open    []*sandbox.State
}

// newStates plans the states. Every state writes the union of the paths in
// which any of them differs from the work tree, so that none of them can be
// told by which files look freshly written.
func newStates(ctx context.Context, c *change, parts []patchsplit.FilePart, box *sandbox.Sandbox) (*states, error) {
	staging, err := os.MkdirTemp("", "touchstone-files-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the states' files: %w", err)
	}
	s := &states{change: c, sandbox: box, staging: staging, trees: make(map[gate.StateName]map[string]git.Entry)}
	if s.union, err = unionPaths(ctx, c); err != nil {
		return nil, err
	}
	s.trees[gate.Base] = pick(c.base, s.union)
	s.trees[gate.Head] = pick(c.head, s.union)
	s.trees[gate.BaseTests] = withTests(s.trees[gate.Base], s.trees[gate.Head], parts)
	return s, s.stage(ctx)
}

func unionPaths(ctx context.Context, c *change) ([]string, error) {
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

// withTests is base with the test part of the change.
func withTests(base, head map[string]git.Entry, parts []patchsplit.FilePart) map[string]git.Entry {
	tree := make(map[string]git.Entry, len(base))
	for path, entry := range base {
		tree[path] = entry
	}
	for _, part := range parts {
		if part.Part != patchsplit.Test {
			continue
		}
		if part.Status == patchsplit.Renamed {
			delete(tree, part.OldPath)
		}
		delete(tree, part.Path)
		if entry, ok := head[part.Path]; ok && part.Status != patchsplit.Deleted {
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
	tree, ok := s.trees[name]
	if !ok {
		return nil, fmt.Errorf("there is no state %q", name)
	}
	layer, err := s.layer(ctx, name)
	if err != nil {
		return nil, err
	}
	state, err := s.sandbox.StateOn(ctx, layer, s.files(name))
	if err != nil {
		return nil, err
	}
	s.open = append(s.open, state)
	view, err := s.view(name, tree)
	if err != nil {
		return nil, err
	}
	return &column{State: state, name: name, tree: view, kind: s.sandbox.Kind(), layers: s.sandbox.Layers()}, nil
}

// files are what a state has otherwise than the disk.
func (s *states) files(name gate.StateName) []sandbox.File {
	files := make([]sandbox.File, len(s.union))
	for i, path := range s.union {
		files[i].Path = path
		if entry, ok := s.trees[name][path]; ok {
			files[i].Mode, files[i].Blob = entry.Mode, filepath.Join(s.staging, entry.ID)
		}
	}
	return files
}
