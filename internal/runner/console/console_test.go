package console

import (
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	var got []string
	w := &Lines{Take: func(line string) { got = append(got, line) }}
	for _, piece := range []string{"a\r\nb", "c\n\n", strings.Repeat("x", maxLine+5), "\nlast"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.End()
	if len(got) != 5 || !slices.Equal(got[:3], []string{"a", "bc", ""}) || len(got[3]) != maxLine || got[4] != "last" {
		t.Errorf("got %d lines: %.40q", len(got), got)
	}
}

func TestShell(t *testing.T) {
	words := []string{"printf", "%s|", "it's", "a b", "$HOME", "", "*"}
	out, err := exec.Command("sh", "-c", Shell(words)).Output()
	if err != nil || string(out) != "it's|a b|$HOME||*|" {
		t.Errorf("%q, %v", out, err)
	}
}

// A parser that gives up early must not hold up the command that still writes.
func TestParsed(t *testing.T) {
	stopped := errors.New("enough")
	report, end := Parsed(func(from io.Reader) error {
		_, _ = io.ReadFull(from, make([]byte, 3))
		return stopped
	})
	if n, err := io.WriteString(report, strings.Repeat("x", 1<<20)); n != 1<<20 || err != nil {
		t.Errorf("wrote %d: %v", n, err)
	}
	if err := end(); err != stopped {
		t.Errorf("the parser said %v", err)
	}
}
