package javascript

import (
	"slices"
	"strings"
)

// module is what a source declares and exports at its top level, as far as its
// tokens show.
type module struct {
	source string
	tokens []token
	closes []int

	esm     bool
	locals  map[string]value
	order   []string // of locals
	exports []export
	assigns []assign
}

// shape is what kind of thing a declaration or an expression makes.
type shape uint8

const (
	opaque      shape = iota // nothing is known of it
	callable                 // a function
	class                    //
	data                     // data that its text holds whole
	object                   // an object literal
	alias                    // another name
	importing                // what an import brings
	erased                   // a type, which does not run
	enumeration              // TypeScript's enum
)

// value is what a name stands for.
type value struct {
	shape   shape
	text    string // of a literal and an enumeration: its source; of a class: what it extends; else the name it stands for
	from    string // of an import: the module
	params  int    // type parameters
	members []member
	spread  bool // of an object: some of its members only a run can tell
}

// member is one of a class or of an object literal.
type member struct {
	name             string
	static, accessor bool
	method           bool
	value            value
}

// export is one name that a module gives to others; "*" for all of another's.
type export struct {
	name, local, from string
	value             value
	types             bool
}

// assign is "a.b.c = value" at the top level.
type assign struct {
	path  []string
	value value
}

func moduleOf(source string) *module {
	m := &module{source: source, tokens: scan(source), locals: make(map[string]value)}
	m.closes = pairs(source, m.tokens)
	for i := 0; i < len(m.tokens); {
		i = max(i+1, m.statement(i))
	}
	m.commonJS()
	return m
}

func (m *module) word(i int) string {
	if i < 0 || i >= len(m.tokens) {
		return ""
	}
	return m.source[m.tokens[i].from:m.tokens[i].to]
}

func (m *module) named(i int) bool {
	return i >= 0 && i < len(m.tokens) && m.tokens[i].kind == identifier
}

// close is the token behind the bracket that closes the one at i.
func (m *module) close(i int) int {
	if i < len(m.closes) && m.closes[i] > 0 {
		return m.closes[i] + 1
	}
	return i + 1
}

// statement reads one statement of the top level and returns where it ends, or
// some token in it that nothing below needs.
func (m *module) statement(i int) int {
	if !m.named(i) {
		if word := m.word(i); word == "(" || word == "[" || word == "{" {
			return m.close(i)
		}
		return i + 1
	}
	if m.word(i-1) == "." {
		return i + 1
	}
	switch word := m.word(i); {
	case word == "import" && m.word(i+1) != "(" && m.word(i+1) != ".":
		m.esm = true
		return m.imports(i + 1)
	case word == "export":
		m.esm = true
		return m.exported(i + 1)
	case word == "Object" && m.word(i+2) == "defineProperty":
		return m.defined(i + 3)
	}
	if names, next := m.declaration(i); len(names) > 0 || next > i {
		return next
	}
	return m.assignment(i)
}

func (m *module) declare(name string, v value) {
	if was, known := m.locals[name]; known && was.shape != erased {
		return // the first stands: overloads, merged interfaces
	}
	m.locals[name] = v
	m.order = append(m.order, name)
}

// declaration reads a declaration at i; next is i when there is none.
func (m *module) declaration(i int) (names []string, next int) {
	at := i
	for slices.Contains([]string{"async", "abstract", "declare"}, m.word(at)) && m.named(at+1) {
		at++
	}
	switch m.word(at) {
	case "function":
		return m.function(at + 1)
	case "class":
		name := m.word(at + 1)
		v, next := m.class(at + 1)
		m.declare(name, v)
		return []string{name}, next
	case "const", "let", "var":
		if m.word(at+1) == "enum" {
			return m.enum(at + 1)
		}
		return m.variables(at + 1)
	case "enum":
		return m.enum(at)
	case "interface", "namespace", "type":
		if name := m.word(at + 1); m.named(at+1) && !slices.Contains([]string{"of", "in", "as"}, name) {
			params, next := m.typeParameters(at + 2)
			m.declare(name, value{shape: erased, params: params})
			if m.word(at) == "type" {
				return []string{name}, m.expressionEnd(next + 1)
			}
			for next < len(m.tokens) && m.word(next) != "{" {
				next++
			}
			return []string{name}, m.close(next)
		}
	}
	return nil, i
}

// function reads "name(…) {…}"; an overload without a body ends where the next
// statement begins.
func (m *module) function(i int) (names []string, next int) {
	if m.word(i) == "*" {
		i++
	}
	if !m.named(i) {
		return nil, m.body(i)
	}
	m.declare(m.word(i), value{shape: callable})
	return []string{m.word(i)}, m.body(i + 1)
}

// body passes over type parameters, parameters, a result's type and the body.
func (m *module) body(i int) int {
	_, i = m.typeParameters(i)
	if m.word(i) != "(" {
		return i
	}
	for i = m.close(i); i < len(m.tokens); {
		switch word := m.word(i); {
		case word == "{" && !strings.Contains(":|&<,>", m.word(i-1)):
			return m.close(i)
		case word == "{" || word == "(" || word == "[":
			i = m.close(i)
		case word == ";":
			return i + 1
		case m.newLine(i) && slices.Contains([]string{"export", "function", "async", "declare", "class", "const"}, word):
			return i
		default:
			i++
		}
	}
	return i
}

