package patchsplit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPaths decides paths by their names alone. Each line of the table is a
// part, a path, and the reason that -update writes; the part is people's.
func TestPaths(t *testing.T) {
	const file = "testdata/paths.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := classifier(t, Rules{}, nil, nil)
	var now strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			now.WriteString(line)
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		part, rest, _ := strings.Cut(line, " ")
		path, _, _ := strings.Cut(rest, " | ")
		d := c.File(path)
		if d.Part.String() != part {
			t.Errorf("%s: %v (%s), want %s", path, d.Part, d.Why, part)
		}
		got := fmt.Sprintf("%s %s | %s", part, path, d.Why)
		if d.Class != "" {
			got += " | " + d.Class
		}
		if got != line && !*update {
			t.Errorf("got  %s\nwant %s", got, line)
		}
		now.WriteString(got + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
