package tells

import (
	"fmt"
	"path"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Line is one line that a change adds, with its number in the new file, from 1.
type Line struct {
	Number int
	Text   string
}

// perRule bounds how often one rule speaks in one file.
const perRule = 5

// Find reads what a change adds to one file of tests, in order. changed are the
// names of the functions whose production code the change edits. The findings
// are notes, in the order of the rules.
func Find(file string, added []Line, changed map[string]bool) []gate.Finding {
	language := languageOf(file)
	if language == "" {
		return nil
	}
	var found []gate.Finding
	for _, r := range rules {
		found = append(found, r.find(file, language, added)...)
	}
	for _, line := range added {
		if name := mocked(language, line.Text); changed[name] {
			found = append(found, note("mocks-the-subject", file, line.Number, fmt.Sprintf("a mock in place of %s, which this change edits: what is tested is the mock", name)))
		}
	}
	return found
}

// FindInProduct reads what a change adds to one file of its production part.
func FindInProduct(file string, added []Line) []gate.Finding {
	language := languageOf(file)
	if language == "" {
		return nil
	}
	return ofProduct.find(file, language, added)
}

func (r *rule) find(file, language string, added []Line) []gate.Finding {
	var found []gate.Finding
	said := make(map[int]bool)
	say := func(line int) {
		if !said[line] && len(found) < perRule {
			said[line] = true
			found = append(found, note(r.id, file, line, r.words))
		}
	}
	for _, line := range added {
		code := withoutComment(language, line.Text)
		if pattern := r.line[language]; pattern != nil && pattern.MatchString(code) || r.also != nil && r.also(language, code) {
			say(line.Number)
		}
	}
	if pattern := r.across[language]; pattern != nil {
		for _, run := range runs(added) {
			for _, at := range pattern.FindAllStringSubmatchIndex(run.text, -1) {
				before := run.text[:at[2]]
				blank := len(run.text[at[2]:]) - len(strings.TrimLeft(run.text[at[2]:], " \t\n"))
				say(run.first + strings.Count(before+run.text[at[2]:at[2]+blank], "\n"))
			}
		}
	}
	return found
}

func note(id, file string, line int, words string) gate.Finding {
	return gate.Finding{Rule: id, Severity: gate.SeverityNote, Path: file, Line: line, Message: "this change adds " + words}
}

// stretch is a run of added lines without a gap.
type stretch struct {
	first int
	text  string
}

func runs(added []Line) []stretch {
	var list []stretch
	for i, line := range added {
		if i == 0 || line.Number != added[i-1].Number+1 {
			list = append(list, stretch{first: line.Number})
		}
		list[len(list)-1].text += line.Text + "\n"
	}
	return list
}

func languageOf(file string) string {
	switch path.Ext(file) {
	case ".py":
		return python
	case ".go":
		return golang
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts":
		return javascript
	case ".rs":
		return rust
	}
	return ""
}

// withoutComment drops a line that is a comment as a whole: what stands there
// does nothing.
func withoutComment(language, line string) string {
	mark := "//"
	if language == python {
		mark = "#"
	}
	if strings.HasPrefix(strings.TrimSpace(line), mark) {
		return ""
	}
	return line
}
