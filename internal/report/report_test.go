package report

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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
