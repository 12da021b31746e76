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
		inert = inert && file.Old != nil && file.New != nil && Inert(file.Path, Without(file.New, runs), file.New)
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

func onlyLogs(lines []string) bool {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !logCall.MatchString(line) {
			return false
		}
	}
	return true
}
