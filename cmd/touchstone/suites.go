package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/sandbox"
)

// suiteOptions say how suites run tests.
type suiteOptions struct {
	config  string
	sandbox string
	timeout time.Duration
}

// suites runs the tests of base with changes merged into it, each time in a fresh
// state: what audits of several attempts are made of. Changes are numbers into
// heads. Close it when done.
type suites struct {
	repo    *git.Repo
	base    string
	heads   []string
	columns *states
	box     *sandbox.Sandbox
	runners []gate.Runner
	timeout time.Duration
	notes   []string

	barred  map[int]error     // changes that do not merge with base itself
	commits map[string]string // merged commits by their changes
	open    map[string]gate.State
	tests   map[string]test // every one that was seen failing
	seconds float64         // of tests, so far
}

// test is a failing check, or a unit that could not be loaded as a whole.
type test struct {
	runner  string
	row     gate.Row
	whole   bool
	message string
}

// openSuites prepares base and the merge of each head with it. Configuration and
// runners are base's.
func openSuites(ctx context.Context, repo *git.Repo, base string, heads []string, o suiteOptions) (s *suites, err error) {
	s = &suites{repo: repo, base: base, heads: heads, timeout: o.timeout, barred: make(map[int]error), commits: make(map[string]string), open: make(map[string]gate.State), tests: make(map[string]test)}
	c := &change{repo: repo}
	if c.baseTree, err = repo.TreeOf(ctx, base); err == nil {
		c.base, err = repo.Tree(ctx, c.baseTree)
	}
	if err == nil {
		c.diskTree, err = repo.Snapshot(ctx, true)
	}
	if err != nil {
		return nil, undecided(err)
	}
	c.head = c.base
	settings, err := readConfig(c, o.config)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	if o.sandbox != "" {
		settings.Sandbox.Kind = config.SandboxKind(o.sandbox)
	}
	found, err := findRunners(c, settings, nil)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	if s.runners = found.list; len(s.runners) == 0 {
		return nil, undecided(fmt.Errorf("no test runner was found on base %.12s: name one in runners: of %s", base, config.Path))
	}
	if s.box, err = openBox(ctx, c, settings, found); err != nil {
		return nil, undecided(err)
	}
	if err = s.plan(ctx, c, settings); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// plan makes the columns. What any merge has otherwise than base is what one of the
// changes has, merged alone.
func (s *suites) plan(ctx context.Context, c *change, settings config.Config) error {
	staging, err := os.MkdirTemp("", "touchstone-files-")
	if err != nil {
		return undecided(fmt.Errorf("making a directory for the states' files: %w", err))
	}
	s.columns = &states{change: c, sandbox: s.box, staging: staging, trees: make(map[gate.StateName]map[string]git.Entry), setups: newSetups(settings.Runners)}
	s.notes = append(s.notes, s.columns.setups.skipped(s.box)...)
	if s.columns.union, err = s.paths(ctx, c.baseTree, c.diskTree); err != nil {
		return undecided(err)
	}
	for i := range s.heads {
		merged, err := s.merge(ctx, []int{i})
		if errors.Is(err, audit.ErrConflict) {
			s.barred[i] = err
			continue
		}
		tree := ""
		if err == nil {
			tree, err = s.repo.TreeOf(ctx, merged)
		}
		if err != nil {
			return undecided(err)
		}
		if tree == c.baseTree {
			return &exit{exitUsage, fmt.Errorf("%.12s brings nothing that base %.12s does not have: it is merged already, or base is the wrong commit", s.heads[i], s.base)}
		}
		more, err := s.paths(ctx, c.baseTree, tree)
		if err != nil {
			return undecided(err)
		}
		s.columns.union = append(s.columns.union, more...)
	}
	slices.Sort(s.columns.union)
	s.columns.union = slices.Compact(s.columns.union)
	if hasGo(s.runners) && s.box.Kind() != "docker" {
		s.notes = append(s.notes, fetchModules(ctx, c)...)
	}
	return nil
}

func (s *suites) paths(ctx context.Context, a, b string) (paths []string, err error) {
	if a == b {
		return nil, nil
	}
	changes, err := s.repo.Differences(ctx, a, b)
	for _, change := range changes {
		if change.OldMode != git.ModeSubmodule && change.NewMode != git.ModeSubmodule {
			paths = append(paths, change.Path)
		}
	}
	return paths, err
}

// merge is the commit of base with the changes merged, one after the other.
func (s *suites) merge(ctx context.Context, changes []int) (string, error) {
	if len(changes) == 0 {
		return s.base, nil
	}
	key := fmt.Sprint(changes)
	if commit, ok := s.commits[key]; ok {
		return commit, nil
	}
	last := len(changes) - 1
	into, err := s.merge(ctx, changes[:last])
	if err != nil {
		return "", err
	}
	commit, err := s.repo.Merge(ctx, into, s.heads[changes[last]])
	var conflict *git.ConflictError
	if errors.As(err, &conflict) {
		return "", fmt.Errorf("%w: %w", audit.ErrConflict, err)
	}
	if err == nil {
		s.commits[key] = commit
	}
	return commit, err
}

// state is base with the changes merged, made ready at most once: every command in
// it starts afresh.
func (s *suites) state(ctx context.Context, changes []int) (gate.State, error) {
	key := fmt.Sprint(changes)
	if state, ok := s.open[key]; ok {
		return state, nil
	}
	commit, err := s.merge(ctx, changes)
	if err != nil {
		return nil, err
	}
	id, err := s.repo.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	tree, err := s.repo.Tree(ctx, id)
	if err != nil {
		return nil, err
	}
	paths, err := s.paths(ctx, s.columns.change.baseTree, id)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if _, known := slices.BinarySearch(s.columns.union, path); !known {
			return nil, fmt.Errorf("the merge of %d changes has %q, which none of them has alone", len(changes), path)
		}
	}
	name := gate.Base
	if len(changes) > 0 {
		name = gate.StateName("merged" + strings.ReplaceAll(key, " ", "+"))
		if hasGo(s.runners) && s.box.Kind() != "docker" && slices.ContainsFunc(paths, isModuleFile) {
			s.notes = append(s.notes, fetchModules(ctx, &change{base: tree, head: tree})...)
		}
	}
	s.columns.trees[name] = pick(tree, s.columns.union)
	if err := s.columns.stage(ctx); err != nil {
		return nil, err
	}
	state, err := s.columns.Open(ctx, name)
	if err == nil {
		s.open[key] = state
	}
	return state, err
}

func isModuleFile(path string) bool {
	return strings.HasSuffix(path, "go.mod") || strings.HasSuffix(path, "go.sum")
}

// Close ends every state and removes what was made.
func (s *suites) Close() {
	if s.columns != nil {
		s.columns.Close()
	}
	s.box.Close()
}
