package javascript

import (
	"slices"
	"strings"
)

// imports reads an import declaration behind its keyword.
func (m *module) imports(i int) int {
	var names [][2]string // outside, inside
	for ; i < len(m.tokens) && m.tokens[i].kind != text && m.word(i) != ";"; i++ {
		switch word := m.word(i); {
		case word == "{":
			names = append(names, m.list(i+1, m.close(i)-1, "as")...)
			i = m.close(i) - 1
		case word == "*" && m.word(i+1) == "as":
			names = append(names, [2]string{"*", m.word(i + 2)})
			i += 2
		case word == "=": // import x = require("y")
			for _, name := range names {
				m.declare(name[1], value{shape: opaque})
			}
			return m.expressionEnd(i + 1)
		case m.named(i) && word != "from" && word != "type":
			names = append(names, [2]string{"default", word})
		}
	}
	from := strings.Trim(m.word(i), `"'`)
	for _, name := range names {
		m.declare(name[1], value{shape: importing, text: name[0], from: from})
	}
	return i + 1
}

// exported reads an export declaration behind its keyword.
func (m *module) exported(i int) int {
	types := m.word(i) == "type" && (m.word(i+1) == "{" || m.word(i+1) == "*")
	if types {
		i++
	}
	switch m.word(i) {
	case "default":
		return m.exportsDefault(i + 1)
	case "{":
		end := m.close(i)
		from, next := m.origin(end)
		for _, item := range m.list(i+1, end-1, "as") {
			m.exports = append(m.exports, export{name: item[1], local: item[0], from: from, types: types})
		}
		return next
	case "*":
		name, at := "*", i+1
		if m.word(at) == "as" {
			name, at = m.word(at+1), at+2
		}
		from, next := m.origin(at)
		m.exports = append(m.exports, export{name: name, local: "*", from: from, types: types})
		return next
	}
	names, next := m.declaration(i)
	for _, name := range names {
		m.exports = append(m.exports, export{name: name, local: name})
	}
	return next
}

// origin reads `from "x"`, and what may follow it.
func (m *module) origin(i int) (from string, next int) {
	if m.word(i) != "from" || i+1 >= len(m.tokens) || m.tokens[i+1].kind != text {
		return "", i
	}
	return strings.Trim(m.word(i+1), `"'`), i + 2
}

func (m *module) exportsDefault(i int) int {
	at := i
	if m.word(at) == "async" || m.word(at) == "abstract" {
		at++
	}
	named := m.word(at) == "class" && m.named(at+1) && m.word(at+1) != "extends" || m.word(at) == "function" && (m.named(at+1) || m.word(at+1) == "*" && m.named(at+2))
	if named {
		names, next := m.declaration(i)
		if len(names) == 1 {
			m.exports = append(m.exports, export{name: "default", local: names[0]})
		}
		return next
	}
	next := m.expressionEnd(i)
	switch m.word(at) {
	case "function":
		next = m.body(at + 1)
	case "class":
		_, next = m.class(at + 1)
	}
	v := m.classify(i, next)
	e := export{name: "default", value: v}
	if v.shape == alias {
		e.local = v.text
	}
	m.exports = append(m.exports, e)
	return next
}

// assignment reads "a.b.c = value" at i.
func (m *module) assignment(i int) int {
	path := []string{m.word(i)}
	at := i + 1
	for m.word(at) == "." && m.named(at+1) {
		path = append(path, m.word(at+1))
		at += 2
	}
	if m.word(at) != "=" || m.word(at+1) == "=" || m.word(at+1) == ">" {
		return at
	}
	end := m.expressionEnd(at + 1)
	m.assigns = append(m.assigns, assign{path, m.classify(at+1, end)})
	if m.chained(at + 1) {
		return at + 1
	}
	return end
}

// chained tells whether another assignment is the value of one.
func (m *module) chained(i int) bool {
	for m.named(i) {
		if m.word(i+1) == "=" {
			return m.word(i+2) != "=" && m.word(i+2) != ">"
		}
		if m.word(i+1) != "." {
			return false
		}
		i += 2
	}
	return false
}

// defined reads Object.defineProperty(exports, "name", …) at its bracket.
func (m *module) defined(i int) int {
	if m.word(i) != "(" {
		return i
	}
	var path []string
	at := i + 1
	for ; m.named(at); at += 2 {
		path = append(path, m.word(at))
		if m.word(at+1) != "." {
			at++
			break
		}
	}
	if m.word(at) == "," && at+1 < len(m.tokens) && m.tokens[at+1].kind == text && len(path) > 0 {
		m.assigns = append(m.assigns, assign{append(path, strings.Trim(m.word(at+1), `"'`)), value{}})
	}
	return m.close(i)
}

// whole is the path of a CommonJS module's own export.
var whole = []string{"module", "exports"}

// commonJS reads exports off assignments.
func (m *module) commonJS() {
	if m.esm {
		return
	}
	for _, a := range m.assigns {
		v := a.value
		switch {
		case len(a.path) == 2 && a.path[0] == "exports", len(a.path) == 3 && slices.Equal(a.path[:2], whole):
			m.exports = append(m.exports, exportOf(a.path[len(a.path)-1], v))
		case slices.Equal(a.path, whole) && (v.shape == object || v.shape == data):
			for _, inner := range v.members {
				m.exports = append(m.exports, exportOf(inner.name, inner.value))
			}
		}
	}
}

func exportOf(name string, v value) export {
	e := export{name: name, value: v}
	if v.shape == alias {
		e.local = v.text
	}
	return e
}

// main is what module.exports itself is set to.
func (m *module) main() (v value, ok bool) {
	for _, a := range m.assigns {
		if slices.Equal(a.path, whole) {
			v, ok = a.value, true
		}
	}
	return v, ok
}
