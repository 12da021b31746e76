package git

import "strings"

// words keeps what git says on standard error, up to a limit.
type words struct{ text strings.Builder }

func (w *words) Write(p []byte) (int, error) {
	const limit = 64 << 10
	if room := limit - w.text.Len(); room > 0 {
		w.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// String is the errors among the lines, at most five, or else the last line:
// hints and warnings hide what matters.
func (w *words) String() string {
	lines := strings.Split(strings.TrimSpace(w.text.String()), "\n")
	var errs []string
	for _, line := range lines {
		for _, prefix := range []string{"fatal: ", "error: "} {
			if rest, ok := strings.CutPrefix(line, prefix); ok && len(errs) < 5 {
				errs = append(errs, clip(rest))
			}
		}
	}
	if len(errs) == 0 {
		return clip(lines[len(lines)-1])
	}
	return strings.Join(errs, "; ")
}

func clip(line string) string {
	if len(line) > 300 {
		return line[:300] + "…"
	}
	return line
}
