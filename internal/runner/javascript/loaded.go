package javascript

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// maxFollowed bounds how many sources are read for what they import.
const maxFollowed = 3000

// readLoaded adds the changed ES modules that the test files which gave an
// answer import, directly or through others, where Node does not tell: imports of
// ES modules stand in their text, and all of them are loaded before any test
// runs.
func (c *call) readLoaded(ctx context.Context, list bool) error {
	if list || !c.unseen || c.Config.Framework == Vitest {
		return nil
	}
	known := func(subject string) bool {
		return slices.ContainsFunc(c.result.Loaded, func(l gate.Loaded) bool { return l.Subject == subject })
	}
	var units []string
	for _, row := range c.result.Rows {
		if len(row.Observations) > 0 && !slices.Contains(units, row.Row.Unit) {
			units = append(units, row.Row.Unit)
		}
	}
	reached := c.reader.suite.closure(units)
	var subjects []string
	for _, subject := range c.batch.Subjects {
		if reached[subject] && !known(subject) && esm.MatchString(c.reader.suite.source(subject)) {
			subjects = append(subjects, subject)
		}
	}
	if len(subjects) == 0 {
		return nil
	}
	digests, err := c.state.Digest(ctx, subjects)
	if err != nil {
		return fmt.Errorf("reading the modules that tests import: %w", err)
	}
	for _, subject := range subjects {
		c.result.Loaded = append(c.result.Loaded, gate.Loaded{Subject: subject, File: subject, SHA256: digests[subject], InTree: true})
	}
	return nil
}

// closure is what files import, with all that those import, as far as their
// texts and the tree's names say so. Types alone are erased and load nothing.
func (s *suite) closure(files []string) map[string]bool {
	modules := make(map[string][]string) // by the stem that they are asked for
	for _, file := range s.tree.Paths() {
		if isScript(file) && !skips(file) {
			modules[moduleStem(file)] = append(modules[moduleStem(file)], file)
		}
	}
	reached := make(map[string]bool)
	queue := slices.Clone(files)
	for i := 0; i < len(queue) && i < maxFollowed; i++ {
		for _, stem := range s.asks(queue[i], modules) {
			for _, file := range modules[stem] {
				if !reached[file] {
					reached[file] = true
					queue = append(queue, file)
				}
			}
		}
	}
	return reached
}

// asks lists the modules of the tree that a source imports, by their stems.
func (s *suite) asks(importer string, modules map[string][]string) []string {
	var stems []string
	for _, name := range imported(typeImport.ReplaceAllString(s.source(importer), ""), path.Dir(importer)) {
		aliased, alias := strings.CutPrefix(name, "*/")
		if !alias {
			stems = append(stems, moduleStem(name))
			continue
		}
		for stem := range modules {
			if stem == moduleStem(aliased) || strings.HasSuffix(stem, "/"+moduleStem(aliased)) {
				stems = append(stems, stem)
			}
		}
	}
	return stems
}
