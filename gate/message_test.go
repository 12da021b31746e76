package gate

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMessage(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\nb\t c", "a b c"},
		{"\x1b[31mred\x1b[0m \u202eevil\x00\x7f", "red evil"},
		{"bad \xff bytes", "bad \uFFFD bytes"},
		{"", ""},
	} {
		if got := Message(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	for n := range 8 {
		long := Message(strings.Repeat("x", 290+n) + strings.Repeat("é", 20))
		if len(long) > maxMessage || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
			t.Errorf("%d bytes, valid %v: %q", len(long), utf8.ValidString(long), long)
		}
	}
}

func TestTail(t *testing.T) {
	var tail Tail
	for i := range 10_000 {
		fmt.Fprintf(&tail, "line %d\n=====\n\n", i)
	}
	if got := tail.Lines(2); got != "line 9998 line 9999" {
		t.Errorf("got %q", got)
	}
	if tail.buffer.Len() > 2*tailSize {
		t.Errorf("keeps %d bytes", tail.buffer.Len())
	}
	fmt.Fprint(&tail, "SyntaxError: no JSON\n    at JSON.parse (<anonymous>)\n    at /a/cli.js:3:14\n    at step (/a/b.js:1:2)\n")
	if got := tail.Lines(1); got != "SyntaxError: no JSON" {
		t.Errorf("got %q of what was thrown", got)
	}
}
