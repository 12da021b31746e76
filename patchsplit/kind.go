package patchsplit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Kinds of change, as in report.json.
const (
	KindFix        = "fix"
	KindFeature    = "feature"
	KindRefactor   = "refactor"
	KindTests      = "tests"
	KindDocs       = "docs"
	KindDependency = "dependency"
	KindRevert     = "revert"
	KindMerge      = "merge"
	KindUnknown    = "unknown"
)

// Kind reads what sort of change this is, with its evidence in words. What the
// diff's shape settles (only documentation, only tests, only dependencies) is
// not up to the subjects; what they claim and the shape denies is unknown.
// Of several subjects the one that asks most of the change counts; merges on the
// way claim nothing.
func Kind(changes []FilePart, subjects []string) (kind, evidence string) {
	if kind, evidence := kindOfShape(changes); kind != "" {
		return kind, evidence
	}
	if len(subjects) > 0 && !slices.ContainsFunc(subjects, func(subject string) bool { return !merging.MatchString(subject) }) {
		return KindMerge, fmt.Sprintf("every subject merges: %.60q", subjects[0])
	}
	for _, wanted := range []string{KindFeature, KindFix, KindRevert, KindRefactor} {
		for _, subject := range subjects {
			if claim, by := claimed(subject); claim == wanted {
				return claim, by
			}
		}
	}
	for _, subject := range subjects {
		if claim, by := claimed(subject); claim != "" {
			return KindUnknown, fmt.Sprintf("%s, but production code changed", by)
		}
	}
	return KindUnknown, "neither the subject nor the changed files say"
}

// kindOfShape is the kind that the changed files alone settle, "" for none.
func kindOfShape(changes []FilePart) (kind, evidence string) {
	var count [Mixed + 1]int
	manifests, docs := 0, 0
	for i := range changes {
		change := &changes[i]
		count[change.Part]++
		if change.Part == Production && Depends(*change) {
			manifests++
		}
		if change.Class == ClassDocs {
			docs++
		}
	}
	production := count[Production] + count[Mixed] + count[Undecided]
	switch {
	case len(changes) == 0:
		return KindUnknown, "nothing changed"
	case production > 0 && manifests == production:
		return KindDependency, "of the production part only dependency files changed"
	case production > 0:
		return "", ""
	case count[Test] > 0:
		return KindTests, "only tests changed"
	case docs == len(changes):
		return KindDocs, "only documentation changed"
	}
	return KindUnknown, "neither production code nor tests changed"
}

// Depends tells whether a file says which dependencies there are, or is one of them.
func Depends(file FilePart) bool {
	return isManifest(baseOf(file.Path)) || file.Class == ClassLock || file.Class == ClassVendored
}

var (
	conventional = lazyregexp.New(`^([A-Za-z]+)(\([^)]*\))?!?: `)
	merging      = lazyregexp.New(`^Merge (?:branch|branches|remote-tracking branch|pull request|tag|commit)\b|^Merge .+ into .+`)
	reverting    = lazyregexp.New(`^(?:Revert|revert)\b`)
	verb         = lazyregexp.New(`^(?:\[[^\]]*\] *|[\w./*-]+: +)*([A-Za-z]+)`)
)

var conventionalKinds = map[string]string{
	"fix": KindFix, "bugfix": KindFix, "hotfix": KindFix, "feat": KindFeature, "feature": KindFeature,
	"refactor": KindRefactor, "style": KindRefactor, "docs": KindDocs, "doc": KindDocs, "test": KindTests, "tests": KindTests,
	"revert": KindRevert, "deps": KindDependency, "build": "", "ci": "", "chore": "", "perf": "",
}

var verbKinds = map[string]string{
	"fix": KindFix, "fixes": KindFix, "fixed": KindFix, "fixing": KindFix, "bugfix": KindFix, "correct": KindFix, "repair": KindFix,
	"add": KindFeature, "adds": KindFeature, "added": KindFeature, "implement": KindFeature, "implements": KindFeature, "support": KindFeature,
	"introduce": KindFeature, "allow": KindFeature, "enable": KindFeature,
	"refactor": KindRefactor, "refactored": KindRefactor, "rename": KindRefactor, "move": KindRefactor, "extract": KindRefactor, "simplify": KindRefactor,
	"cleanup": KindRefactor, "reformat": KindRefactor, "restructure": KindRefactor, "deduplicate": KindRefactor,
	"bump": KindDependency, "document": KindDocs, "docs": KindDocs, "revert": KindRevert, "reverts": KindRevert,
}

var labelKinds = map[string]string{
	"bug": KindFix, "fix": KindFix, "bugfix": KindFix, "regression": KindFix, "feature": KindFeature, "enhancement": KindFeature,
	"refactor": KindRefactor, "refactoring": KindRefactor, "cleanup": KindRefactor, "documentation": KindDocs, "docs": KindDocs,
	"dependencies": KindDependency, "dependency": KindDependency, "deps": KindDependency, "tests": KindTests, "testing": KindTests, "revert": KindRevert,
}

// KindOfLabels reads the kind out of a pull request's labels (bug, "type: bug",
// kind/feature), the first that is known; "" for none. Whoever may set labels is
// for the caller to judge.
func KindOfLabels(labels []string) (kind, evidence string) {
	for _, label := range labels {
		word := strings.ToLower(strings.TrimSpace(label[strings.LastIndexAny(label, "/:")+1:]))
		if kind := labelKinds[word]; kind != "" {
			return kind, fmt.Sprintf("the label %.60q", label)
		}
	}
	return "", ""
}

// claimed reads a subject line: a conventional commit type, else its verb. A
// type that says nothing about behaviour (chore, build, ci, perf) claims none.
func claimed(subject string) (kind, by string) {
	subject = strings.TrimSpace(subject)
	if merging.MatchString(subject) {
		return "", ""
	}
	if reverting.MatchString(subject) {
		return KindRevert, fmt.Sprintf("the subject %.60q reverts", subject)
	}
	if match := conventional.FindStringSubmatch(subject); match != nil {
		if kind, known := conventionalKinds[strings.ToLower(match[1])]; known {
			return kind, fmt.Sprintf("conventional commit type %q", match[1])
		}
	}
	if match := verb.FindStringSubmatch(subject); match != nil {
		word := strings.ToLower(match[1])
		return verbKinds[word], fmt.Sprintf("the subject begins with %q", match[1])
	}
	return "", ""
}
