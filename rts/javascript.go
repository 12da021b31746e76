package rts

import (
	"path"
	"slices"
	"strings"
)

// readJavaScript reads JavaScript or TypeScript as far as functions that have a
// name go: declarations, methods, functions that are assigned or are members of
// an object with a name. All else, above all what runs while the file is
// loaded, is shape. nil content is an empty file.
func readJavaScript(file string) func([]byte) (*source, error) {
	ext := path.Ext(file)
	return func(content []byte) (*source, error) {
		r := &jsReader{source: newSource(), typed: strings.HasSuffix(ext, "ts") || ext == ".tsx"}
		var err error
		if r.tokens, err = jsTokens(string(content), ext != ".ts" && ext != ".mts" && ext != ".cts"); err != nil {
			return nil, err
		}
		if r.closes, err = jsPairs(r.tokens); err != nil {
			return nil, err
		}
		r.walk(0, len(r.tokens), "", jsBlock)
		r.flush()
		slices.SortFunc(r.spans, func(a, b Span) int { return a.First - b.First })
		return r.source, nil
	}
}

// jsPlace is the kind of brackets that tokens stand in.
type jsPlace uint8

const (
	jsBlock jsPlace = iota
	jsClass
	jsObject
)

type jsReader struct {
	*source
	typed  bool
	tokens []jsToken
	closes map[int]int
	piece  strings.Builder
	scope  string
}

func (r *jsReader) text(i int) string {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].kind == jsText {
		return ""
	}
	return r.tokens[i].text
}

// walk reads the tokens from..to of one pair of brackets that run while the file
// is loaded.
func (r *jsReader) walk(from, to int, scope string, place jsPlace) {
	for i := from; i < to; {
		r.scope = scope
		if next := r.function(i, to, scope, place); next > i {
			i = next
			continue
		}
		switch word := r.text(i); {
		case word == "class" && r.text(i-1) != ".":
			i = r.class(i, scope)
		case word == "(" || word == "[":
			i = r.emit(i, r.closes[i]+1)
		case word == "{":
			i = r.braces(i, scope, place)
		case r.typed && place == jsBlock && r.declaresType(i):
			i = r.emit(i, r.statementEnd(i, to))
		default:
			i = r.emit(i, i+1)
		}
	}
}

// emit adds tokens to the shape and returns the one behind them.
func (r *jsReader) emit(from, to int) int {
	for i := from; i < to; i++ {
		t := r.tokens[i]
		if t.newline && i == from || r.piece.Len() == 0 {
			r.flush()
			t.newline = false
			r.piece.WriteString(r.scope + "|")
		}
		r.piece.WriteString(jsJoin(t))
	}
	return to
}

// jsJoin is a token with what separates it from the one before.
func jsJoin(t jsToken) string {
	if t.newline {
		return "\n" + t.text
	}
	return " " + t.text
}

func (r *jsReader) flush() {
	if r.piece.Len() > 0 {
		r.shape = append(r.shape, r.piece.String())
		r.piece.Reset()
	}
}

// braces reads what stands in braces that no function owns.
func (r *jsReader) braces(i int, scope string, place jsPlace) int {
	end, before := r.closes[i], r.text(i-1)
	inner, kind := scope, jsBlock
	switch {
	case before == "=" || before == "default" || before == ":" && place == jsObject:
		name := r.target(i, place)
		if name == "" {
			return r.emit(i, end+1)
		}
		inner, kind = scope+name+".", jsObject
	case before == ":" || place == jsObject || place == jsClass && before != "static":
		return r.emit(i, end+1) // a type, or something computed
	case before == "import" || before == "export" || before == ",": // a list of names
		return r.emit(i, end+1)
	}
	r.emit(i, i+1)
	r.walk(i+1, end, inner, kind)
	r.scope = scope
	return r.emit(end, end+1)
}

// class reads a class; one without a name is shape.
func (r *jsReader) class(i int, scope string) int {
	name := ""
	if i+1 < len(r.tokens) && r.tokens[i+1].kind == jsWord && r.text(i+1) != "extends" && r.text(i+1) != "implements" {
		name = r.text(i + 1)
	} else if r.text(i-1) == "=" || r.text(i-1) == "default" {
		name = r.target(i, jsBlock)
	}
	open := i + 1
	for ; open < len(r.tokens) && r.text(open) != "{"; open++ {
		if end, bracket := r.closes[open]; bracket {
			open = end
		}
		if r.text(open) == ";" { // no class after all
			return r.emit(i, i+1)
		}
	}
	if open >= len(r.tokens) {
		return r.emit(i, i+1)
	}
	if name == "" {
		return r.emit(i, r.closes[open]+1)
	}
	r.emit(i, open+1)
	r.walk(open+1, r.closes[open], scope+name+".", jsClass)
	r.scope = scope
	return r.emit(r.closes[open], r.closes[open]+1)
}

