package ctest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	foreach  = lazyregexp.New(`(?is)\bforeach\s*\(\s*(\w+)\s+([^)]*)\)`)
	setsList = lazyregexp.New(`(?is)\b(?:set|list\s*\(\s*append)\s*\(?\s*(\w+)\s+([^)]*)\)`)
	variable = lazyregexp.New(`\$\{(\w+)\}`)
)

// addLoops adds the programs that a file's loops make: each value of the loop's
// variable makes one of the name and the sources in which it stands. Where the
// values are not written down, whatever file fits the sources does.
func (p *project) addLoops(text string, named []string) {
	lists := make(map[string][]string)
	for _, m := range setsList.FindAllStringSubmatch(text, -1) {
		lists[m[1]] = append(lists[m[1]], strings.Fields(strings.ReplaceAll(m[2], `"`, " "))...)
	}
	for _, name := range named {
		loop := variable.FindStringSubmatch(name)
		if loop == nil || len(p.sources[name]) == 0 {
			continue
		}
		values := loopValues(text, loop[1], lists)
		if len(values) == 0 {
			values = lists[loop[1]]
		}
		if len(values) == 0 {
			values = p.fitting(p.sources[name], loop[0])
		}
		for _, value := range values {
			program := strings.ReplaceAll(name, loop[0], value)
			for _, file := range p.sources[name] {
				if file = strings.ReplaceAll(file, loop[0], value); p.file(file) != nil && !slices.Contains(p.sources[program], file) {
					p.sources[program] = append(p.sources[program], file)
				}
			}
			p.started[program] = p.started[program] || p.started[name]
		}
		if len(values) > 0 {
			delete(p.sources, name)
		}
	}
}

// of are the sources of a program: its own, else those of one whose name holds a
// variable of which nobody says what it is.
func (p *project) of(program string) []string {
	if files, plain := p.sources[program]; plain {
		return files
	}
	for _, name := range slices.Sorted(maps.Keys(p.sources)) {
		loop := variable.FindString(name)
		before, after, _ := strings.Cut(name, loop)
		if loop != "" && strings.HasPrefix(program, before) && strings.HasSuffix(program, after) && p.file(p.sources[name][0]) != nil {
			return p.sources[name]
		}
	}
	return nil
}

// loopValues are what a loop's variable takes, as far as a file says.
func loopValues(text, loop string, lists map[string][]string) []string {
	var values []string
	for _, m := range foreach.FindAllStringSubmatch(text, -1) {
		if m[1] != loop {
			continue
		}
		ofLists := false
		for _, word := range strings.Fields(strings.ReplaceAll(m[2], `"`, " ")) {
			list := variable.FindStringSubmatch(word)
			switch {
			case word == "IN":
			case word == "LISTS" || word == "ITEMS":
				ofLists = word == "LISTS"
			case list != nil && list[0] == word:
				values = append(values, lists[list[1]]...)
			case ofLists:
				values = append(values, lists[word]...)
			default:
				values = append(values, word)
			}
		}
	}
	return slices.DeleteFunc(values, func(value string) bool { return strings.Contains(value, "$") })
}

// fitting are the values for which the first source that has a loop's variable in
// its name is there.
func (p *project) fitting(sources []string, loop string) []string {
	at := slices.IndexFunc(sources, func(file string) bool { return strings.Contains(file, loop) })
	if at < 0 {
		return nil
	}
	before, after, _ := strings.Cut(sources[at], loop)
	shape, err := regexp.Compile("^" + regexp.QuoteMeta(before) + `([\w.+-]+)` + regexp.QuoteMeta(after) + "$")
	if err != nil {
		return nil
	}
	var values []string
	for _, file := range p.tree.Paths() {
		if m := shape.FindStringSubmatch(file); m != nil {
			values = append(values, m[1])
		}
	}
	return values
}
