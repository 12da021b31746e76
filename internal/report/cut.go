package report

import (
	"fmt"
	"strings"
)

// Limit is the largest Markdown report, in bytes: what GitHub takes for the
// summary and the text of a check run ("Max 65535 characters", counted in
// bytes), and less than it takes for a comment.
const Limit = 65_535

// cut shortens Markdown to a limit in bytes, at a line's end, with open details
// closed, and says how much was left out.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	kept, open := 0, false
	for used := 0; kept < len(lines); kept++ {
		line := lines[kept]
		after := open
		switch {
		case strings.HasPrefix(line, foldStart):
			after = true
		case strings.HasPrefix(line, foldEnd):
			after = false
		}
		if used+len(line)+len(closing(after, len(lines), len(lines))) > limit {
			break
		}
		used, open = used+len(line), after
	}
	return strings.Join(lines[:kept], "") + closing(open, len(lines)-kept, len(lines))
}

// closing ends a report that was cut.
func closing(open bool, left, lines int) string {
	words := fmt.Sprintf("\n*Cut here: %s of %s do not fit into what GitHub takes. report.json has them all.*\n", number(left), count(lines, "line"))
	if open {
		return "\n" + foldEnd + "\n" + words
	}
	return words
}
