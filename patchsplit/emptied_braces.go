package patchsplit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// bracedFunction is a function whose body stands in braces.
type bracedFunction struct {
	name     string
	from     int // where its own text begins
	open, to int // its body, braces included
}

var (
	scriptFunction = lazyregexp.New(`(?:([\w$]+)[ \t]*[:=][ \t]*)?(?:async[ \t]+)?\bfunction\b\s*\*?\s*([\w$]*)\s*(?:<[^(){}]*>\s*)?\(`)
	scriptArrow    = lazyregexp.New(`([\w$]+)[^\S\n]*(?::[^=;{}\n]*)?[:=]\s*(?:async\s*)?(?:<[^(){}]*>\s*)?(?:\([^(){}]*\)\s*(?::[^={}\n]+)?|[\w$]+\s*)=>\s*\{`)
	scriptMethod   = lazyregexp.New(`(?m)^[ \t]*(?:(?:static|async|public|private|protected|override|get|set)[ \t]+)*\*?[ \t]*(#?[\w$]+)\s*(?:<[^(){}]*>\s*)?\(`)
	rustBodied     = lazyregexp.New(`\bfn\s+(\w+)`)
	rustConst      = lazyregexp.New(`\bconst\s+(?:unsafe\s+|extern\s+)*$`)
	// notMethods are words before a bracket that declare none, and what must run for
	// a class to be one.
	notMethods = []string{"if", "for", "while", "switch", "catch", "return", "function", "constructor", "super", "new", "await", "typeof", "with", "do", "else", "throw", "yield", "void", "delete", "import"}
)

// emptiedBraces makes each function of JavaScript or TypeScript that changes
// return at once, and each of Rust panic: a value of its type need not be at hand.
// A function that exports what others load is left as it is.
func emptiedBraces(file string, old, source []byte) (emptied []byte, names []string) {
	was := make(map[string][]string)
	s, _ := braced(file)
	for _, f := range functionsInBraces(file, old) {
		was[f.name] = append(was[f.name], s.words(file, old[f.from:f.to]))
	}
	text := " return;"
	switch ext := extOf(file); {
	case ext == ".rs":
		text = ` if true { panic!("emptied") }`
	case strings.Contains(ext, "ts"):
		text = " return undefined as any;"
	}
	tests := readInline(file, source)
	done := 0
	for _, f := range functionsInBraces(file, source) {
		body := source[f.open+1 : f.to-1]
		line := bytes.Count(source[:f.open], []byte("\n"))
		switch {
		case f.open < done || slices.Contains(was[f.name], s.words(file, source[f.from:f.to])):
			continue
		case len(bytes.TrimSpace(body)) == 0 || tests.holds(line) || bytes.Contains(body, []byte("exports")):
			continue
		}
		emptied = append(append(emptied, source[done:f.open+1]...), text...)
		done = f.open + 1
		names = append(names, f.name)
		if end := f.to; end > done { // what is inside is behind the return
			emptied = append(emptied, source[done:end]...)
			done = end
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return append(emptied, source[done:]...), names
}

// words is a source without comments and layout.
func (s syntax) words(file string, source []byte) string {
	return strings.ReplaceAll(string(s.bare(file, source)), "\n", " ")
}

// functionsInBraces lists functions in the order of their bodies.
func functionsInBraces(file string, source []byte) []bracedFunction {
	s, ok := braced(file)
	if !ok {
		return nil
	}
	masked := s.mask(source)
	var found []bracedFunction
	add := func(name string, from, open int) {
		if open >= 0 && open < len(masked) && masked[open] == '{' {
			found = append(found, bracedFunction{name, from, open, closing(masked, open)})
		}
	}
	if extOf(file) == ".rs" {
		for _, m := range rustBodied.FindAllSubmatchIndex(masked, -1) {
			if name := string(masked[m[2]:m[3]]); name != "main" && !rustConst.Match(masked[:m[0]]) {
				add(name, m[0], bodyBehind(masked, m[1], ";"))
			}
		}
		return found
	}
	for _, m := range scriptFunction.FindAllSubmatchIndex(masked, -1) {
		name := ""
		for _, group := range []int{4, 2} {
			if m[group] >= 0 && name == "" {
				name = string(masked[m[group]:m[group+1]])
			}
		}
		add(name, m[0], bodyBehind(masked, closing(masked, m[1]-1), ";"))
	}
	for _, m := range scriptArrow.FindAllSubmatchIndex(masked, -1) {
		add(string(masked[m[2]:m[3]]), m[0], m[1]-1)
	}
	for _, m := range scriptMethod.FindAllSubmatchIndex(masked, -1) {
		name := string(masked[m[2]:m[3]])
		behind := blanks(masked, closing(masked, m[1]-1))
		if slices.Contains(notMethods, name) || behind >= len(masked) || masked[behind] != '{' && masked[behind] != ':' {
			continue
		}
		add(name, m[0], bodyBehind(masked, behind, ";?"))
	}
	slices.SortFunc(found, func(a, b bracedFunction) int { return a.open - b.open })
	return slices.CompactFunc(found, func(a, b bracedFunction) bool { return a.open == b.open })
}

// bodyBehind is the brace that opens a body behind a function's head, -1 where the
// head ends without one. A brace behind a colon, a bar, a comma or an arrow's head
// belongs to a type.
func bodyBehind(masked []byte, i int, ends string) int {
	for i < len(masked) {
		switch c := masked[i]; {
		case strings.IndexByte(ends, c) >= 0 || c == ')' || c == '}':
			return -1
		case c == '(' || c == '[':
			i = closing(masked, i)
		case c == '{':
			before := bytes.TrimRight(masked[:i], " \t\r\n")
			if len(before) == 0 || !bytes.ContainsAny(before[len(before)-1:], ":|&,<") {
				return i
			}
			i = closing(masked, i)
		default:
			i++
		}
	}
	return -1
}
