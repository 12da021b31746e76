package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/patchsplit"
)

// Golden is a data file of the test part that the change edits (expected output,
// a snapshot, a sample), with the checks whose own text it leaves alone and whose
// outcome it changes.
type Golden struct {
	Path string   `json:"path"`
	Rows []string `json:"rows"`
	// OnHead is what those rows came to on head with base's version of the test
	// part: failed (head's code needs the new content), passed, or not_asked.
	OnHead string `json:"base_version_on_head"`
}

// editedData lists the data files of the test part that both base and head have and
// whose content differs.
func (r *replay) editedData() []string {
	base, head := r.states[Base].state, r.states[Head].state
	if base == nil || head == nil {
		return nil
	}
	var list []string
	for _, file := range r.tests {
		if patchsplit.IsCode(file) || slices.Contains(r.in.Steering, file) {
			continue
		}
		old, errOld := base.Tree().ReadFile(file)
		now, errNow := head.Tree().ReadFile(file)
		if errOld == nil && errNow == nil && string(old) != string(now) {
			list = append(list, file)
		}
	}
	return list
}

// movedByData holds for a row whose own text is base's and whose outcome on base the
// test part changes, and for no part of such a row.
func (r *replay) movedByData(key Key) bool {
	if OriginOf(r.m, key) != Affected {
		return false
	}
	above, ok := r.m.Seen(Key{key.Runner, r.m.Row(key).Parent}, Head)
	return !ok || !r.movedByData(above.Key())
}

// asksGoldens tells whether base's version of the data must be asked about a row:
// it proves the change by data that the change edits.
func (r *replay) asksGoldens(key Key) bool {
	return r.movedByData(key) && RoleOf(r.m, key, r.in.Introduced).Role.proves() && len(r.goldens()) > 0
}

// readGoldens says of each edited data file which rows it moved, and whether head's
// code passes them with base's version too.
func readGoldens(r *replay) []Golden {
	files := r.goldens()
	if len(files) == 0 {
		return nil
	}
	list := make([]Golden, len(files))
	for i, file := range files {
		list[i] = Golden{Path: file, Rows: []string{}, OnHead: "not_asked"}
	}
	for _, key := range r.m.Keys() {
		if !r.movedByData(key) {
			continue
		}
		read := func(file string) bool { return r.mentions(key, file) }
		all := !slices.ContainsFunc(files, read) // the text does not say which
		for i, file := range files {
			if all || read(file) {
				list[i].add(key.ID, r.m.Cell(key, HeadBaseTests))
			}
		}
	}
	return list
}

// add takes one row in. One that fails with base's version speaks for the file.
func (g *Golden) add(id string, old []Observation) {
	g.Rows = append(g.Rows, id)
	switch {
	case anyOf(old, red):
		g.OnHead = "failed"
	case allGreen(old) && g.OnHead != "failed":
		g.OnHead = "passed"
	}
}

// mentions tells whether a row's name or its file's text names the data file, or
// the file stands where frameworks keep the snapshots of the row's file.
func (r *replay) mentions(key Key, file string) bool {
	row, name := r.m.Row(key), path.Base(file)
	stem := strings.TrimSuffix(name, path.Ext(name))
	if stem == path.Base(row.File) || strings.HasSuffix(key.ID, stem) {
		return true
	}
	content, err := r.states[Head].state.Tree().ReadFile(row.File)
	return err == nil && strings.Contains(string(content), name)
}

// aboutGoldens tells of checks that only edited data made red without the change:
// either nothing but data changed, or head's code passes with the old data too.
func aboutGoldens(r *replay, goldens []Golden) []Finding {
	var findings []Finding
	for _, g := range goldens {
		switch {
		case len(g.Rows) == 0:
		case len(r.production) == 0:
			findings = append(findings, Finding{"golden-only", SeverityNote, g.Path, 0,
				fmt.Sprintf("edited without production code; %s passes with the new content and not with the old", several(g.Rows))})
		case g.OnHead == "passed":
			findings = append(findings, Finding{"golden-only", SeverityWarning, g.Path, 0,
				fmt.Sprintf("%s fails on base only with this file's new content, and passes on head with the old content too: is the new content needed, or does head accept anything?", several(g.Rows))})
		}
	}
	return findings
}

func several(rows []string) string {
	if len(rows) == 1 {
		return rows[0]
	}
	return fmt.Sprintf("%s, with %d more,", rows[0], len(rows)-1)
}
