package patchsplit

import "regexp"

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
