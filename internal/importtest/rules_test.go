package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var ruleName = regexp.MustCompile(`(?:Finding\{(?:Rule: )?|return )"([a-z]+(?:-[a-z]+)+|flip)", (?:Severity|severity)`)

// TestRulesAreDocumented holds that every rule that the gate names in a finding
// has its section in docs/rules.md.
func TestRulesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../gate/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range ruleName.FindAllStringSubmatch(string(source), -1) {
			found++
			if !strings.Contains(string(page), "## "+match[1]+"\n") {
				t.Errorf("%s: the rule %s has no section in docs/rules.md", filepath.Base(file), match[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d rules were found: the pattern misses them", found)
	}
}
