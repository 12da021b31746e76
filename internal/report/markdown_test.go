package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/touchstone-gate/touchstone/gate"
)

func TestCode(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a.py::test_x[1]", "`a.py::test_x[1]`"},
		{"@team", "`@team`"},
		{"</details>", "`</details>`"},
		{"a|b", "<code>a&#124;b</code>"},
		{"`x`", "<code>&#96;x&#96;</code>"},
		{`a\|`, "<code>a&#92;&#124;</code>"},
		{"`<b>&", "<code>&#96;&lt;b&gt;&amp;</code>"},
		{"  x\n", "`x`"},
		{"", ""},
	} {
		if got := code(c.in); got != c.want {
			t.Errorf("code(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"passes on base; add a test.", "passes on base; add a test."},
		{"@team", "@\u200bteam"},
		{"see #12 and GH-3", "see \\#\u200b12 and GH-\u200b3"},
		{"http://x www.y.z", "http:\u200b//x www\u200b.y.z"},
		{"a :b:", "a :\u200bb:"},
		{"ends :b", "ends :\u200bb"},
		{"![a](b)", `\!\[a\](b)`},
		{"*a* _b_ ~c~ `d` <e> &f; |g| \\", "\\*a\\* \\_b\\_ \\~c\\~ \\`d\\` \\<e\\> \\&f; \\|g\\| \\\\"},
		{"cost $5", "cost <span>$</span>5"},
		{"1. list", `1\. list`},
		{"- list", `\- list`},
		{"+1 well-known (x) a=b", `\+1 well-known (x) a=b`},
	} {
		if got := prose(c.in, 0); got != c.want {
			t.Errorf("prose(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

// Whatever stands in a report, the Markdown has the same skeleton: text of
// others opens and closes no element and no line.
func TestMarkdownSkeleton(t *testing.T) {
	out := write(t, "markdown", hostile(), Options{Verbose: true})
	spans := regexp.MustCompile("`[^`\n]*`|<code>[^<\n]*</code>|\\\\.")
	ours := regexp.MustCompile(`</?(details|summary)>|<br>`)
	for n, line := range strings.Split(out, "\n") {
		bare := spans.ReplaceAllString(strings.ReplaceAll(line, "<span>$</span>", ""), "")
		if strings.HasPrefix(line, "|") && strings.Count(bare, "|") != 5 {
			t.Errorf("line %d: a row with %d cells: %s", n+1, strings.Count(bare, "|")-1, line)
		}
		bare = strings.TrimPrefix(ours.ReplaceAllString(bare, ""), "**")
		if strings.ContainsAny(bare, "<>`[]&~$") {
			t.Errorf("line %d: markup left: %s", n+1, bare)
		}
	}
	if a, b := countLines(out, foldStart), countLines(out, foldEnd); a != b || a < 3 {
		t.Errorf("%d details opened, %d closed", a, b)
	}
}

func countLines(text, prefix string) (n int) {
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func TestCutAtTheEdge(t *testing.T) {
	text := "**FAIL**: first\n\n" + foldStart + "lost</summary>\n\n" + strings.Repeat("- `ä`\n", 100) + "\n" + foldEnd + "\n"
	if got := cut(text, len(text)); got != text {
		t.Errorf("cut although it fits: %q", got)
	}
	for limit := 250; limit < len(text); limit++ {
		got := cut(text, limit)
		if len(got) > limit {
			t.Fatalf("limit %d: %d bytes", limit, len(got))
		}
		if !utf8.ValidString(got) || !strings.HasPrefix(got, "**FAIL**: first\n") || !strings.HasSuffix(got, "report.json has them all.*\n") {
			t.Fatalf("limit %d: %q", limit, got)
		}
		if countLines(got, foldStart) != countLines(got, foldEnd) {
			t.Fatalf("limit %d: details are open: %q", limit, got)
		}
		for _, line := range strings.Split(got, "\n") {
			if strings.HasPrefix(line, "- ") && line != "- `ä`" {
				t.Fatalf("limit %d: a line was cut: %q", limit, line)
			}
		}
	}
}

// A name that looks like the end of details is not taken for one when cutting.
func TestCutCountsOwnDetailsOnly(t *testing.T) {
	text := foldStart + "x</summary>\n\n- `</details>`\n" + strings.Repeat("- y\n", 200) + foldEnd + "\n"
	if got := cut(text, 400); countLines(got, foldEnd) != 1 {
		t.Errorf("details are open: %s", got)
	}
}

func TestMarkdownNeverPassesTheLimit(t *testing.T) {
	r := hostile()
	for i := range 3000 {
		r.Lost = append(r.Lost, gate.Lost{ID: fmt.Sprintf("tests/%s::%d", strings.Repeat("`|ä", 60), i), How: "deleted"})
		r.Split = append(r.Split, gate.SplitEntry{Path: fmt.Sprintf("tests/%d.py", i), Part: "test", Why: strings.Repeat("@", 200)})
	}
	out := write(t, "markdown", r, Options{Verbose: true})
	if len(out) > Limit || len(out) < Limit-2000 {
		t.Errorf("%d bytes, limit %d", len(out), Limit)
	}
	if !strings.HasPrefix(out, "**FAIL**: ") || !strings.Contains(out, "*Cut here: ") {
		t.Errorf("begins %.40q, ends %q", out, out[len(out)-120:])
	}
}

// Thousands of rows with one cause are one line in front, in both formats.
func TestManyRowsAreOneLine(t *testing.T) {
	for format, most := range map[string]int{"text": 40, "markdown": 30} {
		out := write(t, format, manyRows(), Options{})
		front, _, _ := strings.Cut(out, foldStart)
		if n := strings.Count(front, "\n"); n > most {
			t.Errorf("%s: %d lines, want at most %d", format, n, most)
		}
		if !strings.Contains(front, "2,262 cases") || strings.Count(front, "hypothesis") != 1 {
			t.Errorf("%s does not say it once:\n%s", format, front)
		}
	}
}