// typeParameters passes over "<…>" and counts what it declares.
func (m *module) typeParameters(i int) (count, next int) {
	if m.word(i) != "<" {
		return 0, i
	}
	depth := 0
	for j := i; j < len(m.tokens) && j < i+300; j++ {
		switch m.word(j) {
		case "<":
			depth++
		case ">":
			if m.word(j-1) == "=" {
				continue // an arrow
			}
			if depth--; depth == 0 {
				return count + 1, j + 1
			}
		case ",":
			if depth == 1 {
				count++
			}
		case "(", "[", "{":
			j = m.close(j) - 1
		}
	}
	return 0, i
}

func (m *module) enum(i int) (names []string, next int) {
	name, open := m.word(i+1), i+2
	if m.word(open) != "{" {
		return nil, i
	}
	next = m.close(open)
	v := value{shape: enumeration, text: m.text(open, next)}
	for j := open + 1; j < next-1; {
		end := m.expressionEnd(j)
		inner := member{name: strings.Trim(m.word(j), `"'`), value: value{shape: opaque}}
		if m.word(j+1) == "=" {
			inner.value = m.classify(j+2, end)
		}
		v.members = append(v.members, inner)
		j = max(end, j) + 1
	}
	m.declare(name, v)
	return []string{name}, next
}

// variables reads the declarators behind const, let or var.
func (m *module) variables(i int) (names []string, next int) {
	for i < len(m.tokens) {
		pattern := m.word(i) == "{" || m.word(i) == "["
		first, end := i, i+1
		if pattern {
			end = m.close(i)
		}
		equals := m.equals(end)
		next = m.expressionEnd(equals + 1)
		if m.word(equals) != "=" {
			equals, next = end, m.expressionEnd(end)
		}
		v := m.classify(equals+1, next)
		switch {
		case pattern:
			for _, item := range m.list(first+1, end-1, ":") {
				m.declare(item[1], value{shape: opaque})
				names = append(names, item[1])
			}
		case m.named(first):
			m.declare(m.word(first), v)
			names = append(names, m.word(first))
		}
		if m.word(next) != "," {
			return names, next
		}
		i = next + 1
	}
	return names, i
}

// equals is the sign of an initializer behind a declarator and its type.
func (m *module) equals(i int) int {
	for j := i; j < len(m.tokens); j++ {
		switch word := m.word(j); word {
		case "=":
			if m.word(j+1) == ">" {
				j++
				continue
			}
			return j
		case ";", ",":
			return i
		case "<":
			if _, next := m.typeParameters(j); next > j {
				j = next - 1
			}
		case "(", "[", "{":
			j = m.close(j) - 1
		default:
			if j > i && m.newLine(j) && m.tokens[j].kind == identifier && m.ends(j-1) {
				return i
			}
		}
	}
	return i
}

// list reads "a, b as c, d: e" into pairs of the name outside and inside.
func (m *module) list(from, to int, between string) [][2]string {
	var found [][2]string
	for i := from; i < to; {
		end := i
		for end < to && m.word(end) != "," {
			end = max(end+1, m.closeIfOpen(end))
		}
		if m.word(i) == "type" && m.named(i+1) && m.word(i+1) != between {
			i++
		}
		if m.named(i) || m.tokens[i].kind == text {
			item := [2]string{m.word(i), m.word(i)}
			if i+2 < end && m.word(i+1) == between {
				item[1] = m.word(i + 2)
			}
			found = append(found, item)
		}
		i = end + 1
	}
	return found
}

func (m *module) closeIfOpen(i int) int {
	if word := m.word(i); word == "(" || word == "[" || word == "{" {
		return m.close(i)
	}
	return i
}

// text is the source of tokens from..to.
func (m *module) text(from, to int) string {
	if to = min(to, len(m.tokens)); from >= to {
		return ""
	}
	return m.source[m.tokens[from].from:m.tokens[to-1].to]
}

func (m *module) newLine(i int) bool {
	return i > 0 && i < len(m.tokens) && strings.Contains(m.source[m.tokens[i-1].to:m.tokens[i].from], "\n")
}

// ends tells whether an expression may end with a token.
func (m *module) ends(i int) bool {
	if i < 0 || i >= len(m.tokens) {
		return true
	}
	if m.tokens[i].kind == punctuation {
		return strings.Contains(")]}", m.word(i))
	}
	return !slices.Contains([]string{"return", "typeof", "new", "in", "of", "instanceof", "void", "delete", "await", "yield", "extends", "as"}, m.word(i))
}

// expressionEnd is the token behind an expression: a comma, a semicolon, a
// bracket that closes, or what begins the next statement.
func (m *module) expressionEnd(i int) int {
	for j := i; j < len(m.tokens); {
		word := m.word(j)
		switch {
		case word == ";" || word == "," || word == ")" || word == "]" || word == "}":
			return j
		case j > i && m.newLine(j) && m.ends(j-1) && m.tokens[j].kind != punctuation && m.tokens[j].kind != template &&
			!slices.Contains([]string{"in", "of", "instanceof", "as", "satisfies", "extends"}, word):
			return j
		}
		j = max(j+1, m.closeIfOpen(j))
	}
	return len(m.tokens)
}
