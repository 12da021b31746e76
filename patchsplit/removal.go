package patchsplit

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
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
	removableBlock  = lazyregexp.New(`^ *(?:@|(?:async )?def |class )`)
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
			i = blockEnd(was, i)
		default:
			return false
		}
	}
	return at == len(is) && len(was) > len(is)
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
		if at < len(is) && declaration == is[at] {
			at++
		}
	}
	return at == len(is)
}

// goDeclarations prints a file's declarations, imports left out, one for each
// function and each specification of a group.
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
