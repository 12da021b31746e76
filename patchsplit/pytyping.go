package patchsplit

import (
	"regexp"
	"strings"
)

var (
	overload     = regexp.MustCompile(`^@(?:\w+\.)?overload$`)
	typeChecking = regexp.MustCompile(`^if (?:\w+\.)?TYPE_CHECKING\s*:`)
	typingImport = regexp.MustCompile(`^(?:from (?:typing|typing_extensions|collections\.abc) import\b|import (?:typing|typing_extensions|collections\.abc)(?: as \w+)?$)`)
)

// withoutTyping leaves out what no running program can tell: signatures marked
// as overloads, blocks that only type checkers enter, imports from typing
// modules. Annotations stay: a decorator or a base class may read them.
func withoutTyping(lines []pyLine) []pyLine {
	var kept []pyLine
	for i := 0; i < len(lines); {
		line := lines[i]
		switch {
		case overload.MatchString(line.text):
			i++
			for i < len(lines) && lines[i].indent == line.indent && lines[i].text != "" && lines[i].text[0] == '@' {
				i++
			}
			i = pastBlock(lines, i)
		case typeChecking.MatchString(line.text):
			i = pastBlock(lines, i)
		case typingImport.MatchString(line.text):
			i++
		default:
			kept = append(kept, line)
			i++
		}
	}
	return kept
}

// pastBlock is the index behind the statement at i and what is indented below it.
func pastBlock(lines []pyLine, i int) int {
	if i >= len(lines) {
		return i
	}
	indent := lines[i].indent
	for i++; i < len(lines) && lines[i].indent > indent; {
		i++
	}
	return i
}

var pyWord = regexp.MustCompile(`\w+`)

// sameTypingNames tells whether the imports from typing modules, which
// withoutTyping leaves out, bind the same names to the same things wherever the
// rest of the two sources mentions them: a program can tell when a name that it
// reads is no longer there, or is another thing. The rest is alike in both.
func sameTypingNames(old, new []byte) bool {
	lines := pyLines(new)
	was, is := typingNames(pyLines(old)), typingNames(lines)
	for _, line := range withoutTyping(lines) {
		for _, name := range pyWord.FindAllString(line.text, -1) {
			if was[name] != is[name] {
				return false
			}
		}
	}
	return true
}

// typingNames are the names that a source's imports from typing modules bind at
// run time, each with what it is bound to, in order.
func typingNames(lines []pyLine) map[string]string {
	bound := make(map[string]string)
	for i := 0; i < len(lines); {
		text := lines[i].text
		if typeChecking.MatchString(text) {
			i = pastBlock(lines, i)
			continue
		}
		i++
		if !typingImport.MatchString(text) {
			continue
		}
		module, list, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "from "), "import "), " import ")
		if list == "" {
			module, list = "", module
		}
		for item := range strings.SplitSeq(strings.Trim(strings.TrimSpace(list), "() "), ",") {
			name, as, renamed := strings.Cut(strings.TrimSpace(item), " as ")
			if !renamed {
				as, _, _ = strings.Cut(name, ".") // import a.b binds a
			}
			bound[strings.TrimSpace(as)] += module + ":" + name + ";"
		}
	}
	return bound
}
