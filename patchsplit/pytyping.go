package patchsplit

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var (
	overload     = lazyregexp.New(`^@(?:\w+\.)?overload$`)
	typeChecking = lazyregexp.New(`^if (?:\w+\.)?TYPE_CHECKING\s*:`)
	typingImport = lazyregexp.New(`^(?:from (?:typing|typing_extensions|collections\.abc) import\b|import (?:typing|typing_extensions|collections\.abc)(?: as \w+)?$)`)
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
			at := i + 1
			for at < len(lines) && lines[at].indent == line.indent && lines[at].text != "" && lines[at].text[0] == '@' {
				at++
			}
			end := pastBlock(lines, at)
			if !bodiless(lines[at:end]) { // another library's, which dispatches to it
				kept = append(kept, lines[i:end]...)
			}
			i = end
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

// bodiless tells whether a definition does nothing.
func bodiless(lines []pyLine) bool {
	for i, line := range lines {
		if i == 0 && (strings.HasSuffix(line.text, ":") || strings.HasSuffix(line.text, ": ...") || strings.HasSuffix(line.text, ":...") || strings.HasSuffix(line.text, ": pass")) {
			continue
		}
		if i == 0 || line.text != "..." && line.text != "pass" && strings.Trim(line.text, ` "`) != "" && !strings.HasPrefix(line.text, "raise NotImplementedError") {
			return false
		}
	}
	return true
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

var pyWord = lazyregexp.New(`\w+`)

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

var (
	futureImport = lazyregexp.New(`^from __future__ import annotations$`)
	readable     = lazyregexp.New(`\bAnnotated\b`)
	castString   = lazyregexp.New(`(?:^|[^\w.)\]}"])(?:(\w+)\.)?cast\("",`)
	signature    = lazyregexp.New(`^((?:async )?def \w+\s*)\((.*)\)\s*(?:->.*)?:(.*)$`)
)

// AnnotationsOnly tells whether two versions of a Python file differ in nothing
// but the annotations of functions, beside what Inert leaves out. A framework
// may read those, so such a change is not inert: it is a refactoring. What an
// annotation calls, or hands to a framework by Annotated, is code like any other.
func AnnotationsOnly(path string, old, new []byte) bool {
	if old == nil || new == nil || extOf(path) != ".py" || !pyReadable(old) || !pyReadable(new) {
		return false
	}
	return slices.Equal(unannotated(old), unannotated(new))
}

// unannotated are a source's statements without the annotations of functions.
func unannotated(source []byte) []string {
	bound := typingNames(pyLines(source))
	var kept []string
	for _, statement := range pyStatements(source) {
		text, held, _ := strings.Cut(statement, "\x00")
		trimmed := strings.TrimLeft(text, " ")
		if futureImport.MatchString(trimmed) {
			continue
		}
		if castsByName(trimmed, bound) {
			held = "" // the type's name is the only string, and nothing reads it
		}
		if m := signature.FindStringSubmatch(trimmed); m != nil && !readable.MatchString(statement) {
			bare := strings.Join(bareParameters(m[2]), ",")
			if strings.Count(trimmed, "(") != 1+strings.Count(bare+m[3], "(") || strings.Contains(held, "(") {
				kept = append(kept, statement)
				continue
			}
			trimmed = m[1] + "(" + bare + "):" + m[3]
			held = "" // strings in annotations
			if strings.Contains(bare+m[3], `"`) {
				held = statement // which of them is which is not told apart
			}
		}
		kept = append(kept, text[:len(text)-len(strings.TrimLeft(text, " "))]+trimmed+"\x00"+held)
	}
	return kept
}

// castsByName tells whether a statement's only string names the type of a cast:
// typing's, by what the source's imports bound.
func castsByName(text string, bound map[string]string) bool {
	m := castString.FindStringSubmatch(text)
	if m == nil || strings.Count(text, `""`) != 1 {
		return false
	}
	if m[1] == "" {
		return strings.HasSuffix(bound["cast"], "typing:cast;")
	}
	return strings.HasPrefix(bound[m[1]], ":typing")
}

// bareParameters are a signature's parameters without their annotations.
func bareParameters(list string) []string {
	var found []string
	depth, start := 0, 0
	cut := func(end int) {
		if p := strings.TrimSpace(list[start:end]); p != "" {
			found = append(found, unannotatedParameter(p))
		}
	}
	for i, c := range list {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				cut(i)
				start = i + 1
			}
		}
	}
	cut(len(list))
	return found
}

func unannotatedParameter(p string) string {
	name, rest, annotated := strings.Cut(p, ":")
	if eq := strings.IndexByte(p, '='); !annotated || eq >= 0 && eq < len(name) {
		before, value, ok := strings.Cut(p, "=")
		if !ok {
			return p
		}
		return strings.TrimSpace(before) + "=" + strings.TrimSpace(value)
	}
	depth := 0
	for i, c := range rest {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '=':
			if depth == 0 {
				return strings.TrimSpace(name) + "=" + strings.TrimSpace(rest[i+1:])
			}
		}
	}
	return strings.TrimSpace(name)
}
