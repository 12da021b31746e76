package rts

import (
	"slices"
	"strings"
)

// behindGenerics passes over TypeScript's type parameters.
func (r *jsReader) behindGenerics(i int) int {
	if r.text(i) != "<" {
		return i
	}
	for depth := 0; i < len(r.tokens); i++ {
		switch r.text(i) {
		case "<":
			depth++
		case ">":
			if depth--; depth == 0 {
				return i + 1
			}
		case "(", "[", "{":
			i = r.closes[i]
		case ";":
			return i
		}
	}
	return i
}

// bodyAfter is the brace of the body behind parameters and a return type, -1 for
// none.
func (r *jsReader) bodyAfter(i, to int) int {
	if i < to && r.text(i) == "{" {
		return i
	}
	if !r.typed || r.text(i) != ":" {
		return -1
	}
	for i++; i < to; i++ {
		switch word := r.text(i); word {
		case "{":
			switch r.text(i - 1) {
			case ":", "|", "&", "<", ",", "=>", "is": // a type in braces
				i = r.closes[i]
			default:
				return i
			}
		case "(", "[":
			i = r.closes[i]
		case ";", "=", ")", "}":
			return -1
		}
	}
	return -1
}

// target is the name that a value is given: by assignment, as a member, as the
// default export. "" for anything computed.
func (r *jsReader) target(i int, place jsPlace) string {
	at := i - 1
	if r.text(at) == "async" {
		at--
	}
	switch r.text(at) {
	case "default":
		return "default"
	case ":":
		if place == jsObject && at > 0 && r.tokens[at-1].kind != jsPunctuation {
			return strings.Trim(r.tokens[at-1].text, `"'`)
		}
		return ""
	case "=":
	default:
		return ""
	}
	at--
	if r.typed { // a type stands between the name and the value
		if colon := r.annotation(at); colon > 0 {
			at = colon - 1
		}
	}
	end := at
	for at >= 0 && r.tokens[at].kind == jsWord && r.text(at-1) == "." {
		at -= 2
	}
	if at < 0 || r.tokens[at].kind != jsWord {
		return ""
	}
	var name strings.Builder
	for ; at <= end; at++ {
		name.WriteString(r.tokens[at].text)
	}
	return name.String()
}

// annotation is the colon before a type that ends at a token, 0 for none.
func (r *jsReader) annotation(end int) int {
	for i := end; i > 0 && end-i < 30; i-- {
		switch r.text(i) {
		case ":":
			return i
		case "const", "let", "var", ";", "{", "}", "(", ")", "=", ",":
			return 0
		}
	}
	return 0
}

// expressionEnd is where the expression that an arrow function returns ends.
func (r *jsReader) expressionEnd(i, to int) int {
	for first := i; i < to; i++ {
		if i > first && r.tokens[i].newline && r.ends(i) {
			return i
		}
		switch r.text(i) {
		case "(", "[", "{":
			i = r.closes[i]
		case ",", ";", ")", "]", "}":
			return i
		}
	}
	return to
}

// ends tells whether the line break before a token ends a statement.
func (r *jsReader) ends(i int) bool {
	before, next := r.tokens[i-1], r.tokens[i]
	if before.kind == jsPunctuation && !slices.Contains([]string{")", "]", "}"}, before.text) {
		return false
	}
	if next.kind == jsPunctuation {
		return next.text == "@" || next.text == "}" || next.text == "{"
	}
	return !(next.kind == jsText && strings.HasPrefix(next.text, "`")) && !slices.Contains([]string{"in", "instanceof", "as", "satisfies"}, next.text)
}

// declaresType tells whether a statement of types alone begins at a token.
func (r *jsReader) declaresType(i int) bool {
	if i > 0 && !r.begins(i) {
		return false
	}
	switch r.text(i) {
	case "interface", "declare":
		return i+1 < len(r.tokens) && r.tokens[i+1].kind == jsWord
	case "type":
		return i+1 < len(r.tokens) && r.tokens[i+1].kind == jsWord && r.text(i+1) != "="
	}
	return false
}

func (r *jsReader) statementEnd(i, to int) int {
	for first := i; i < to; i++ {
		if i > first && r.tokens[i].newline && r.ends(i) {
			return i
		}
		switch r.text(i) {
		case ";":
			return i + 1
		case "(", "[", "{":
			i = r.closes[i]
		}
	}
	return to
}
