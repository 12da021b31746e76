package patchsplit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Emptied is a source with the body of each function that it has otherwise than
// old, or that old does not have, replaced by a bare return: in Go of zero
// values, in Python of None, in JavaScript and TypeScript of undefined; in Rust by
// a panic. The body stays behind the return, so that what it uses stays used. names are the functions; none means that there is nothing to
// empty or that the language is another one.
func Emptied(path string, old, source []byte) (emptied []byte, names []string) {
	switch extOf(path) {
	case ".go":
		return emptiedGo(old, source)
	case ".py":
		return emptiedPython(old, source)
	}
	return emptiedBraces(path, old, source)
}

func emptiedGo(old, source []byte) (emptied []byte, names []string) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil
	}
	was := goFunctions(old)
	out, done := []byte(nil), 0
	put := func(at, cut int, text string) {
		out = append(append(out, source[done:at]...), text...)
		done = at + cut
	}
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil || len(f.Body.List) == 0 || f.Recv == nil && (f.Name.Name == "init" || f.Name.Name == "main") {
			continue
		}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		if was[goKey(f)] == tokensOf(source[at(f.Pos()):at(f.End())]) {
			continue
		}
		if results := f.Type.Results; results != nil && len(results.List) > 0 && len(results.List[0].Names) == 0 {
			var kinds []string
			for _, field := range results.List {
				kinds = append(kinds, "_ "+string(source[at(field.Type.Pos()):at(field.Type.End())]))
			}
			put(at(results.Pos()), at(results.End())-at(results.Pos()), "("+strings.Join(kinds, ", ")+")")
		}
		put(at(f.Body.Lbrace)+1, 0, " return;")
		names = append(names, goKey(f))
	}
	if len(names) == 0 {
		return nil, nil
	}
	return append(out, source[done:]...), names
}

// goFunctions are a source's functions by name, as their tokens.
func goFunctions(source []byte) map[string]string {
	found := make(map[string]string)
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if source == nil || err != nil {
		return found
	}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			found[goKey(f)] = tokensOf(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
		}
	}
	return found
}

func tokensOf(source []byte) string {
	tokens, _ := goTokens(source)
	return strings.Join(tokens, "\x00")
}

// goKey names a function F, a method T.m.
func goKey(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return typeName(f.Recv.List[0].Type) + "." + f.Name.Name
}

func emptiedPython(old, source []byte) (emptied []byte, names []string) {
	was := make(map[string]string)
	for _, f := range pyFunctions(old) {
		was[f.name] = f.text
	}
	lines := strings.SplitAfter(string(source), "\n")
	for _, f := range slices.Backward(pyFunctions(source)) {
		if f.body == 0 || f.body > len(lines) || was[f.name] == f.text {
			continue
		}
		first := lines[f.body-1]
		indent := first[:len(first)-len(strings.TrimLeft(first, " \t"))]
		lines = slices.Insert(lines, f.body-1, indent+"return\n")
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Reverse(names)
	return []byte(strings.Join(lines, "")), names
}

// pyFunction is a function or method that is not inside another function.
type pyFunction struct {
	name       string // Class.method
	text       string // its logical lines
	from, last int    // logical lines, by index
	body       int    // physical line of its first statement after the documentation string, 0 for none
}

func pyFunctions(source []byte) []pyFunction {
	lines := pyLines(source)
	var found []pyFunction
	var classes []pyBlock
	for i := 0; i < len(lines); i++ {
		for len(classes) > 0 && classes[len(classes)-1].indent >= lines[i].indent {
			classes = classes[:len(classes)-1]
		}
		if match := classLine.FindStringSubmatch(lines[i].text); match != nil {
			classes = append(classes, pyBlock{indent: lines[i].indent, name: match[1]})
			continue
		}
		match := defLine.FindStringSubmatch(lines[i].text)
		if match == nil {
			continue
		}
		f := pyFunction{name: match[1], from: i}
		for _, class := range slices.Backward(classes) {
			f.name = class.name + "." + f.name
		}
		for f.last = i; f.last+1 < len(lines) && lines[f.last+1].indent > lines[i].indent; f.last++ {
		}
		for _, line := range lines[i : f.last+1] {
			f.text += strings.Repeat(" ", line.indent) + line.text + "\x00" + strings.Join(line.strings, "\x00") + "\n"
		}
		for _, line := range lines[i+1 : f.last+1] {
			if strings.Trim(line.text, ` "`) != "" {
				f.body = line.first + 1
				break
			}
		}
		found = append(found, f)
		i = f.last
	}
	return found
}
