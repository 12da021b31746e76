package patchsplit

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// logCall is a line that only tells people something.
var logCall = lazyregexp.New(`^(?:_?log(?:ger|ging)?|slog|LOG(?:GER)?|self\.(?:_?log|logger)|\w+\.(?:log|logger|Log|Logger))\.\w+\(.*\)?;?$|^(?:console\.(?:log|debug|warn|info|error)|logger|logging)\(.*\)?;?$`)

// untellable says why no check can notice that a group is gone, "" when one may.
func untellable(files []Sides, g HunkGroup) string {
	inert, logging := true, true
	for _, file := range files {
		var runs []Run
		for _, run := range g.Runs {
			if run.Path == file.Path {
				runs = append(runs, run)
			}
		}
		if len(runs) == 0 {
			continue
		}
		before := Without(file.New, runs)
		inert = inert && file.Old != nil && file.New != nil && (Inert(file.Path, before, file.New) || sameCode(file.Path, before, file.New))
		for _, run := range runs {
			logging = logging && onlyLogs(run.Old) && onlyLogs(run.New)
		}
	}
	switch {
	case inert:
		return "comments or layout"
	case logging:
		return "logging"
	}
	return ""
}

// besideTests are the directories of what is run by hand.
var besideTests = lazyregexp.New(`/(?:bench(?:es|marks?)?|examples?)/`)

// quiet says why it is no wonder that no check notices that a group is taken back,
// although one might: it only takes whole declarations away, which head's code
// does without, or changes types that nothing runs.
func quiet(files []Sides, g HunkGroup) string {
	removes, types, aside := true, true, true
	for _, file := range files {
		var runs []Run
		for _, run := range g.Runs {
			if run.Path == file.Path {
				runs = append(runs, run)
			}
		}
		if len(runs) == 0 {
			continue
		}
		aside = aside && besideTests.MatchString("/"+file.Path)
		before := Without(file.New, runs)
		removes = removes && RemovesOnly(file.Path, before, file.New)
		types = types && (AnnotationsOnly(file.Path, before, file.New) || sameTyped(file.Path, before, file.New))
	}
	switch {
	case removes:
		return "takes away declarations that nothing uses any more"
	case aside:
		return "benchmarks and examples, which no test runs"
	case types:
		return "types that do not run"
	}
	return ""
}

func onlyLogs(lines []string) bool {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !logCall.MatchString(line) {
			return false
		}
	}
	return true
}
