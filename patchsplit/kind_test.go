package patchsplit

import "testing"

func TestKind(t *testing.T) {
	file := func(part Part, path, class string) FilePart {
		return FilePart{FileChange: FileChange{Path: path}, Decision: Decision{Part: part, Class: class}}
	}
	code, test, docs := file(Production, "a.go", ""), file(Test, "a_test.go", ""), file(Neutral, "README.md", ClassDocs)
	for _, c := range []struct {
		want     string
		subjects []string
		changes  []FilePart
	}{
		{KindFix, []string{"fix(parser): stop at end"}, []FilePart{code, test}},
		{KindFix, []string{"Fix line-ending backslash"}, []FilePart{code}},
		{KindFeature, []string{"feat!: new option"}, []FilePart{code, test}},
		{KindFeature, []string{"Add sorensen-dice distance"}, []FilePart{code}},
		{KindFeature, []string{"refactor: x", "feat: y"}, []FilePart{code}},
		{KindFix, []string{"chore: x", "tidy", "fix: y"}, []FilePart{code}},
		{KindRefactor, []string{"refactor: split the reader"}, []FilePart{code, test}},
		{KindRefactor, []string{"Move utility functions from _utils.py to _client.py (#3389)"}, []FilePart{code, test}},
		{KindRevert, []string{`Revert "feat: y"`}, []FilePart{code}},
		{KindTests, []string{"fix: flaky test"}, []FilePart{test, docs}},
		{KindDocs, []string{"fix: typo"}, []FilePart{docs}},
		{KindDependency, []string{"chore: bump"}, []FilePart{file(Production, "go.mod", ""), file(Production, "go.sum", ClassLock)}},
		{KindUnknown, []string{"bump x from 1 to 2"}, []FilePart{file(Production, "go.mod", ""), code}},
		{KindUnknown, []string{"docs: only words"}, []FilePart{code}},
		{KindUnknown, []string{"test: more"}, []FilePart{code, test}},
		{KindUnknown, []string{"perf(parse): cache length"}, []FilePart{code}},
		{KindMerge, []string{"Merge branch 'main'"}, []FilePart{code}},
		{KindFix, []string{"Merge branch 'main' into x", "fix: y"}, []FilePart{code}},
		{KindUnknown, nil, []FilePart{code}},
		{KindUnknown, nil, nil},
		{KindUnknown, []string{"ci: x"}, []FilePart{file(Neutral, ".github/workflows/x.yml", ClassTestConfig)}},
		{KindFix, []string{"fix: x"}, []FilePart{{FileChange: FileChange{Path: "lib.rs"}, Decision: Decision{Part: Mixed}}}},
	} {
		kind, evidence := Kind(c.changes, c.subjects)
		if kind != c.want || evidence == "" {
			t.Errorf("%q: %s (%s), want %s", c.subjects, kind, evidence, c.want)
		}
	}
}

func TestKindOfLabels(t *testing.T) {
	for want, labels := range map[string][]string{
		KindFix: {"help wanted", "type: bug"}, KindFeature: {"kind/feature"}, KindDependency: {"dependencies"}, "": {"good first issue", "bugs bunny"},
	} {
		if kind, evidence := KindOfLabels(labels); kind != want || (evidence == "") != (want == "") {
			t.Errorf("%q: %q (%s), want %q", labels, kind, evidence, want)
		}
	}
}