// function reads a function that begins at a token, and returns the token behind
// it; i for anything else.
func (r *jsReader) function(i, to int, scope string, place jsPlace) int {
	name, open := "", 0 // open: the bracket of the parameters
	first := i
	switch word := r.text(i); {
	case word == "function" && r.text(i-1) != ".":
		open = i + 1
		if r.text(open) == "*" {
			open++
		}
		if open < to && r.tokens[open].kind == jsWord {
			name = r.text(open)
			open++
		}
		open = r.behindGenerics(open)
		if before := r.text(i - 1); before == "=" || before == "default" || before == ":" && place == jsObject || before == "async" {
			if target := r.target(i, place); target != "" {
				name = target
			}
		} else if !r.begins(i) {
			return i // an argument, an operand
		}
	case place != jsBlock && r.member(i):
		name, open = r.memberName(i), r.behindName(i)
	case word == "(" || r.tokens[i].kind == jsWord && r.text(i+1) == "=>":
		return r.arrow(i, to, scope, place)
	default:
		return i
	}
	if name == "" || open >= to || r.text(open) != "(" {
		return i
	}
	body := r.bodyAfter(r.closes[open]+1, to)
	if body < 0 {
		return i
	}
	r.add(scope+name, first, body, body, r.closes[body]+1)
	return r.closes[body] + 1
}

// begins tells whether a token is at the beginning of a statement.
func (r *jsReader) begins(i int) bool {
	if i == 0 || r.text(i-1) == "async" {
		return true
	}
	before := r.tokens[i-1]
	switch before.text {
	case "{", "}", ";", "export", "default", "declare":
		return true
	}
	return r.tokens[i].newline && (before.kind != jsPunctuation || before.text == ")" || before.text == "]")
}

// member tells whether a name in a class or an object is that of a method.
func (r *jsReader) member(i int) bool {
	t := r.tokens[i]
	before := r.text(i - 1)
	if before == "." || before == "=" || before == "new" || before == ":" || before == "?" {
		return false
	}
	if t.kind == jsPunctuation && t.text != "[" {
		return false
	}
	next := r.behindName(i)
	return r.text(next) == "(" && r.bodyAfter(r.closes[next]+1, len(r.tokens)) >= 0
}

// behindName is where a member's parameters begin, if it is a method.
func (r *jsReader) behindName(i int) int {
	next := i + 1
	if r.text(i) == "[" {
		next = r.closes[i] + 1
	}
	if r.typed && r.text(next) == "?" {
		next++
	}
	return r.behindGenerics(next)
}

func (r *jsReader) memberName(i int) string {
	if r.text(i) != "[" {
		return strings.Trim(r.tokens[i].text, `"'`)
	}
	var name strings.Builder
	for j := i; j <= r.closes[i]; j++ {
		name.WriteString(strings.ReplaceAll(r.tokens[j].text, ".", "_"))
	}
	return name.String()
}

// arrow reads an arrow function that is assigned to a name.
func (r *jsReader) arrow(i, to int, scope string, place jsPlace) int {
	arrow := i + 1
	if r.text(i) == "(" {
		arrow = r.closes[i] + 1
		if r.typed && r.text(arrow) == ":" {
			for n := 0; n < 40 && arrow < to && r.text(arrow) != "=>" && !strings.Contains("{;=,", r.text(arrow)+" "); n++ {
				arrow++
			}
		}
	}
	if r.text(arrow) != "=>" || arrow >= to {
		return i
	}
	before := r.text(i - 1)
	if before == "async" && !r.tokens[i].newline {
		before = r.text(i - 2)
	}
	if before != "=" && before != "default" && (before != ":" || place != jsObject) {
		return i
	}
	name := r.target(i, place)
	if name == "" {
		return i
	}
	body := arrow + 1
	end := to
	if r.text(body) == "{" {
		end = r.closes[body] + 1
	} else {
		end = r.expressionEnd(body, to)
	}
	r.add(scope+name, i, body, body, end)
	return end
}

// add takes a function: its head first..body is shape, from..to its body.
func (r *jsReader) add(symbol string, first, head, from, to int) {
	r.emit(first, head)
	r.piece.WriteString(" {…}")
	var body strings.Builder
	for _, t := range r.tokens[from:to] {
		body.WriteString(jsJoin(t))
	}
	text := body.String()
	if before, twice := r.bodies[symbol]; twice {
		text = before + "\x00" + text // getter and setter, one after the other
	}
	r.bodies[symbol] = text
	r.spans = append(r.spans, Span{symbol, r.tokens[first].line, r.tokens[max(first, to-1)].last})
}
