package report

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrors(t *testing.T) {
	err := Write(broken{}, "yaml", passDiscriminating(), Options{})
	for _, want := range append(Formats(), `"yaml"`) {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
	for _, format := range Formats() {
		if err := Write(broken{}, format, passDiscriminating(), Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: got %v, want the writer's error", format, err)
		}
	}
}

// A change's test file that could not be run is not told as a change without tests.
func TestTestsThatCouldNotBeRun(t *testing.T) {
	failed := gate.Cell{Outcome: gate.Errored, Reason: gate.Import, Message: "a dependency is not at hand offline"}
	for _, c := range []struct {
		file string
		head gate.Cell
		want string
	}{
		{"src/test/java/ATest.java", failed, "Tests of this change: none could be run"},
		{"src/test/java/ATest.java", passed, "Tests of this change: none"},
		{"src/test/java/Other.java", failed, "Tests of this change: none"},
		{"pom.xml", failed, "Tests of this change: none"},
	} {
		r := change(gate.Undecided, "1 check could not be compared between base and head")
		r.Split = []gate.SplitEntry{{Path: "src/main/java/A.java", Part: "production"}, {Path: "src/test/java/ATest.java", Part: "test"}, {Path: "pom.xml", Part: "neutral"}}
		r.Checks = []gate.Check{{ID: c.file, File: c.file, Origin: gate.Existing, Cells: map[gate.StateName][]gate.Cell{gate.Head: {c.head}}}}
		for format, end := range map[string]string{"text": "\n", "markdown": "."} {
			if out := write(t, format, r, Options{}); !strings.Contains(out, c.want+end) {
				t.Errorf("%s, %s: no %q in\n%s", format, c.file, c.want, out)
			}
		}
	}
}

// Writing is a pure function of the report.
func TestWriteChangesNothing(t *testing.T) {
	for _, g := range golden {
		for _, format := range Formats() {
			r := g.build()
			first := write(t, format, r, g.opts)
			if !reflect.DeepEqual(r, g.build()) {
				t.Errorf("%s: writing %s changed the report", g.name, format)
			}
			for range 2 {
				if write(t, format, g.build(), g.opts) != first {
					t.Errorf("%s: two reports of the same facts differ as %s", g.name, format)
				}
			}
		}
	}
}

// Nothing in a report takes effect in a terminal or a CI runner's log, however
// wide the terminal and however the text is broken into lines.
func TestOutputIsInert(t *testing.T) {
	for width := 40; width < 130; width += 3 {
		for _, format := range Formats() {
			for _, verbose := range []bool{false, true} {
				out := write(t, format, hostile(), Options{Width: width, Verbose: verbose})
				if !utf8.ValidString(out) {
					t.Fatalf("%s, width %d: invalid UTF-8", format, width)
				}
				for n, line := range strings.Split(out, "\n") {
					if problem := acts(line); problem != "" {
						t.Fatalf("%s, width %d, line %d: %s: %q", format, width, n+1, problem, line)
					}
				}
			}
			if format != "text" {
				break
			}
		}
	}
	for _, format := range Formats() {
		out := write(t, format, hostile(), Options{Verbose: true})
		for n, line := range strings.Split(out, "\n") {
			if problem := acts(line); problem != "" {
				t.Errorf("%s, line %d: %s: %q", format, n+1, problem, line)
			}
		}
	}
}

// acts says what in a line would take effect, by the runners' own rules.
func acts(line string) string {
	switch {
	case strings.HasPrefix(strings.TrimSpace(line), "::"):
		return "a command of GitHub's runner"
	case strings.Contains(line, "##[") || strings.Contains(line, "##vso["):
		return "a command of Azure's runner"
	}
	for _, c := range line {
		if unicode.IsControl(c) || c != '\u200b' && unicode.Is(unicode.Cf, c) {
			return "a control or format character"
		}
	}
	return ""
}

func TestColourOnlyWhenAsked(t *testing.T) {
	for _, g := range golden {
		if g.opts.Color {
			continue
		}
		if strings.Contains(write(t, "text", g.build(), g.opts), "\x1b") {
			t.Errorf("%s: colour that nobody asked for", g.name)
		}
	}
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for _, build := range golden {
		if build.name == "hostile" {
			continue // commands are never broken
		}
		for _, width := range []int{80, 120} {
			for _, line := range strings.Split(write(t, "text", build.build(), Options{Width: width}), "\n") {
				if utf8.RuneCountInString(line) > width && !strings.Contains(line, "to see it:") {
					t.Errorf("%s: wider than %d: %q", build.name, width, line)
				}
			}
		}
	}
}
