package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// maxGrouped bounds how many production files a change may have for its hunks to
// be grouped, which compares each with each.
const maxGrouped = 300

// groups cuts the production part into hunk groups and registers the states
// without them.
func (s *states) groups(ctx context.Context, parts []patchsplit.FilePart) ([]gate.Group, error) {
	sides, err := s.sides(ctx, parts)
	if err != nil || len(sides) == 0 || len(sides) > maxGrouped {
		return nil, err
	}
	var groups []gate.Group
	byID := make(map[string]patchsplit.HunkGroup)
	for i, g := range patchsplit.Groups(sides) {
		id := fmt.Sprintf("h%d", i+1)
		byID[id] = g
		groups = append(groups, gate.Group{ID: id, Places: placesOf(g), Lines: g.Lines(), Inert: g.Why, Quiet: g.Quiet})
	}
	s.hunks = func(name gate.StateName) (map[string][]byte, bool) { return withoutGroups(name, byID, sides) }
	return groups, nil
}

// sides are the production files that change as text, with their runs, and the
// production hunks of files that hold tests too.
func (s *states) sides(ctx context.Context, parts []patchsplit.FilePart) ([]patchsplit.Sides, error) {
	of := make(map[string]patchsplit.FilePart)
	for _, part := range parts {
		if part.Part == patchsplit.Production || part.Part == patchsplit.Mixed {
			of[part.Path] = part
		}
	}
	if len(of) == 0 || len(of) > maxGrouped {
		return nil, nil
	}
	text, err := s.change.repo.Patch(ctx, s.change.baseTree, s.change.headTree)
	if err != nil {
		return nil, err
	}
	patch, err := patchsplit.Parse(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	var sides []patchsplit.Sides
	for _, file := range patch.Files {
		part, production := of[file.Path]
		if !production || file.Binary {
			continue
		}
		old := file.Path
		if file.OldPath != "" {
			old = file.OldPath
		}
		side := patchsplit.Sides{Path: file.Path, Runs: file.Runs()}
		side.Old, _ = s.change.base.ReadFile(old) // absent: the file is new
		side.New, _ = s.change.head.ReadFile(file.Path)
		if part.Part == patchsplit.Mixed {
			side.Runs = patchsplit.RunsOf(file.Path, side.Old, side.New, part.Hunks, patchsplit.Production)
			if side.Old == nil {
				side.Old = []byte{} // its tests stay when the rest is taken away
			}
		}
		if len(side.Runs) > 0 {
			sides = append(sides, side)
		}
	}
	return sides, nil
}

func placesOf(g patchsplit.HunkGroup) []gate.Span {
	var places []gate.Span
	for _, run := range g.Runs {
		places = append(places, gate.Span{Path: run.Path, Line: run.NewStart, End: run.NewStart + len(run.New) - 1})
	}
	return places
}

// withoutGroups are head's files that change when the groups that a state names
// are taken back; ok is false for another state.
func withoutGroups(name gate.StateName, byID map[string]patchsplit.HunkGroup, sides []patchsplit.Sides) (files map[string][]byte, ok bool) {
	list, ok := strings.CutPrefix(strings.TrimSuffix(string(name), ")"), "without(")
	if !ok {
		return nil, false
	}
	var runs []patchsplit.Run
	for id := range strings.SplitSeq(list, "+") {
		runs = append(runs, byID[id].Runs...)
	}
	files = make(map[string][]byte)
	for _, side := range sides {
		var here []patchsplit.Run
		for _, run := range runs {
			if run.Path == side.Path {
				here = append(here, run)
			}
		}
		slices.SortFunc(here, func(a, b patchsplit.Run) int { return a.NewStart - b.NewStart })
		switch {
		case len(here) == 0:
		case side.Old == nil:
			files[side.Path] = nil // the file is the change's own
		default:
			files[side.Path] = patchsplit.Without(side.New, here)
		}
	}
	return files, true
}

// without makes a state without some groups.
func (s *states) without(ctx context.Context, name gate.StateName) (gate.State, error) {
	files, ok := s.hunks(name)
	if !ok {
		return nil, fmt.Errorf("there is no state %q", name)
	}
	tree, err := s.derive(s.trees[gate.Head], files)
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, name, tree)
}

// emptied plans the state in which the functions that the change adds or edits
// do nothing, and tells whether there are any.
func (s *states) emptied(parts []patchsplit.FilePart) bool {
	files := make(map[string][]byte)
	for _, part := range parts {
		// A mixed file's tests stay as they are where they stand in a block of their own.
		apart := part.Part == patchsplit.Mixed && !strings.HasSuffix(part.Path, ".py")
		if part.Part != patchsplit.Production && !apart || part.Status == patchsplit.Deleted {
			continue
		}
		old := part.Path
		if part.OldPath != "" {
			old = part.OldPath
		}
		before, _ := s.change.base.ReadFile(old) // absent: all of it is new
		after, err := s.change.head.ReadFile(part.Path)
		if err != nil {
			continue
		}
		if content, names := patchsplit.Emptied(part.Path, before, after); len(names) > 0 {
			files[part.Path] = content
		}
	}
	s.maker(gate.Emptied, func(ctx context.Context) (gate.State, error) {
		tree, err := s.derive(s.trees[gate.Head], maps.Clone(files))
		if err != nil {
			return nil, err
		}
		return s.shown(ctx, gate.Emptied, tree)
	})
	return len(files) > 0
}
