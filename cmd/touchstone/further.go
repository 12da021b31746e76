package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// further makes the states beyond the plain ones, from the same blobs and from
// contents of our own making.
type further struct {
	makers map[gate.StateName]func(context.Context) (gate.State, error)
	hunks  func(gate.StateName) (files map[string][]byte, ok bool) // what head's files become without the groups of a state
	made   sync.Map                                                // id -> []byte
}

// maker registers how a state is made when it is asked for.
func (f *further) maker(name gate.StateName, make func(context.Context) (gate.State, error)) {
	if f.makers == nil {
		f.makers = map[gate.StateName]func(context.Context) (gate.State, error){}
	}
	f.makers[name] = make
}

// Blob returns a content of our own making, or the repository's.
func (s *states) Blob(id string) ([]byte, error) {
	if content, ok := s.made.Load(id); ok {
		return content.([]byte), nil
	}
	return s.change.repo.Blob(id)
}

// derive is a tree with some files replaced; nil content takes a file away.
// Every path must be one that the states write anyway, so that none of them can
// be told by it.
func (s *states) derive(from map[string]git.Entry, files map[string][]byte) (map[string]git.Entry, error) {
	tree := maps.Clone(from)
	for path, content := range files {
		if _, in := slices.BinarySearch(s.union, path); !in {
			return nil, fmt.Errorf("%q is not among the files of the change", path)
		}
		if content == nil {
			delete(tree, path)
			continue
		}
		entry, ok := tree[path]
		if !ok {
			entry = git.Entry{Path: path, Mode: s.modeOf(path)}
		}
		sum := sha256.Sum256(content)
		entry.ID = "made-" + hex.EncodeToString(sum[:])
		if _, known := s.made.LoadOrStore(entry.ID, content); !known {
			if err := os.WriteFile(filepath.Join(s.staging, entry.ID), content, 0o644); err != nil {
				return nil, fmt.Errorf("writing a file of a state: %w", err)
			}
		}
		tree[path] = entry
	}
	return tree, nil
}

// modeOf is a file's mode on head, else on base.
func (s *states) modeOf(path string) uint32 {
	for _, side := range []gate.StateName{gate.Head, gate.Base} {
		if entry, ok := s.trees[side][path]; ok {
			return entry.Mode
		}
	}
	return git.ModeFile
}

// furtherOf says which further questions there are, and registers their states.
func (s *states) furtherOf(ctx context.Context, o checkOptions, parts []patchsplit.FilePart, found *runners, others []*attempt) (gate.Further, error) {
	f := gate.Further{Gold: o.gold != "", Budget: o.budget}
	for _, other := range others {
		if other.peer > 0 {
			f.Peers = append(f.Peers, gate.Peer{Label: other.label, Tests: other.pathsOf(patchsplit.Test)})
		}
	}
	if o.budget < 0 {
		return f, nil
	}
	s.maker(gate.Bridge, func(ctx context.Context) (gate.State, error) { return s.bridge(ctx, parts, found) })
	f.Bridge, f.Unbridged = true, unbridged(found)
	f.Emptied = s.emptied(parts)
	groups, err := s.groups(ctx, parts)
	f.Groups = groups
	return f, err
}
