package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityPage: docs/security.md names at least 45 attacks and 40 honest
// changes that look like one, and what it names as proof exists: cases, test
// functions, and sub-tests by their words. An honest change is a case that wants
// no block.
func TestSecurityPage(t *testing.T) {
	content, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	at := strings.Index(page, "### Honest changes that look alike")
	end := strings.Index(page, "### What can still be forged")
	if at < 0 || end < at {
		t.Fatal("the page has no section of honest changes before the limits")
	}
	attacks := regexp.MustCompile(`(?m)^\| \d+ \|.*$`).FindAllString(page[:at], -1)
	if len(attacks) < 45 {
		t.Errorf("%d attacks, want at least 45", len(attacks))
	}
	sources := testSources(t)
	for _, row := range attacks {
		proofs := regexp.MustCompile("`(Test\\w+)(\\*?)[^`]*`|`((?:py|go|js|rust|ruby)_\\w+)`|contract \\*[^*]+\\*|`(?:internal|cmd)/[\\w/]+`").FindAllStringSubmatch(row, -1)
		if len(proofs) == 0 {
			t.Errorf("nothing proves it: %s", row)
		}
		for _, proof := range proofs {
			if name := proof[1]; name != "" && !strings.Contains(sources, "func "+name) {
				t.Errorf("there is no test %s: %s", name, row)
			}
			if name := proof[3]; name != "" {
				wanted(t, name)
			}
		}
	}
	honest := regexp.MustCompile("(?m)^\\| [^|]+ \\| [^|]+ \\| `(\\w+)` \\|$").FindAllStringSubmatch(page[at:end], -1)
	if len(honest) < 40 {
		t.Errorf("%d honest changes, want at least 40", len(honest))
	}
	seen := make(map[string]bool)
	for _, row := range honest {
		if want := wanted(t, row[1]); want != "pass" && want != "not_applicable" || seen[row[1]] {
			t.Errorf("%s wants %q, or is named twice", row[1], want)
		}
		seen[row[1]] = true
	}
}

// wanted is the verdict that a case must get.
func wanted(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata/cases", name+".txtar"))
	if err != nil {
		t.Error(err)
		return ""
	}
	match := regexp.MustCompile(`(?m)^want: (\w+)$`).FindSubmatch(content)
	if match == nil {
		return ""
	}
	return string(match[1])
}

// testSources is the text of all tests of the repository.
func testSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
