package patchsplit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNeighbours decides paths alike after others of their directory and alone.
// Every name of the table is tried in every directory of it.
func TestNeighbours(t *testing.T) {
	var dirs, names []string
	for line := range strings.Lines(readText(t, "testdata/paths.txt")) {
		words, _, _ := strings.Cut(line, " | ")
		if _, path, ok := strings.Cut(words, " "); ok && !strings.HasPrefix(line, "#") {
			dirs, names = append(dirs, dirOf(path)), append(names, baseOf(path))
		}
	}
	slices.Sort(dirs)
	slices.Sort(names)
	dirs, names = slices.Compact(dirs), slices.Compact(names)
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(extOf(a), extOf(b)) })
	for _, rules := range []Rules{{}, {Production: []string{"**/test_a*"}, Neutral: []string{"*.md"}}} {
		t.Run(fmt.Sprint(rules), func(t *testing.T) {
			after := classifier(t, rules, nil, nil)
			for _, dir := range dirs {
				for _, name := range names {
					path := joinDir(dir, name)
					if got, want := after.File(path), newClassifier(after.globs, nil, nil).File(path); got != want {
						t.Errorf("%s: %v after its neighbours, %v alone", path, got, want)
					}
				}
			}
		})
	}
}
