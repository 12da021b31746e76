package report

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// JUnit, SARIF and HTML of a hostile report are well formed, and what stands in
// it takes no effect.
func TestFormatsOfAHostileReport(t *testing.T) {
	var suite junitSuite
	if err := xml.Unmarshal([]byte(write(t, "junit", hostile(), Options{})), &suite); err != nil {
		t.Fatal(err)
	}
	r := hostile()
	if want := 1 + len(r.Checks) + len(r.Flips) + len(r.Lost); suite.Tests != want || len(suite.Cases) != want || suite.Failures != len(r.Flips) {
		t.Errorf("%d tests, %d cases, %d failures", suite.Tests, len(suite.Cases), suite.Failures)
	}
	var log sarifLog
	sarif := write(t, "sarif", hostile(), Options{})
	if err := json.Unmarshal([]byte(sarif), &log); err != nil {
		t.Fatal(err)
	}
	if run := log.Runs[0]; len(run.Results) != len(r.Findings) || log.Version != "2.1.0" {
		t.Errorf("%d results", len(run.Results))
	}
	page := write(t, "html", hostile(), Options{})
	if found := regexp.MustCompile(`(?i)<(script|img|a|iframe|link|form)\b|javascript:[^<]*>|onerror=[^<]*>`).FindString(page); found != "" {
		t.Errorf("the page holds %q", found)
	}
	for _, text := range []string{sarif, page} {
		if strings.ContainsAny(text, "\x00\x07\x1b\u202e") || strings.Contains(text, "##[") {
			t.Error("a control character, a direction mark or a command stands in the text")
		}
	}
}

func TestFormatsSayTheSame(t *testing.T) {
	for _, c := range []struct {
		build         func() *gate.Report
		junit, result string
	}{
		{passDiscriminating, `failures="0" errors="0"`, `"results": []`},
		{failVacuous, `failures="1" errors="0"`, `"ruleId": "vacuous-test"`},
		{undecidedNoReport, `failures="1" errors="1"`, `"results": []`},
		{failFlips, `failures="3" errors="0"`, `"results": []`},
		{advisory, `failures="0" errors="0"`, `"startLine": 11`},
	} {
		r := c.build()
		if got := write(t, "junit", r, Options{}); c.build().Verdict.Conclusion != gate.Fail && !strings.Contains(got, c.junit) || !strings.Contains(got, "<testsuite") {
			t.Errorf("%s: %s", r.Verdict.Reasons, got)
		}
		if got := write(t, "sarif", r, Options{}); !strings.Contains(got, c.result) {
			t.Errorf("%s: %s", r.Verdict.Reasons, got)
		}
		if got := write(t, "html", r, Options{}); !strings.Contains(got, verdictName(r.Verdict.Conclusion)) || strings.Contains(got, "passed<br>") {
			t.Errorf("%s: %s", r.Verdict.Reasons, got)
		}
	}
}

// TestFormatsShowTheCrossTable reads whose tests accept whose code in every format
// for people.
func TestFormatsShowTheCrossTable(t *testing.T) {
	for format, want := range map[string]string{
		"text":     "    head          -         2 of 3  3 of 3\n",
		"markdown": "| `head` | `#12` | 2 of 3 | `tests/test_money.py::test_split` |\n",
		"html":     "<tr><th><code>head</code></th><td></td><td>2 of 3<br>rejected by <code>tests/test_money.py::test_split</code></td><td>3 of 3</td></tr>",
	} {
		if got := write(t, format, further(), Options{}); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, got)
		}
	}
}

// Whatever a report holds, the check run and the comment stay within GitHub's
// limits and their markup stays ours.
func TestCheckAndCommentOfAHostileReport(t *testing.T) {
	spans := regexp.MustCompile("`[^`\n]*`|<code>[^<\n]*</code>")
	for _, build := range []func() *gate.Report{hostile, manyRows, everyRole, failFlips} {
		r := build()
		text := Check(r, 3)
		body, short := Comment(r, "touchstone")
		if len(text.Title) > titleLength || len(text.Summary) > Limit || len(text.Text) > Limit || len(body) > Limit || len(short) > shortLength+200 {
			t.Errorf("%q: %d, %d, %d; comment %d and %d bytes", text.Title, len(text.Title), len(text.Summary), len(text.Text), len(body), len(short))
		}
		for _, part := range []string{text.Summary, text.Text, body, short} {
			if strings.Count(part, foldStart) != strings.Count(part, "\n"+foldEnd) {
				t.Errorf("folds are not closed:\n%s", part)
			}
			if strings.Contains(spans.ReplaceAllString(part, ""), "@team") || strings.Contains(part, "\n<img") || strings.ContainsAny(part, "\x00\x1b\u202e") {
				t.Error("a mention, markup or a control character takes effect")
			}
		}
		if !strings.HasPrefix(body, CommentMarker("touchstone")) || strings.Count(body, "\n<!--") != 0 {
			t.Errorf("the marker: %.80q", body)
		}
	}
}

// A title is cut in bytes, on a rune.
func TestTitleIsCut(t *testing.T) {
	r := change(gate.Pass, strings.Repeat("ü🙂", 70))
	if title := Title(r); len(title) > titleLength || !strings.HasPrefix(title, "Pass: ") || strings.ContainsRune(title, '\uFFFD') {
		t.Errorf("%d bytes: %q", len(title), title)
	}
}

// A green comment is folded; equal findings give equal bytes, whatever the time.
func TestCommentIsQuietAndStable(t *testing.T) {
	body, _ := Comment(passDiscriminating(), "touchstone")
	if !strings.Contains(body, "\n"+foldStart+"<b>PASS</b>") || !strings.HasSuffix(strings.TrimSpace(body), foldEnd) {
		t.Errorf("%s", body)
	}
	later := passDiscriminating()
	later.Seconds.Total, later.Change.Head = 99, baseCommit
	if again, _ := Comment(later, "touchstone"); again != body {
		t.Error("time or commit changes the comment")
	}
}

func TestRemarks(t *testing.T) {
	r := change(gate.Fail)
	add := func(s gate.Severity, path, message string) {
		r.Findings = append(r.Findings, gate.Finding{Rule: "vacuous-test", Severity: s, Path: path, Message: message})
	}
	add(gate.SeverityWarning, "b_test.go", "second")
	add(gate.SeverityNote, "c_test.go", "a note")
	add(gate.SeverityError, "a_test.go", "first\n::error::x")
	for _, path := range []string{"", "/etc/passwd", "../x", "a//b", "a\nb", "a/../b", "."} {
		add(gate.SeverityError, path, "nowhere")
	}
	for range 5 {
		add(gate.SeverityWarning, "d_test.go", "more")
	}
	remarks, omitted := Remarks(r, 4)
	if len(remarks) != 4 || omitted != 3 || remarks[0].Message != "first ::error::x" || remarks[0].Level != "failure" || remarks[1].Message != "second" || remarks[0].Line != 1 {
		t.Errorf("%+v, %d omitted", remarks, omitted)
	}
}
