package patchsplit

import (
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// readPython scans a Python file for definitions: modules, classes, functions
// and their parameters, attributes, constants, imports and __all__.
func (d *declarations) readPython(path string, source []byte) {
	p := &pyReader{declarations: d, scope: path, module: moduleName(path)}
	parent, last := "", p.module
	if i := strings.LastIndexByte(p.module, '.'); i >= 0 {
		parent, last = p.module[:i], p.module[i+1:]
	}
	p.add(path, "", p.module)
	p.add(path, parent, last)
	for _, line := range pyLines(source) {
		p.line(line)
	}
}

// moduleName is the dotted name that a file is imported by.
func moduleName(path string) string {
	path = joinDir(dirOf(path), stemOf(path))
	for _, root := range []string{"src/", "lib/", "python/"} {
		path = strings.TrimPrefix(path, root)
	}
	return strings.ReplaceAll(strings.TrimSuffix(path, "/__init__"), "/", ".")
}

type pyReader struct {
	*declarations
	scope, module string
	open          []pyBlock
}

// pyBlock is a class or function whose body is being read.
type pyBlock struct {
	indent int
	class  bool
	name   string
	self   string // a method's first parameter
	owner  string // a method's class
}

var (
	defLine    = lazyregexp.New(`^(?:async\s+)?def\s+(\w+)\s*(?:\[[^\]]*\]\s*)?\(`)
	classLine  = lazyregexp.New(`^class\s+(\w+)`)
	importLine = lazyregexp.New(`^import\s+(.+)$`)
	fromLine   = lazyregexp.New(`^from\s+[\w.]+\s+import\s+\(?([^)]*)\)?$`)
	typeLine   = lazyregexp.New(`^type\s+(\w+)\s*(?:\[.*\])?\s*=`)
	annotated  = lazyregexp.New(`^([\w.]+)\s*:\s*[^=]`)
	blockLine  = lazyregexp.New(`^(?:if|elif|else|for|while|with|try|except|finally)\b`)
	target     = lazyregexp.New(`^(?:(\w+)\.)?([A-Za-z_]\w*)$`)
)

func (p *pyReader) line(line pyLine) {
	for len(p.open) > 0 && p.open[len(p.open)-1].indent >= line.indent {
		p.open = p.open[:len(p.open)-1]
	}
	switch {
	case defLine.MatchString(line.text):
		p.function(line)
	case classLine.MatchString(line.text):
		name := classLine.FindStringSubmatch(line.text)[1]
		p.declare(name)
		p.open = append(p.open, pyBlock{indent: line.indent, class: true, name: name})
	default:
		p.statement(line)
	}
}

// block is the innermost open class or function, nil in the module itself.
func (p *pyReader) block() *pyBlock {
	if len(p.open) == 0 {
		return nil
	}
	return &p.open[len(p.open)-1]
}

// declare adds a name to the block that is being read.
func (p *pyReader) declare(name string) {
	owner := p.module
	if block := p.block(); block != nil {
		owner = block.name
	}
	p.add(p.scope, owner, name)
}

func (p *pyReader) function(line pyLine) {
	match := defLine.FindStringSubmatch(line.text)
	name := match[1]
	p.declare(name)
	block := pyBlock{indent: line.indent, name: name}
	qualified := name
	if outer := p.block(); outer != nil && outer.class {
		block.owner = outer.name
		qualified = outer.name + "." + name
	}
	shape := ""
	for i, parameter := range topLevel(inBrackets(line.text[len(match[0]):]), ',') {
		bare, optional := parameterName(parameter)
		if i == 0 && block.owner != "" {
			block.self = bare
			continue
		}
		p.parameter(block, qualified, bare)
		shape += bare + optional + ","
	}
	p.signatures[qualified] = shape
	p.open = append(p.open, block)
}

// parameter adds a parameter to its function, under every name by which an
// error may call that: f, Class.f, and the class for what makes its instances.
func (p *pyReader) parameter(block pyBlock, qualified, name string) {
	name = strings.TrimLeft(name, "*")
	if !target.MatchString(name) {
		return
	}
	p.add(p.scope, block.name, name)
	p.add(p.scope, qualified, name)
	if block.owner != "" && (block.name == "__init__" || block.name == "__new__") {
		p.add(p.scope, block.owner, name)
	}
}

// parameterName is a parameter without annotation and default; optional is "="
// when it has a default.
func parameterName(parameter string) (name, optional string) {
	sides := topLevel(parameter, '=')
	if len(sides) > 1 {
		optional = "="
	}
	return strings.TrimSpace(topLevel(sides[0], ':')[0]), optional
}

// inBrackets is the text up to the bracket that closes what was opened before.
func inBrackets(text string) string {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return text[:i]
			}
		}
	}
	return text
}

