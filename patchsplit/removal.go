package patchsplit

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// RemovesOnly tells whether a change to a file of Go or Python takes away whole
// declarations, and the imports that only they needed, and leaves every other
// statement as it was. What is not certain is not said.
func RemovesOnly(path string, old, new []byte) bool {
	if old == nil {
		return false
	}
	switch extOf(path) {
	case ".py":
		return new == nil || pyReadable(old) && pyReadable(new) && removesPython(pyStatements(old), pyStatements(new))
	case ".go":
		return new == nil || removesGo(old, new)
	}
	return false
}

var (
	removableBlock = lazyregexp.New(`^ *(?:@|(?:async )?def |class )`)
	// harmless decorators hand what they decorate to nobody else.
	harmless = lazyregexp.New(`^ *@(?:\w+\.)*(?:property|setter|getter|deleter|staticmethod|classmethod|abstract\w*|cached\w*|cache|lru_cache|\w*[dD]eprecat\w*|overload|override|final|(?:async)?contextmanager|wraps|no_type_check|dataclass)\b(?:\(.*\))?$`)
	// special methods are called by operators and protocols, not by name.
	special         = lazyregexp.New(`^ +(?:async )?def __\w+__\b`)
	removableImport = lazyregexp.New(`^(?:import |from \S+ import )`)
)

// removesPython walks both versions together: what only the old one has must be
// imports, or blocks from their first decorator to their last line.
func removesPython(was, is []string) bool {
	at := 0
	for i := 0; i < len(was); {
		if at < len(is) && was[i] == is[at] {
			i, at = i+1, at+1
			continue
		}
		switch {
		case removableImport.MatchString(was[i]):
			i++
		case removableBlock.MatchString(was[i]):
			end := blockEnd(was, i)
			if registered(was[i:end]) || uncovers(was, is, i, end) {
				return false
			}
			i = end
		default:
			return false
		}
	}
	return at == len(is) && len(was) > len(is)
}

// registered tells whether something else than a mention of its name may call a
// definition: a decorator that hands it on, an operator.
func registered(block []string) bool {
	for _, line := range block {
		text, _, _ := strings.Cut(line, "\x00")
		if leading(text) == leading(block[0]) && (strings.HasPrefix(strings.TrimLeft(text, " "), "@") && !harmless.MatchString(text) || special.MatchString(text)) {
			return true
		}
	}
	return false
}

var (
	definition = lazyregexp.New(`^ *(?:async )?(?:def|class) (\w+)`)
	subclass   = lazyregexp.New(`^ *class \w+ *\( *(?:\w+[\w.]*)`)
)

// uncovers tells whether another definition takes the name over when the block
// from start to end is gone: one of the same scope, or a base class's.
func uncovers(was, is []string, start, end int) bool {
	indent := leading(was[start])
	name := ""
	for _, line := range was[start:end] {
		if m := definition.FindStringSubmatch(line); m != nil && leading(line) == indent {
			name = m[1]
			break
		}
	}
	scope := start
	for scope > 0 && leading(was[scope]) >= indent {
		scope--
	}
	derived := indent > 0 && subclass.MatchString(was[scope])
	for at, line := range was {
		m := definition.FindStringSubmatch(line)
		if m == nil || m[1] != name || at >= start && at < end || !slices.Contains(is, line) {
			continue
		}
		if derived || leading(line) == indent && (indent == 0 || at > scope && !left(was[min(at, start):max(at, start)], indent)) {
			return true
		}
	}
	return false
}

// left tells whether lines leave the scope that is indented so far.
func left(lines []string, indent int) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return leading(line) < indent })
}

// blockEnd is the index behind a decorated definition and its body.
func blockEnd(lines []string, i int) int {
	indent := leading(lines[i])
	for i < len(lines) && strings.HasPrefix(lines[i][leading(lines[i]):], "@") && leading(lines[i]) == indent {
		i++
	}
	for i++; i < len(lines) && leading(lines[i]) > indent; {
		i++
	}
	return i
}

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// removesGo compares the declarations as printed: head's must all be base's, in
// their order.
func removesGo(old, new []byte) bool {
	was, ok := goDeclarations(old)
	is, too := goDeclarations(new)
	if !ok || !too || len(is) >= len(was) {
		return false
	}
	at := 0
	for _, declaration := range was {
		switch {
		case at < len(is) && declaration == is[at]:
			at++
		case runsUnnamed.MatchString(declaration), promotes(declaration, is):
			return false
		}
	}
	return at == len(is)
}

// runsUnnamed marks Go declarations that do something without being named: what
// runs when a package is loaded, and methods that the standard library looks for.
var runsUnnamed = lazyregexp.New(`(?m)^func init\(|^_ "|^_(?: .*)?= .*\(|^func \([^)]*\) (?:String|GoString|Error|Unwrap|Is|As|Format|Scan|Value|(?:Unm|M)arshal\w*|Gob\w+|ServeHTTP|Flush|Hijack|ReadFrom|WriteTo)\(`)

var methodOf = lazyregexp.New(`(?m)^func \((?:\w+ )?\*?(\w+)[^)]*\) (\w+)\(`)

// promotes tells whether an embedded type's method may take over from one that is
// removed: another type's of that name stays, and so does the type.
func promotes(declaration string, is []string) bool {
	removed := methodOf.FindStringSubmatch(declaration)
	if removed == nil {
		return false
	}
	stays, another := false, false
	for _, kept := range is {
		m := methodOf.FindStringSubmatch(kept)
		another = another || m != nil && m[2] == removed[2]
		stays = stays || strings.HasPrefix(kept, removed[1]+" struct")
	}
	return stays && another
}

// goDeclarations prints a file's declarations, imports left out unless they are
// there for their effect alone, one for each function and each specification of a group.
func goDeclarations(source []byte) (list []string, ok bool) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	add := func(node any) {
		var text bytes.Buffer
		ok = ok && format.Node(&text, files, node) == nil
		list = append(list, text.String())
	}
	ok = true
	for _, declaration := range file.Decls {
		group, isGroup := declaration.(*ast.GenDecl)
		switch {
		case isGroup && group.Tok == token.IMPORT:
			for _, spec := range group.Specs {
				if name := spec.(*ast.ImportSpec).Name; name != nil && name.Name == "_" {
					add(spec)
				}
			}
		case isGroup && group.Tok == token.CONST:
			add(group) // iota counts lines
		case isGroup:
			for _, spec := range group.Specs {
				add(spec)
			}
		default:
			add(declaration)
		}
	}
	return list, ok
}
