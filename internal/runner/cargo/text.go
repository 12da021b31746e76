package cargo

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// progress are lines that cargo prints of its own doing.
var progress = lazyregexp.New(`^\s*(?:Compiling|Finished|Running|Doc-tests|Blocking|Executable|Fresh|Checking|Locking|Adding|Updating|Downloading|Downloaded|warning:|note:|Caused by:|error: test failed|error: doctest failed|To rerun)`)

// own leaves out cargo's lines of progress and keeps the last ones of the rest.
func own(text string, n int) string {
	var kept []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !progress.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-n):], " ")
}

// firstError is the sentence of the first error that cargo printed, with its
// cause; "" for none.
func firstError(text string) string {
	at := strings.Index("\n"+text, "\nerror")
	if at < 0 {
		return ""
	}
	lines := strings.Split(text[at:], "\n")
	return strings.Join(lines[:min(len(lines), 8)], " ")
}
