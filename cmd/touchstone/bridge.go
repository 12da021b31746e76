package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/bridge"
	"github.com/touchstone-gate/touchstone/internal/runner/gotest"
	"github.com/touchstone-gate/touchstone/internal/runner/javascript"
	"github.com/touchstone-gate/touchstone/internal/runner/pytest"
	"github.com/touchstone-gate/touchstone/patchsplit"
)

// maxBridgeBuilds bounds how often a bridge is built again without what does not
// compile on base.
const maxBridgeBuilds = 8

// bridgeColumn is the state bridge as the gate and the runners see it.
type bridgeColumn struct {
	*column
	ahead               gate.Tree
	mark                string
	values, gaps, blind []string
}

func (b *bridgeColumn) Ahead() gate.Tree { return b.ahead }
func (b *bridgeColumn) Mark() string     { return b.mark }
func (b *bridgeColumn) Values() []string { return b.values }
func (b *bridgeColumn) Gaps() []string   { return b.gaps }

// Blind are the names of which a use can go by unseen.
func (b *bridgeColumn) Blind() []string { return b.blind }

// bridge makes the state: base+tests with the declarations that head's Go
// sources add, as far as they compile on base, and with what its JavaScript and
// TypeScript sources declare, behind base's own. What Python needs stands in
// while its tests run.
func (s *states) bridge(ctx context.Context, parts []patchsplit.FilePart, found *runners) (gate.State, error) {
	b := &bridgeColumn{ahead: s.change.head, mark: "/tmp/touchstone-bridge-" + rand.Text()}
	packages := s.goPackages(parts)
	without := make(map[string]bool)
	for round := 1; ; round++ {
		files, pieces := b.build(packages, without)
		s.scripts(b, parts, files)
		if len(files) == 0 && !changesPython(parts) {
			return nil, errors.New("nothing that head declares can stand in on base")
		}
		tree, err := s.derive(s.trees[gate.BaseTests], files)
		if err != nil {
			return nil, err
		}
		if b.column, err = s.show(ctx, gate.Bridge, tree); err != nil {
			return nil, err
		}
		faults, err := faultsOf(ctx, b.column, found, packages)
		if err != nil || len(faults) == 0 {
			return b, err
		}
		b.column.Close()
		if round == maxBridgeBuilds || !leaveOut(without, faults, pieces) {
			f := faults[0]
			return nil, fmt.Errorf("what head adds does not compile on base: %s:%d: %s", f.File, f.Line, f.Message)
		}
	}
}

// build writes every package without some pieces.
func (b *bridgeColumn) build(packages map[string]bridge.Package, without map[string]bool) (map[string][]byte, []bridge.Piece) {
	files := make(map[string][]byte)
	var pieces []bridge.Piece
	b.values, b.gaps, b.blind = nil, nil, nil
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		built := packages[dir].Build(b.mark, without)
		maps.Copy(files, built.Files)
		pieces = append(pieces, built.Pieces...)
		b.values = append(b.values, built.Values...)
		b.gaps = append(b.gaps, built.Gaps...)
	}
	if left := slices.Sorted(maps.Keys(without)); len(left) > 0 {
		b.gaps = append(b.gaps, fmt.Sprintf("of what head declares, this does not compile on base: %s", strings.Join(left, ", ")))
	}
	return files, pieces
}

// changesPython tells whether Python sources are in the production part: what
// they declare stands in while the tests run.
func changesPython(parts []patchsplit.FilePart) bool {
	return slices.ContainsFunc(parts, func(p patchsplit.FilePart) bool {
		return p.Part == patchsplit.Production && strings.HasSuffix(p.Path, ".py")
	})
}

// scripts adds the JavaScript and TypeScript sources in which names of head's
// stand in.
func (s *states) scripts(b *bridgeColumn, parts []patchsplit.FilePart, files map[string][]byte) {
	for _, part := range parts {
		if part.Part != patchsplit.Production || !javascript.IsSource(part.Path) {
			continue
		}
		before, _ := s.change.base.ReadFile(part.Path) // absent, a link: declares nothing
		after, _ := s.change.head.ReadFile(part.Path)
		built := javascript.StandIn(javascript.Source{Path: part.Path, Base: before, Head: after}, b.mark)
		if built.Content != nil {
			files[part.Path] = built.Content
		}
		b.values = append(b.values, built.Values...)
		b.blind = append(b.blind, built.Blind...)
		b.gaps = append(b.gaps, built.Gaps...)
	}
}

