package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/coverage"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/patchsplit"
	"github.com/touchstone-gate/touchstone/rts"
)

// grapher is a runner that can tell from sources which units reach which files.
type grapher interface {
	AddGraph(g *rts.Graph, tree gate.Tree)
}

// equipped is a runner that can identify the tools that run its rows.
type equipped interface {
	Environment(ctx context.Context, state gate.State) (string, error)
}

// tracer is a runner that can observe what its rows do.
type tracer interface {
	equipped
	Trace(ctx context.Context, state gate.State, units []string, batch gate.Batch) (rts.Traces, error)
}

// compiler is a runner that can tell which changed files no longer compile.
type compiler interface {
	Breaks(base, head gate.Tree, files []string) []string
}

// selectorFacts are what selection is made from, for one change.
type selectorFacts struct {
	change rts.Change
	facts  rts.Facts
	stored *coverage.Map // nil: none that can be used
}

func (f *selectorFacts) Close() {
	if f.stored != nil {
		f.stored.Close()
	}
}

// maxGap is how many files may have changed since a map was made: beyond it the
// map says too little to be worth its trouble.
const maxGap = 2000

// gatherFacts reads the change, the graph of both sides and the map.
func gatherFacts(ctx context.Context, c *change, parts []patchsplit.FilePart, runners []gate.Runner, states *states, mapFile string) (*selectorFacts, error) {
	f := &selectorFacts{change: rtsChange(c, c.base, c.head, c.files, parts)}
	f.change = withBreaks(f.change, c, runners)
	f.facts.Graph, f.facts.NoGraph = readGraph(c, runners)
	if err := f.openMap(ctx, c, runners, states, mapFile); err != nil {
		return nil, err
	}
	if err := f.rows(ctx, c, runners); err != nil {
		f.Close()
		return nil, undecided(err)
	}
	f.facts.Mentions = mentions(c.head, f.facts.Rows)
	return f, nil
}

// rtsChange is what git says of two trees as selection reads it.
func rtsChange(c *change, from, to *git.Tree, files []git.Change, parts []patchsplit.FilePart) rts.Change {
	neutral := make(map[string]bool)
	for _, part := range parts {
		neutral[part.Path] = part.Part == patchsplit.Neutral
		if part.OldPath != "" {
			neutral[part.OldPath] = neutral[part.OldPath] || part.Part == patchsplit.Neutral
		}
	}
	var changes []rts.FileChange
	compare := func(file string, old, new []byte, plain bool) {
		d := rts.Diff(file, old, new)
		d.Neutral = neutral[file]
		d.Compared = d.Compared && plain
		changes = append(changes, d)
	}
	for _, file := range files {
		old, new := content(from, file.OldPath), content(to, file.Path)
		switch {
		case file.Status == 'R':
			compare(file.OldPath, old, nil, true)
			compare(file.Path, nil, new, true)
		case file.OldMode == git.ModeSubmodule || file.NewMode == git.ModeSubmodule:
			changes = append(changes, rts.FileChange{Path: file.Path}) // of no known type: everything
		case file.Status == 'A' || file.Status == 'C':
			compare(file.Path, nil, new, true)
		case file.Status == 'D':
			compare(file.Path, old, nil, true)
		default:
			compare(file.Path, old, new, file.OldMode == file.NewMode)
		}
	}
	return rts.NewChange(changes...)
}

// withBreaks takes what no longer compiles for what it is: a change that
// everybody notices.
func withBreaks(found rts.Change, c *change, runners []gate.Runner) rts.Change {
	var paths []string
	for _, f := range found.Files {
		paths = append(paths, f.Path)
	}
	for _, r := range runners {
		from, ok := r.(compiler)
		if !ok {
			continue
		}
		for _, broken := range from.Breaks(c.base, c.head, paths) {
			found = found.Union(rts.NewChange(rts.FileChange{Path: broken, Compared: true, Shape: true}))
		}
	}
	return found
}

// content is a file's, never nil; a link or a file that cannot be read has none
// that could be compared.
func content(tree *git.Tree, file string) []byte {
	text, err := tree.ReadFile(file)
	if err != nil || text == nil {
		return []byte{}
	}
	return text
}

func readGraph(c *change, runners []gate.Runner) (*rts.Graph, string) {
	g := &rts.Graph{}
	for _, r := range runners {
		from, ok := r.(grapher)
		if !ok {
			return nil, fmt.Sprintf("the runner %s cannot tell what its tests import", r.Name())
		}
		from.AddGraph(g, c.base)
		from.AddGraph(g, c.head)
	}
	return g, ""
}

// openMap opens the map if it can be believed for this change; else NoMap says
// why not.
func (f *selectorFacts) openMap(ctx context.Context, c *change, runners []gate.Runner, states *states, file string) error {
	for _, r := range runners {
		if _, ok := r.(tracer); !ok { // nobody can make one
			f.facts.NoMap = fmt.Sprintf("the tests of the runner %s cannot be observed", r.Name())
			return nil
		}
	}
	m, err := coverage.Open(file)
	if err != nil {
		f.facts.NoMap = err.Error()
		return nil
	}
	why, err := f.refuse(ctx, c, runners, states, m)
	if err != nil || why != "" {
		m.Close()
		f.facts.NoMap = why
		return err
	}
	f.stored, f.facts.Map = m, m
	return nil
}

