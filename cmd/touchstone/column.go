package main

import (
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// column is a sandbox's state as the gate sees it: with its name and its tree.
type column struct {
	*sandbox.State
	name   gate.StateName
	tree   gate.Tree
	kind   string
	layers []string
}

func (c *column) Name() gate.StateName { return c.name }
func (c *column) Tree() gate.Tree      { return c.tree }

// Describe says how the state was made, for the report.
func (c *column) Describe() (string, []string, float64) {
	return c.kind, c.layers, c.Prepared().Seconds()
}

// view is the tree of a state as data.
func (s *states) view(name gate.StateName, changed map[string]git.Entry) (gate.Tree, error) {
	switch name {
	case gate.Base:
		return s.change.base, nil
	case gate.Head:
		return s.change.head, nil
	}
	tree := s.change.base
	if name == gate.HeadBaseTests || name == gate.HeadBaseInfra {
		tree = s.change.head
	}
	var paths []string
	for _, path := range tree.Paths() {
		if _, inUnion := slices.BinarySearch(s.union, path); !inUnion {
			paths = append(paths, path)
		}
	}
	paths = slices.AppendSeq(paths, maps.Keys(changed))
	slices.Sort(paths)
	return &patchedTree{s, tree, s.union, changed, paths}, nil
}

// patchedTree is base with some paths replaced.
type patchedTree struct {
	blobs   blobs
	base    *git.Tree
	union   []string // sorted; of these, changed alone speaks
	changed map[string]git.Entry
	paths   []string
}

func (t *patchedTree) Paths() []string { return t.paths }

func (t *patchedTree) ReadFile(path string) ([]byte, error) {
	if _, replaced := slices.BinarySearch(t.union, path); !replaced {
		return t.base.ReadFile(path)
	}
	entry, ok := t.changed[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if entry.Mode != git.ModeFile && entry.Mode != git.ModeExecutable {
		return nil, &fs.PathError{Op: "read", Path: path, Err: git.ErrNotRegular}
	}
	return t.blobs.Blob(entry.ID)
}

// blobs are contents by id.
type blobs interface {
	Blob(id string) ([]byte, error)
}

// SameTree tells whether two states differ in nothing that a test may see.
// Neutral files count as unseen, as the split says.
func (s *states) SameTree(parts []patchsplit.FilePart) func(a, b gate.StateName) bool {
	production := slices.ContainsFunc(parts, func(p patchsplit.FilePart) bool {
		return p.Part == patchsplit.Production || p.Part == patchsplit.Mixed
	})
	return func(a, b gate.StateName) bool {
		if a == b || maps.Equal(s.trees[a], s.trees[b]) {
			return true
		}
		head := func(name gate.StateName) bool { return name == gate.Head || name == gate.BaseTests }
		return !production && head(a) == head(b)
	}
}

// Close ends every state and removes the staged files.
func (s *states) Close() {
	for _, state := range s.open {
		state.Close()
	}
	os.RemoveAll(s.staging)
}