// unbridged are the runners for whose checks nothing can stand in.
func unbridged(found *runners) []string {
	var names []string
	for _, runner := range found.list {
		switch runner.(type) {
		case *gotest.Runner, *pytest.Runner, *javascript.Runner:
		default:
			names = append(names, runner.Name())
		}
	}
	return names
}

// goPackages are the Go packages whose production sources change, by directory.
func (s *states) goPackages(parts []patchsplit.FilePart) map[string]bridge.Package {
	packages := make(map[string]bridge.Package)
	changed := make(map[string]bool)
	for _, part := range parts {
		if part.Part != patchsplit.Production || !strings.HasSuffix(part.Path, ".go") || strings.HasSuffix(part.Path, "_test.go") {
			continue
		}
		for _, file := range []string{part.Path, part.OldPath} {
			if file == "" || changed[file] {
				continue
			}
			changed[file] = true
			base, _ := s.change.base.ReadFile(file) // absent, a link: declares nothing
			head, _ := s.change.head.ReadFile(file)
			p := packages[path.Dir(file)]
			p.Files = append(p.Files, bridge.Source{Path: file, Base: base, Head: head})
			packages[path.Dir(file)] = p
		}
	}
	for _, file := range s.change.base.Paths() {
		p, ok := packages[path.Dir(file)]
		if !ok || changed[file] || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		if content, err := s.change.base.ReadFile(file); err == nil {
			p.Rest = append(p.Rest, content)
			packages[path.Dir(file)] = p
		}
	}
	return packages
}

// faultsOf compiles the bridged packages with the runner that owns them.
func faultsOf(ctx context.Context, state *column, found *runners, packages map[string]bridge.Package) ([]gotest.Fault, error) {
	var faults []gotest.Fault
	for _, runner := range found.list {
		r, ok := runner.(*gotest.Runner)
		if !ok {
			continue
		}
		var dirs []string
		for _, dir := range slices.Sorted(maps.Keys(packages)) {
			if r.Owns(state.Tree(), dir) {
				dirs = append(dirs, dir)
			}
		}
		if len(dirs) == 0 {
			continue
		}
		said, err := r.Build(ctx, state, dirs)
		if err != nil {
			return nil, err
		}
		faults = append(faults, said...)
	}
	return faults, ctx.Err()
}

// leaveOut adds the pieces at fault to those that are left out. Where none is
// named, it is a declaration of base's that no longer fits: then all that changed
// one in that directory goes, and at last all that was added there. It returns
// false when nothing is left to take out.
func leaveOut(without map[string]bool, faults []gotest.Fault, pieces []bridge.Piece) bool {
	before := len(without)
	take := func(holds func(gotest.Fault, bridge.Piece) bool) bool {
		for _, f := range faults {
			for _, p := range pieces {
				if holds(f, p) {
					without[p.Key] = true
				}
			}
		}
		return len(without) > before
	}
	return take(func(f gotest.Fault, p bridge.Piece) bool {
		return f.File == p.File && p.From <= f.Line && f.Line <= p.To
	}) ||
		take(func(f gotest.Fault, p bridge.Piece) bool { return p.Edit && named(f.Message, p.Key) }) ||
		take(func(f gotest.Fault, p bridge.Piece) bool { return p.Edit && path.Dir(f.File) == path.Dir(p.File) }) ||
		take(func(f gotest.Fault, p bridge.Piece) bool { return p.Edit }) ||
		take(func(f gotest.Fault, p bridge.Piece) bool { return true })
}

// named tells whether a sentence speaks of the declaration that an edit changes.
func named(message, key string) bool {
	_, name, _ := strings.Cut(key, " ")
	owner, _, _ := strings.Cut(strings.TrimSuffix(name, "()"), ".")
	return strings.Contains(message, owner)
}
