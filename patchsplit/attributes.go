package patchsplit

import (
	"bytes"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// attribute is one line of base's .gitattributes that says what a file is, in
// the words of GitHub's linguist.
type attribute struct {
	pattern, name string
	set           bool
}

var linguist = []string{"linguist-generated", "linguist-vendored", "linguist-documentation"}

// readAttributes keeps the linguist attributes of a root .gitattributes file.
func readAttributes(data []byte) []attribute {
	var attributes []attribute
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") || strings.HasPrefix(fields[0], "[") {
			continue
		}
		for _, field := range fields[1:] {
			for _, name := range linguist {
				if state, ok := attributeState(field, name); ok {
					attributes = append(attributes, attribute{rooted(fields[0]), name, state})
				}
			}
		}
	}
	return attributes
}

func attributeState(field, name string) (set, ok bool) {
	switch field {
	case name, name + "=true":
		return true, true
	case "-" + name, "!" + name, name + "=false":
		return false, true
	}
	return false, false
}

// rooted makes a gitattributes pattern one that is matched against whole paths.
func rooted(pattern string) string {
	if anchored, ok := strings.CutPrefix(pattern, "/"); ok {
		return anchored
	}
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "**/" + pattern
}

// said returns the pattern by which base's .gitattributes gives a path an
// attribute, "" when it does not. The last line that matches wins, as in git.
func (c *Classifier) said(path, name string) string {
	pattern := ""
	for _, a := range c.attributes {
		if a.name != name || !doublestar.MatchUnvalidated(a.pattern, path) {
			continue
		}
		pattern = ""
		if a.set {
			pattern = a.pattern
		}
	}
	return pattern
}

// attributed is the rule for what base's .gitattributes calls documentation.
// What it calls generated or vendored is a class: fixtures are often both.
func (c *Classifier) attributed(path string) Decision {
	if pattern := c.said(path, "linguist-documentation"); pattern != "" {
		return Decision{Part: Neutral, Class: ClassDocs, Why: ".gitattributes calls " + pattern + " documentation"}
	}
	return Decision{}
}
