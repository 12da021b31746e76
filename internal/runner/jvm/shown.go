package jvm

import (
	"strings"

	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// shown is how a report of Gradle speaks of a test of JUnit 5: its display name,
// "[1] a b", which does not say of which method it is, and how it ended.
type shown struct {
	class, name, result string
}

// learnName takes a test's result, class, name and display name.
func (h *heard) learnName(words []string) {
	if len(words) != 4 {
		return
	}
	if h.named == nil {
		h.named = make(map[shown][]string)
	}
	key := shown{words[1], strings.TrimSpace(words[3]), words[0]}
	h.named[key] = append(h.named[key], words[2])
}

// rename gives the cases of reports the names of their tests. Of several with one
// display name the first is that which ended first.
func (h *heard) rename() {
	for i := range h.cases {
		c := &h.cases[i]
		key := shown{c.Class, strings.Join(strings.Fields(c.Name), " "), resultOf(*c)}
		if names := h.named[key]; len(names) > 0 {
			c.Name, h.named[key] = names[0], names[1:]
		}
	}
}

// resultOf is a case's result in Gradle's words.
func resultOf(c junit.Case) string {
	result := "SUCCESS"
	for _, p := range c.Problems {
		switch p.Tag {
		case "failure", "error":
			return "FAILURE"
		case "skipped":
			result = "SKIPPED"
		}
	}
	return result
}
