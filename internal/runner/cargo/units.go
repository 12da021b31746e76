package cargo

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/treepath"
)

// Units lists the targets whose tests the paths may touch: those that a changed
// source is part of; its documentation tests; and for any other file those that
// mention its name, else all of the package that it lies in.
func (r *Runner) Units(_ context.Context, tree gate.Tree, paths []string, all bool) ([]string, error) {
	targets := r.targets(tree)
	chosen := make(map[string]bool)
	crates := make([]*crate, len(targets))
	for i, t := range targets {
		crates[i] = t.crate(tree)
		if all {
			chosen[t.unit] = true
		}
	}
	if all {
		for _, c := range crates {
			for file := range c.byFile {
				c.documents(file, chosen)
			}
		}
	}
	for _, file := range paths {
		touched := false
		for _, c := range crates {
			if c.byFile[file] != nil {
				touched, chosen[c.unit] = true, true
				c.documents(file, chosen)
			}
		}
		if !touched {
			near(crates, file, chosen)
		}
	}
	units := make([]string, 0, len(chosen))
	for unit := range chosen {
		units = append(units, unit)
	}
	slices.Sort(units)
	return units, nil
}

// documents chooses the documentation tests of a library's source, if it may
// have any.
func (c *crate) documents(file string, chosen map[string]bool) {
	if c.choose[0] == "--lib" && hasExamples(c.byFile[file].text) {
		chosen[file+docSuffix] = true
	}
}

// hasExamples holds for sources whose comments hold a block of code.
func hasExamples(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		for _, mark := range []string{"///", "//!", "*"} {
			if rest, ok := bytes.CutPrefix(line, []byte(mark)); ok && (bytes.HasPrefix(bytes.TrimSpace(rest), []byte("```")) || bytes.HasPrefix(rest, []byte("     "))) {
				return true
			}
		}
	}
	return bytes.Contains(text, []byte("#[doc")) && bytes.Contains(text, []byte("```")) || bytes.Contains(text, []byte("include_str!"))
}

// near chooses for a file that is no target's source.
func near(crates []*crate, file string, chosen map[string]bool) {
	home := ""
	for _, c := range crates {
		if treepath.Within(c.dir, path.Dir(file)) && (home == "" || len(c.dir) > len(home) || home == ".") {
			home = c.dir
		}
	}
	var mentioning, inside []string
	for _, c := range crates {
		if home != "" && c.dir == home {
			inside = append(inside, c.unit)
		}
		for _, m := range c.byFile {
			if bytes.Contains(m.text, []byte(path.Base(file))) {
				mentioning = append(mentioning, c.unit)
				break
			}
		}
	}
	if len(mentioning) == 0 || strings.HasSuffix(file, ".rs") || path.Base(file) == "Cargo.toml" {
		mentioning = inside
	}
	if home == "" && len(mentioning) == 0 {
		for _, c := range crates {
			mentioning = append(mentioning, c.unit)
		}
	}
	for _, unit := range mentioning {
		chosen[unit] = true
	}
}

// wanted are the targets of the units that the tree has, documentation tests
// included, in the order of the units.
func (r *Runner) wanted(tree gate.Tree, units []string) []*crate {
	targets := r.targets(tree)
	crates := make(map[*target]*crate)
	var found []*crate
	for _, unit := range units {
		file, doc := strings.CutSuffix(unit, docSuffix)
		for _, t := range targets {
			if doc && t.choose[0] != "--lib" || !doc && t.unit != unit {
				continue
			}
			if crates[t] == nil {
				crates[t] = t.crate(tree)
			}
			c := crates[t]
			if doc {
				if c.byFile[file] == nil {
					continue
				}
				own := *c
				own.target = &target{unit: unit, dir: t.dir, prefix: t.prefix + "/doc", name: t.name, file: file, choose: []string{"--doc"}, harness: true, doc: file}
				c = &own
			}
			found = append(found, c)
			break
		}
	}
	return found
}
