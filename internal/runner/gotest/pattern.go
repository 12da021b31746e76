package gotest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// maxPattern bounds a -run pattern, in bytes: the system limits one argument.
// Beyond it everything is run and what was not asked for is dropped.
const maxPattern = 100 << 10

var number = lazyregexp.New(`#[1-9][0-9]*$`)

// alternatives is a -run or -skip pattern for exactly these tests and parts.
// The go command matches a name's parts one by one and takes | for a choice of
// whole patterns.
func alternatives(names []string) string {
	tops, nested := []string{}, []string{}
	for _, name := range names {
		parts := strings.Split(name, "/")
		for i, part := range parts {
			if i == 0 || strings.Contains(part, "0x_") {
				part = number.ReplaceAllString(part, "") // "#2" is ours: Go names the two alike
			}
			parts[i] = strings.ReplaceAll(regexp.QuoteMeta(part), "0x_", "0x([0-9a-f]+|_)")
		}
		if len(parts) == 1 {
			tops = append(tops, parts[0])
		} else {
			nested = append(nested, "^"+strings.Join(parts, "$/^")+"$")
		}
	}
	all := sortedSet(nested)
	if len(tops) > 0 {
		all = append([]string{"^(" + strings.Join(sortedSet(tops), "|") + ")$"}, all...)
	}
	pattern := strings.Join(all, "|")
	if len(pattern) > maxPattern {
		return ""
	}
	return pattern
}

func sortedSet(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
