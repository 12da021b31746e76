package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/runners.md")

const page = "../../../docs/runners.md"

// order is that of the table's columns; a repository that is not in it comes last.
var order = []string{
	"pytest", "unittest", "django", "gotest", "jest", "vitest", "mocha", "node", "ava", "cargo", "maven", "kotlin", "gradle", "rspec", "minitest", "gtest", "catch2", "phpunit", "junit", "tap",
}

// TestTable holds that docs/runners.md has what the repositories say: a table of
// situations and frameworks, and why some have no such notion.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- conformance: go test ./internal/runner/conformance -update -->\n", "<!-- end of conformance -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + begin + table(t) + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("the table of %s is not that of the repositories: go test ./internal/runner/conformance -update", page)
	}
}

func table(t *testing.T) string {
	all := repositories(t)
	var out strings.Builder
	out.WriteString("| |")
	for _, r := range all {
		fmt.Fprintf(&out, " %s |", r.Name)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	none := make(map[string][]string) // reason -> "situation (framework)"
	var reasons []string
	for _, situation := range Situations {
		fmt.Fprintf(&out, "| %s |", situation)
		for _, r := range all {
			s := r.section(situation)
			fmt.Fprintf(&out, " %s |", cell(s))
			if s.None != "" {
				if none[situation+": "+s.None] == nil {
					reasons = append(reasons, situation+": "+s.None)
				}
				none[situation+": "+s.None] = append(none[situation+": "+s.None], r.Name)
			}
		}
		out.WriteString("\n")
	}
	out.WriteString("\nWhy there is none (–):\n\n")
	for _, reason := range reasons {
		fmt.Fprintf(&out, "- %s (%s)\n", reason, strings.Join(none[reason], ", "))
	}
	return out.String()
}

// cell is a situation's answers in short, each once.
func cell(s Section) string {
	if s.None != "" {
		return "–"
	}
	var words []string
	for _, line := range s.Lines {
		line = withoutPlace(line)
		said := line[strings.LastIndex(line, ": ")+2:]
		if strings.HasSuffix(line, ":") {
			continue // only listed
		}
		if short := shorten(said); !slices.Contains(words, short) {
			words = append(words, short)
		}
	}
	return strings.Join(words, ", ")
}

// shorten leaves the reason where there is one, else the outcome; several
// attempts follow one another. A "+" stands for names that are handed on.
func shorten(said string) string {
	var all []string
	for attempt := range strings.SplitSeq(said, ", ") {
		fields := strings.Fields(attempt)
		short := strings.ReplaceAll(fields[min(1, len(fields)-1)], "_", " ")
		if len(fields) > 2 {
			short += "+"
		}
		if len(all) == 0 || all[len(all)-1] != short {
			all = append(all, short)
		}
	}
	return strings.Join(all, " → ")
}

// repositories are all there are, each whole.
func repositories(t *testing.T) []*Repository {
	paths, err := filepath.Glob("../*/testdata/conformance/*")
	if err != nil || len(paths) < len(order) {
		t.Fatalf("%d repositories, %v", len(paths), err)
	}
	var all []*Repository
	for _, path := range paths {
		r, err := Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *Repository) int {
		at := func(r *Repository) int {
			if i := slices.Index(order, r.Name); i >= 0 {
				return i
			}
			return len(order)
		}
		return at(a) - at(b)
	})
	return all
}

// TestLoad refuses a repository that does not answer every situation.
func TestLoad(t *testing.T) {
	var whole bytes.Buffer
	whole.WriteString("-- want --\nneed: true\n")
	for _, s := range Situations {
		fmt.Fprintf(&whole, "# %s\na: passed\n", s)
	}
	for text, want := range map[string]string{
		whole.String(): "",
		strings.Replace(whole.String(), "# crash\n", "", 1):                     `"crash" is missing`,
		strings.Replace(whole.String(), "# skip\n", "# crash\n", 1):             `"crash" stands twice`,
		strings.Replace(whole.String(), "# retry\na: passed\n", "# retry\n", 1): `"retry" needs rows`,
		whole.String() + "# another\na: passed\n":                               `no situation "another"`,
	} {
		path := filepath.Join(t.TempDir(), "x.txtar")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
