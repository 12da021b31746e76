package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

func TestWrapIsInertAndKeepsToTheWidth(t *testing.T) {
	text := strings.Repeat("some words ::error::taken over ##[error]here ", 8)
	for width := 40; width < 130; width++ {
		for n, line := range strings.Split(Wrap("  problem  ", text, width), "\n") {
			if problem := acts(line); problem != "" {
				t.Fatalf("width %d, line %d: %s: %q", width, n+1, problem, line)
			}
			if utf8.RuneCountInString(line) > width+3 { // a command that is disarmed has one rune or two more
				t.Fatalf("width %d, line %d is wider: %q", width, n+1, line)
			}
			if n > 0 && line != "" && !strings.HasPrefix(line, "           ") {
				t.Fatalf("width %d, line %d is not below the first: %q", width, n+1, line)
			}
		}
	}
}

func TestOneMoreFlipIsNoPlural(t *testing.T) {
	r := hostile()
	for format, c := range map[string]struct {
		shown int
		want  string
	}{"text": {fold, "... and 1 more flip (--verbose shows it)"}, "markdown": {listed, "... and 1 more flip\n"}} {
		r.Flips = make([]gate.Flip, c.shown+1)
		if out := write(t, format, r, Options{}); !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s", format, c.want, out)
		}
	}
}
