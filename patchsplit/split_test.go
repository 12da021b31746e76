package patchsplit

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what Split says into the cases")

// archive is a case file: a comment and named sections, in order.
type archive struct {
	comment string
	names   []string
	files   map[string]string
}

func readArchive(text string) archive {
	a := archive{files: make(map[string]string)}
	name := ""
	for line := range strings.Lines(text) {
		if marker, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(marker, " --\n") {
			name = strings.TrimSuffix(marker, " --\n")
			a.names = append(a.names, name)
			a.files[name] = ""
			continue
		}
		if name == "" {
			a.comment += line
		} else {
			a.files[name] += line
		}
	}
	return a
}

func (a archive) String() string {
	var text strings.Builder
	text.WriteString(a.comment)
	for _, name := range a.names {
		fmt.Fprintf(&text, "-- %s --\n%s", name, a.files[name])
	}
	return text.String()
}

func (a archive) change(t *testing.T) (rules Rules, base, head mapTree, changes []FileChange) {
	base, head = make(mapTree), make(mapTree)
	for name, text := range a.files {
		if path, ok := strings.CutPrefix(name, "base/"); ok {
			base[path] = text
		}
	}
	maps.Copy(head, base)
	for line := range strings.Lines(a.files["changes"]) {
		change := readChange(t, strings.Fields(line))
		delete(head, change.OldPath)
		if change.Status == Deleted {
			delete(head, change.Path)
		}
		changes = append(changes, change)
	}
	for name, text := range a.files {
		if path, ok := strings.CutPrefix(name, "head/"); ok {
			head[path] = text
		}
	}
	for line := range strings.Lines(a.files["config"]) {
		list, glob, _ := strings.Cut(strings.TrimSpace(line), ": ")
		to := map[string]*[]string{"test": &rules.Test, "production": &rules.Production, "neutral": &rules.Neutral}[list]
		*to = append(*to, glob)
	}
	return rules, base, head, changes
}

func readChange(t *testing.T, words []string) FileChange {
	statuses := map[string]Status{"A": Added, "M": Modified, "D": Deleted, "R": Renamed}
	if len(words) < 2 || statuses[words[0]] == StatusUnknown {
		t.Fatalf("changes: %q is not A, M, D or R with its paths", words)
	}
	change := FileChange{Status: statuses[words[0]], Path: words[len(words)-1]}
	if change.Status == Renamed {
		change.OldPath = words[1]
	}
	return change
}

// eachArchive calls f with every case of a directory, as a test of its own.
func eachArchive(t *testing.T, dir string, f func(t *testing.T, file string, a archive)) {
	t.Helper()
	files, _ := filepath.Glob(dir + "/*.txtar")
	if len(files) == 0 {
		t.Fatal("no cases in " + dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f(t, file, readArchive(string(text)))
		})
	}
}

func TestSplitCases(t *testing.T) {
	eachArchive(t, "testdata/split", func(t *testing.T, file string, a archive) {
		rules, base, head, changes := a.change(t)
		got := ""
		for _, part := range Split(changes, classifier(t, rules, base, head)) {
			got += fmt.Sprintf("%s %s [%s]: %s\n", part.Part, part.Path, part.Class, part.Why)
		}
		a.expect(t, file, "want", got)
	})
}
