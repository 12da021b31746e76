package actions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func step(t *testing.T) (*Step, *strings.Builder, map[string]string) {
	dir := t.TempDir()
	env := map[string]string{"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"), "GITHUB_EVENT_PATH": "/nonexistent", "GITHUB_REPOSITORY": "a/b"}
	var out strings.Builder
	return New(&out, func(name string) string { return env[name] }), &out, env
}

// A value that looks like outputs of its own stays one value.
func TestOutputStaysOneValue(t *testing.T) {
	s, _, env := step(t)
	if err := s.Output("verdict", "fail\nend\n_GitHubActionsFileCommandDelimeter_\nverdict=pass"); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(env["GITHUB_OUTPUT"])
	name, rest, _ := strings.Cut(string(text), "<<")
	delimiter, _, _ := strings.Cut(rest, "\n")
	if name != "verdict" || strings.Count(string(text), delimiter) != 2 || !strings.HasSuffix(string(text), "\n"+delimiter+"\n") {
		t.Errorf("%q", text)
	}
}

// Trap 23: a step's summary holds 1 MiB, cut at a line.
func TestSummaryHoldsAMebibyte(t *testing.T) {
	s, _, env := step(t)
	for range 3 {
		if err := s.Summary(strings.Repeat("0123456789abcde\n", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if len(text) > maxSummary || len(text) < maxSummary-100 || !strings.Contains(string(text), "e\n\n*Cut here") {
		t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-80:])
	}
}

// Trap 9: at most ten errors, and no message is more than one command.
func TestErrorsAreTenAndOneLineEach(t *testing.T) {
	s, out, _ := step(t)
	for range 15 {
		s.Error("a.go", 0, "bad\n::set-output name=x::y%0A")
	}
	if n := strings.Count(out.String(), "\n"); n != maxErrors || strings.Contains(out.String(), "\n::set-output") || !strings.HasPrefix(out.String(), "::error file=a.go,line=1::bad%0A") {
		t.Errorf("%d lines: %s", n, out)
	}
}

func TestContextDoesNotNeedTheEvent(t *testing.T) {
	s, _, _ := step(t)
	c, err := s.Context()
	if err != nil || c.EventPath != "/nonexistent" || c.Repository != "a/b" || c.APIURL != "https://api.github.com" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOutsideAWorkflowNothingIsWritten(t *testing.T) {
	s := New(&strings.Builder{}, func(string) string { return "" })
	if s.Output("a", "b") != nil || s.Summary("c") != nil {
		t.Error("it failed")
	}
}
