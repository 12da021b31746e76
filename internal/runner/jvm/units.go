package jvm

import (
	"bytes"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Units lists the test sources that the paths may touch: the paths themselves;
// of support classes and data those tests of the module that name them, directly
// or through other support; else all of the module.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	p := newProject(tree, r.Dir, r.tool)
	units := p.units()
	if all {
		return units, nil
	}
	chosen := make(map[string]bool)
	for _, file := range paths {
		if !treepath.Within(r.Dir, path.Dir(file)) || p.moduleOf(file) == "" {
			continue
		}
		own := slices.Contains(units, file)
		if own {
			chosen[file] = true
		}
		for _, unit := range p.naming(units, file, own) {
			chosen[unit] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), nil
}

// naming are the units of a file's module that need it. Of a file that is itself
// a unit only those that inherit from it do.
func (p *project) naming(units []string, file string, own bool) []string {
	module := p.moduleOf(file)
	word := regexp.QuoteMeta(path.Base(file))
	if isSource(file) {
		word = `\b` + regexp.QuoteMeta(stemOf(file)) + `\b`
		if own {
			word = `(?:extends|:)\s+` + word
		}
	}
	var found []string
	names := []*regexp.Regexp{regexp.MustCompile(word)}
	seen := map[string]bool{file: true}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		for _, files := range p.byStem {
			for _, test := range files {
				text, err := p.tree.ReadFile(test)
				if seen[test] || err != nil || p.moduleOf(test) != module || !name.Match(text) {
					continue
				}
				seen[test] = true
				if slices.Contains(units, test) {
					found = append(found, test)
				} else {
					names = append(names, regexp.MustCompile(`\b`+regexp.QuoteMeta(stemOf(test))+`\b`))
				}
			}
		}
	}
	if len(found) == 0 && !own {
		if _, err := p.tree.ReadFile(file); err == nil || bytes.Contains([]byte(file), []byte("/resources/")) {
			found = slices.DeleteFunc(slices.Clone(units), func(unit string) bool { return module != "" && p.moduleOf(unit) != module })
		}
	}
	return found
}

// List names the rows of the units as their sources declare them; nothing runs.
func (r *Runner) List(_ context.Context, state gate.State, units []string) (gate.Result, error) {
	p := newProject(state.Tree(), r.Dir, r.tool)
	var result gate.Result
	for _, unit := range units {
		for _, row := range p.declaredRows(unit) {
			row.Runner = r.Name()
			result.Rows = append(result.Rows, gate.Observed{Row: row})
		}
	}
	return result, nil
}

// declaredRows are a unit's rows by its source.
func (p *project) declaredRows(unit string) []gate.Row {
	f := p.file(unit)
	if f == nil {
		return nil
	}
	var rows []gate.Row
	for _, c := range f.classes {
		rows = append(rows, p.rowsOf(f, c)...)
	}
	return rows
}
