package patchsplit

import (
	"fmt"
	"os"
	"testing"
)

// TestMixedCases takes one file apart by hunks. testdata/mixed/README.md tells
// how to add a case.
func TestMixedCases(t *testing.T) {
	eachArchive(t, "testdata/mixed", func(t *testing.T, file string, a archive) {
		rules, base, head, changes := a.change(t)
		got, states := "", make(map[string]string)
		for _, part := range Split(changes, classifier(t, rules, base, head)) {
			got += fmt.Sprintf("%s %s: %s\n", part.Part, part.Path, part.Why)
			for _, h := range part.Hunks {
				got += fmt.Sprintf("  -%d,%d +%d,%d %s\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Part)
			}
			if part.Part == Mixed && part.Status == Modified {
				states["base+tests/"+part.Path] = bothSides(t, base[part.Path], head[part.Path], part.Hunks)
			}
		}
		a.expect(t, file, "want", got)
		for name, content := range states {
			a.expect(t, file, name, content)
		}
	})
}

// bothSides returns base with the test hunks and checks that the other half is
// the rest: taking both gives head, taking neither gives base.
func bothSides(t *testing.T, old, new string, hunks []Hunk) string {
	t.Helper()
	only := func(hunks []Hunk, part Part) string {
		out, err := OnlyPart([]byte(old), []byte(new), hunks, part)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	all := make([]Hunk, len(hunks))
	for i, h := range hunks {
		all[i] = h
		all[i].Part = Test
	}
	if got := only(all, Test); got != new {
		t.Errorf("all hunks give:\n%s\nnot head:\n%s", got, new)
	}
	if got := only(all, Production); got != old {
		t.Errorf("no hunks give:\n%s\nnot base:\n%s", got, old)
	}
	return only(hunks, Test)
}

func (a archive) expect(t *testing.T, file, name, got string) {
	t.Helper()
	if got != a.files[name] {
		if !*update {
			t.Errorf("%s: got:\n%swant:\n%s", name, got, a.files[name])
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := readArchive(string(text))
		if _, known := a.files[name]; !known {
			a.names = append(a.names, name)
		}
		a.files[name] = got
		if err := os.WriteFile(file, []byte(a.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
