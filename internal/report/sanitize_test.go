package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSanitize(t *testing.T) {
	for _, c := range []struct {
		name, in string
		limit    int
		want     string
	}{
		{"plain", "assert 1 == 2", 0, "assert 1 == 2"},
		{"unicode stays", "größer als 日本 ✓", 0, "größer als 日本 ✓"},
		{"lines become one", " a\r\n\tb\u2028c \n", 0, "a b c"},
		{"colour", "\x1b[1;31mred\x1b[0m", 0, "red"},
		{"title with bell", "\x1b]0;owned\x07x", 0, "x"},
		{"link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", 0, "text"},
		{"one-byte CSI", "\u009b31mred", 0, "red"},
		{"reset", "\x1bcx", 0, "x"},
		{"escape without end", "\x1b]0;owned", 0, `\x1b]0;owned`},
		{"controls", "a\x00b\ac\x7f", 0, `a\x00b\x07c\x7f`},
		{"C1 control", "a\u0090b", 0, `a\u0090b`},
		{"direction marks", "\u202egnp.exe\u202c \u2066x\u2069 \u200f", 0, `\u202egnp.exe\u202c \u2066x\u2069 \u200f`},
		{"zero width", "a\u200bb\ufeff", 0, `a\u200bb\ufeff`},
		{"invalid bytes", "a\xff\xfe\xc3(", 0, `a\xff\xfe\xc3(`},
		{"a real replacement character", "a\uFFFD", 0, "a\uFFFD"},
		{"command at the start", "::error::x", 0, ": :error::x"},
		{"command after blanks", " \t::set-env name=A::b", 0, ": :set-env name=A::b"},
		{"more colons", ":::error", 0, ": : :error"},
		{"colons inside", "a.py::test_x", 0, "a.py::test_x"},
		{"carriage return", "ok\r::add-mask::x", 0, "ok ::add-mask::x"},
		{"old command", "x ##[error]y", 0, "x # #[error]y"},
		{"old command behind a control", "#\x1b[0m#[error]y", 0, "# #[error]y"},
		{"hashes", "###[error]", 0, "## #[error]"},
		{"Azure", "##vso[task]", 0, "# #vso[task]"},
		{"a heading", "## title [x]", 0, "## title [x]"},
		{"cut", "abcdefghij", 8, "abcde..."},
		{"cut at a blank", "abcd fghij", 8, "abcd..."},
		{"not cut", "abcdefgh", 8, "abcdefgh"},
		{"cut between runes", "äöüäöüäöü", 5, "äö..."},
		{"no room", "abc", 2, "ab"},
		{"empty", "", 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Sanitize(c.in, c.limit); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzSanitize(f *testing.F) {
	for _, text := range nasty {
		f.Add(text, 20)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(0, min(limit, 10_000))
		got := Sanitize(text, limit)
		if !utf8.ValidString(got) || strings.Contains(got, "\n") || acts(got) != "" || strings.Contains(got, "\u200b") {
			t.Errorf("%q became %q: %s", text, got, acts(got))
		}
		if limit > 0 && utf8.RuneCountInString(got) > limit {
			t.Errorf("%d runes, limit %d", utf8.RuneCountInString(got), limit)
		}
	})
}

// A message of a gigabyte costs what its first bytes cost.
func TestSanitizeIsBounded(t *testing.T) {
	long := strings.Repeat("\x1b[31m::##[", 10_000_000)
	allocated := testing.AllocsPerRun(1, func() { Sanitize(long, 200) })
	if allocated > 5000 {
		t.Errorf("%v allocations for a cut message", allocated)
	}
}

func TestCutMiddle(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"tests/test_a.py::TestA::test_x", 20, "tests/te...:test_x"},
		{"tests/test_a.py", 15, "tests/test_a.py"},
		{"ääääääääää", 9, "äää...äää"},
		{"abcdefghij", 6, "abc..."},
		{"abc", 0, "abc"},
	} {
		got := cutMiddle(c.in, c.limit)
		if c.limit > 0 && utf8.RuneCountInString(got) > c.limit {
			t.Errorf("cutMiddle(%q, %d) = %q, too long", c.in, c.limit, got)
		}
		if c.limit != 20 && got != c.want {
			t.Errorf("cutMiddle(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