// refuse says why a map is not of use here, or takes what has changed since it
// was made into the gap.
func (f *selectorFacts) refuse(ctx context.Context, c *change, runners []gate.Runner, states *states, m *coverage.Map) (why string, err error) {
	now, err := environments(ctx, runners, states)
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return fmt.Sprintf("the environment is not known: %v", err), nil
	}
	if !maps.Equal(now, m.Environments) {
		return "the one there is was made in another environment (other tools, or other installed packages): touchstone select --index build makes a new one", nil
	}
	if m.Tree == c.baseTree {
		return "", nil
	}
	made, err := c.repo.Tree(ctx, m.Tree)
	if err != nil {
		return fmt.Sprintf("the one there is was made at %s, which this repository does not have", m.Commit), nil
	}
	since, err := c.repo.Changes(ctx, m.Tree, c.baseTree)
	if err != nil {
		return "", undecided(err)
	}
	if len(since) > maxGap {
		return fmt.Sprintf("the one there is is too old: %d files have changed since", len(since)), nil
	}
	f.facts.Gap = rtsChange(c, made, c.base, since, nil)
	return "", nil
}

func environments(ctx context.Context, runners []gate.Runner, states *states) (map[string]string, error) {
	state, err := states.Open(ctx, gate.Base)
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	for _, r := range runners {
		t, ok := r.(tracer)
		if !ok {
			return nil, fmt.Errorf("the runner %s cannot observe its tests", r.Name())
		}
		if found[r.Name()], err = t.Environment(ctx, state); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// rows lists what there is to choose from: the map's rows, and units as a whole
// where the map's rows are not head's.
func (f *selectorFacts) rows(ctx context.Context, c *change, runners []gate.Runner) error {
	touched := make(map[string]bool) // paths that are not as the map saw them
	for _, file := range slices.Concat(f.change.Files, f.facts.Gap.Files) {
		touched[file.Path] = true
	}
	seconds := make(map[[2]string]float64)
	if f.stored != nil {
		f.facts.Rows = slices.Clone(f.stored.Header.Rows)
		for _, row := range f.facts.Rows {
			seconds[[2]string{row.Runner, row.Unit}] += row.Seconds
		}
	}
	for _, r := range runners {
		units, err := r.Units(ctx, c.head, nil, true)
		if err != nil {
			return fmt.Errorf("%s: finding the tests of head: %w", r.Name(), err)
		}
		own := make(map[string]bool)
		for _, unit := range units {
			own[unit] = true
		}
		kept := make(map[string]bool)
		for i := range f.facts.Rows {
			row := &f.facts.Rows[i]
			if row.Runner != r.Name() || !row.Seen {
				continue
			}
			row.Gone = !own[row.Unit] || touchedUnit(touched, row.Unit)
			kept[row.Unit] = kept[row.Unit] || !row.Gone
		}
		for _, unit := range units {
			if !kept[unit] {
				f.facts.Rows = append(f.facts.Rows, rts.Row{ID: unit, Runner: r.Name(), Unit: unit, File: unit, Whole: true, Seconds: seconds[[2]string{r.Name(), unit}]})
			}
		}
	}
	f.dropUnknown(runners)
	return nil
}

// dropUnknown takes rows of runners out that there are no more.
func (f *selectorFacts) dropUnknown(runners []gate.Runner) {
	for i := range f.facts.Rows {
		row := &f.facts.Rows[i]
		row.Gone = row.Gone || !slices.ContainsFunc(runners, func(r gate.Runner) bool { return r.Name() == row.Runner })
	}
}

// touchedUnit tells whether a unit's own sources changed: the file that it is,
// or a test file in the directory that it is.
func touchedUnit(touched map[string]bool, unit string) bool {
	if touched[unit] {
		return true
	}
	for file := range touched {
		if path.Dir(file) == unit && strings.HasSuffix(file, "_test.go") {
			return true
		}
	}
	return false
}

// mentions finds units by the words of their sources, which are read when first
// asked for.
func mentions(tree *git.Tree, rows []rts.Row) func(word string, quoted bool) []string {
	var any, quotedIn map[string][]string
	read := func() {
		any, quotedIn = make(map[string][]string), make(map[string][]string)
		seen := make(map[string]bool)
		for _, row := range rows {
			if row.Gone || seen[row.Unit] {
				continue
			}
			seen[row.Unit] = true
			text := unitSource(tree, row.Unit)
			for _, word := range rts.Words(text) {
				any[word] = append(any[word], row.Unit)
			}
			for _, word := range rts.QuotedWords(text) {
				quotedIn[word] = append(quotedIn[word], row.Unit)
			}
		}
	}
	return func(word string, quoted bool) []string {
		if any == nil {
			read()
		}
		if quoted {
			return quotedIn[word]
		}
		return any[word]
	}
}

// unitSource is the text of a unit: a test file, or the test files of a
// directory.
func unitSource(tree *git.Tree, unit string) string {
	if text, err := tree.ReadFile(unit); err == nil {
		return string(text)
	}
	var all bytes.Buffer
	at, _ := slices.BinarySearch(tree.Paths(), strings.TrimPrefix(unit+"/", "./"))
	for _, file := range tree.Paths()[at:] {
		if unit != "." && !strings.HasPrefix(file, unit+"/") {
			break
		}
		if path.Dir(file) == unit && strings.HasSuffix(file, "_test.go") {
			text, _ := tree.ReadFile(file) // what cannot be read mentions nothing
			all.Write(text)
			all.WriteByte('\n')
		}
	}
	return all.String()
}

var errNoRunner = errors.New("no test runner was found (" + lookedFor + "): name one in runners: of " + config.Path)