func (p *pyReader) statement(line pyLine) {
	if blockLine.MatchString(line.text) {
		_, line.text, _ = cutTopLevel(line.text, ':') // what stands on the line of its own block
		line.text = strings.TrimSpace(line.text)
	}
	if match := importLine.FindStringSubmatch(line.text); match != nil {
		p.imports(match[1], true)
		return
	}
	if match := fromLine.FindStringSubmatch(line.text); match != nil {
		p.imports(match[1], false)
		return
	}
	if match := typeLine.FindStringSubmatch(line.text); match != nil {
		p.outside(match[1])
		return
	}
	if strings.HasPrefix(line.text, "__all__") {
		for _, name := range line.strings {
			p.outside(name)
		}
	}
	if match := annotated.FindStringSubmatch(line.text); match != nil && !isPyKeyword(match[1]) {
		p.assign(match[1])
		p.field(match[1])
	}
	p.assignments(line.text)
}

// outside declares a name unless a function's body is being read, whose names
// nobody else sees.
func (p *pyReader) outside(name string) {
	if block := p.block(); block == nil || block.class {
		p.declare(name)
	}
}

func (p *pyReader) imports(list string, dotted bool) {
	for item := range strings.SplitSeq(list, ",") {
		name, alias, renamed := strings.Cut(strings.Join(strings.Fields(item), " "), " as ")
		if renamed {
			name = alias
		} else if dotted {
			name, _, _ = strings.Cut(name, ".")
		}
		if name != "*" {
			p.outside(name)
		}
	}
}

// assignments declares the targets of "a = b, self.c = value".
func (p *pyReader) assignments(text string) {
	sides := topLevel(text, '=')
	for i, side := range sides[:len(sides)-1] {
		if side == "" || strings.ContainsRune("+-*/%&|^<>!@:~", rune(side[len(side)-1])) || sides[i+1] == "" {
			return // an operator or a comparison
		}
		for _, name := range strings.FieldsFunc(topLevel(side, ':')[0], func(r rune) bool { return strings.ContainsRune(",()[]* \t", r) }) {
			p.assign(name)
		}
	}
}

// assign declares a name or an attribute of self, cls or a class.
func (p *pyReader) assign(name string) {
	match := target.FindStringSubmatch(name)
	if match == nil || isPyKeyword(match[2]) {
		return
	}
	of, attribute := match[1], match[2]
	block := p.block()
	switch {
	case of == "":
		p.outside(attribute)
	case block != nil && !block.class && of == block.self:
		p.add(p.scope, block.owner, attribute)
	case block == nil:
		p.add(p.scope, of, attribute)
	}
}

// field makes an annotated class attribute a parameter of the class too, as
// dataclasses and named tuples do.
func (p *pyReader) field(name string) {
	if block := p.block(); block != nil && block.class && target.MatchString(name) {
		p.add(p.scope, block.name+".__init__", name)
	}
}

var pyKeywords = []string{
	"if", "elif", "else", "for", "while", "with", "try", "except", "finally", "return", "assert", "del", "raise", "yield", "lambda", "pass",
	"break", "continue", "global", "nonlocal", "in", "is", "not", "and", "or", "None", "True", "False", "await", "async", "def", "class",
}

func isPyKeyword(word string) bool { return slices.Contains(pyKeywords, word) }
