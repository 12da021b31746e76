package javascript

import (
	"slices"
	"strings"
)

// classify says what the expression of tokens from..to makes.
func (m *module) classify(from, to int) value {
	for i := from + 1; i < to; i = max(i+1, m.closeIfOpen(i)) { // types that are put on it
		if word := m.word(i); (word == "as" || word == "satisfies") && m.ends(i-1) && m.named(i) {
			to = i
		}
	}
	if from >= to {
		return value{}
	}
	first := m.word(from)
	switch {
	case first == "function" || m.arrow(from, to) || first == "async" && (m.word(from+1) == "function" || m.arrow(from+1, to)):
		return value{shape: callable}
	case first == "class":
		v, _ := m.class(from + 1)
		return v
	case m.literal(from, to):
		v := value{shape: data, text: m.text(from, to)}
		if first == "{" && m.close(from) == to {
			v.members = m.object(from+1, to-1).members
		}
		return v
	case first == "{" && m.close(from) == to:
		return m.object(from+1, to-1)
	case first == "require":
		return value{shape: importing, text: "*", from: strings.Trim(m.word(from+2), `"'`)}
	case m.named(from) && to == from+1:
		return value{shape: alias, text: first}
	}
	for i := from; m.named(i) && i < to; i += 2 { // a = b = value
		if m.word(i+1) == "=" && m.word(i+2) != "=" && m.word(i+2) != ">" {
			return m.classify(i+2, to)
		}
		if m.word(i+1) != "." {
			break
		}
	}
	return value{}
}

// arrow tells whether an arrow function begins at a token.
func (m *module) arrow(i, to int) bool {
	_, i = m.typeParameters(i)
	switch {
	case m.word(i) == "(":
		for i = m.close(i); i < to; i++ { // a result's type may stand between
			if m.word(i) == "=" {
				return m.word(i+1) == ">"
			}
			if word := m.word(i); word == ";" || word == "." || word == "(" && m.word(i-1) != ":" {
				return false
			}
			if m.word(i) == "{" || m.word(i) == "<" {
				i = max(i, m.close(i)-1)
			}
		}
	case m.named(i):
		return m.word(i+1) == "=" && m.word(i+2) == ">"
	}
	return false
}

// plain are the names that may stand in data.
var plain = []string{"true", "false", "null", "undefined", "NaN", "Infinity", "Object", "freeze", "Symbol", "for", "new", "Set", "Map", "RegExp", "Number", "BigInt", "Error"}

// literal tells whether an expression holds nothing that its text does not.
func (m *module) literal(from, to int) bool {
	for i := from; i < to; i++ {
		word := m.word(i)
		switch m.tokens[i].kind {
		case text, pattern:
		case template:
			if strings.Contains(word, "${") {
				return false
			}
		case identifier:
			number := word[0] >= '0' && word[0] <= '9'
			flags := i > from && m.tokens[i-1].kind == pattern && m.tokens[i-1].to == m.tokens[i].from
			if !number && !flags && m.word(i+1) != ":" && !slices.Contains(plain, word) {
				return false
			}
		default:
			if !strings.Contains("[]{},:-+().", word) || word == "." && m.word(i+1) == "." {
				return false
			}
		}
	}
	return true
}

// class reads "Name extends Base {…}" behind its keyword; the name may be absent.
func (m *module) class(i int) (v value, next int) {
	v = value{shape: class}
	if m.named(i) && m.word(i) != "extends" && m.word(i) != "implements" {
		i++
	}
	v.params, i = m.typeParameters(i)
	if m.word(i) == "extends" {
		begin := i + 1
		for i = begin; i < len(m.tokens) && m.word(i) != "{" && m.word(i) != "implements" && m.word(i) != "<"; {
			i = max(i+1, m.closeIfOpen(i))
		}
		v.text = m.text(begin, i)
	}
	for i < len(m.tokens) && m.word(i) != "{" {
		if _, behind := m.typeParameters(i); behind > i {
			i = behind
			continue
		}
		i++
	}
	next = m.close(i)
	v.members = m.classMembers(i+1, next-1)
	return v, next
}

var modifiers = []string{"static", "async", "get", "set", "public", "private", "protected", "readonly", "override", "abstract", "declare", "accessor"}

func (m *module) classMembers(from, to int) []member {
	var found []member
	for i := from; i < to; {
		var inner member
		word := ""
		for ; i < to; i++ {
			word = m.word(i)
			if !slices.Contains(modifiers, word) || strings.Contains("(=;:?!}<", m.word(i+1)) || m.word(i+1) == "" {
				break
			}
			inner.static = inner.static || word == "static"
			inner.accessor = inner.accessor || word == "get" || word == "set"
		}
		if m.word(i) == "*" {
			i++
		}
		switch {
		case i >= to:
		case m.word(i) == "@": // a decorator
			for i++; m.named(i) || m.word(i) == "."; i++ {
			}
			i = m.closeIfOpen(i)
			continue
		case m.word(i) == "#":
			i = m.memberEnd(i+2, to)
			continue
		case m.named(i) || m.tokens[i].kind == text:
			inner.name = strings.Trim(m.word(i), `"'`)
			i++
		default: // ";", a computed name, a static block
			i = max(i+1, m.closeIfOpen(i))
			continue
		}
		if inner.method = m.word(i) == "(" || m.word(i) == "<"; !inner.method {
			if equals := m.equals(i); m.word(equals) == "=" {
				inner.value = m.classify(equals+1, m.expressionEnd(equals+1))
			}
		}
		if inner.name != "" && inner.name != "constructor" {
			found = append(found, inner)
		}
		i = m.memberEnd(i, to)
	}
	return found
}

// memberEnd is the token behind a member whose name was read.
func (m *module) memberEnd(i, to int) int {
	if m.word(i) == "(" || m.word(i) == "<" {
		return min(max(m.body(i), i+1), to)
	}
	end := i
	if equals := m.equals(i); m.word(equals) == "=" {
		end = equals + 1
	}
	end = m.expressionEnd(end)
	if m.word(end) == ";" {
		end++
	}
	return min(max(end, i+1), to)
}

// object reads the members of an object literal.
func (m *module) object(from, to int) value {
	v := value{shape: object}
	for i := from; i < to; {
		var inner member
		for (m.word(i) == "get" || m.word(i) == "set" || m.word(i) == "async") && !strings.Contains("(,:}", m.word(i+1)) {
			inner.accessor = m.word(i) != "async"
			i++
		}
		if m.word(i) == "*" {
			i++
		}
		end := i
		if i < to && (m.named(i) || m.tokens[i].kind == text) {
			inner.name = strings.Trim(m.word(i), `"'`)
		}
		switch next := m.word(i + 1); {
		case inner.name == "":
			v.spread = true
			end = m.expressionEnd(i)
		case next == "(" || next == "<":
			inner.method = true
			inner.value.shape = callable
			end = m.body(i + 1)
		case next == ":":
			end = m.expressionEnd(i + 2)
			inner.value = m.classify(i+2, end)
		default:
			end = m.expressionEnd(i)
			inner.value = value{shape: alias, text: inner.name}
		}
		if inner.name != "" {
			v.members = append(v.members, inner)
		}
		for end < to && m.word(end) != "," {
			end = max(end+1, m.closeIfOpen(end))
		}
		i = max(end, i) + 1
	}
	return v
}
