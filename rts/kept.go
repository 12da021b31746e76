package rts

import (
	"regexp"
	"strings"
	"sync"
)

// Keeping tells, of each function of a Python source that stores a value since it is
// not there yet, the names that it calls to make one: the first test that comes by
// leaves the result to all others of its process, which then do not call them.
// Names are the last parts; a class stands for what makes its objects. A source that
// does not parse has none.
func Keeping(content []byte) map[string][]string {
	lines, err := pyLines(string(content))
	if err != nil {
		return nil
	}
	p := &pyReader{source: newSource(), lines: lines, headers: make(map[string]string)}
	p.block(0, "")
	keeping := make(map[string][]string)
	for symbol, body := range p.bodies {
		f := pyFunction{header: p.headers[symbol], body: body}
		for _, m := range pyCall().FindAllStringSubmatch(f.remembered(symbol), -1) {
			keeping[symbol] = append(keeping[symbol], m[1])
		}
	}
	return keeping
}

// AnswersTo tells whether a call of a name runs a function: by its own, or by its
// class', which makes an object.
func AnswersTo(symbol, name string) bool {
	parts := strings.Split(symbol, ".")
	last := len(parts) - 1
	switch parts[last] {
	case "__init__", "__new__", "__post_init__":
		return last > 0 && parts[last-1] == name
	}
	return parts[last] == name
}

// pyFunction is a function of a Python source, in tokens.
type pyFunction struct {
	header, body string
}

// compiled makes an expression when it is first asked for: few runs read Python.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	pyCall  = compiled(`([A-Za-z_]\w*)\(`)
	pyStore = compiled(`(?m)^ *([A-Za-z_][\w.]*)(\[[^=\n]*\])?(?::[^=\n]*)?=([^=\n][^\n]*)`)
	pyWord  = compiled(`[A-Za-z_]\w*`)
)

// remembered is the code that makes what a function stores since it is not there
// yet: in a container that it looked in, in an attribute or a global that was unset.
// A container of its own, and an object that it is making, are no such places.
func (f pyFunction) remembered(symbol string) string {
	var code strings.Builder
	locals := make(map[string]string)
	for _, m := range pyStore().FindAllStringSubmatch(f.body, -1) {
		target, item, value := m[1], m[2] != "", m[3]
		global := asks(f.body, "global "+target, "nonlocal "+target)
		dotted := strings.Contains(target, ".")
		switch {
		case item && f.outer(target) && asks(f.body, " in "+target, target+".get(", "except KeyError", "except LookupError"),
			!item && (global || dotted) && lastName(symbol) != "__init__" && f.unset(target):
			code.WriteString(value + "\n" + onward(f.body, target))
		case !item && !dotted && !global:
			locals[target] += value + "\n"
		}
	}
	if strings.Contains(f.body, ".setdefault(") {
		for line := range strings.Lines(f.body) {
			if target, _, found := strings.Cut(strings.TrimSpace(line), ".setdefault("); found && f.outer(target) {
				code.WriteString(line)
			}
		}
	}
	made := withLocals(code.String(), locals)
	if parts := strings.Split(symbol, "."); len(parts) > 1 && asks(made, "cls(", "type(self)(") {
		made += parts[len(parts)-2] + "()"
	}
	return made
}

// onward is what is done with a stored value afterwards, by its own methods.
func onward(body, target string) (code string) {
	for line := range strings.Lines(body) {
		if strings.HasPrefix(strings.TrimSpace(line), target+".") {
			code += line
		}
	}
	return code
}

// outer holds for a place that the function neither makes nor is given.
func (f pyFunction) outer(target string) bool {
	first, _, dotted := strings.Cut(target, ".")
	return dotted || !asks(f.header, "("+first, ","+first) && !strings.Contains("\n"+strings.ReplaceAll(f.body, " ", ""), "\n"+first+"=")
}

// unset holds where a function asks whether something has been set, or returns it
// as soon as it has.
func (f pyFunction) unset(target string) bool {
	if asks(f.body, target+" is None", "not "+target, target+"="+target+" or ") || strings.Contains(f.body, target+"="+target+" or(") {
		return true
	}
	name := lastName(target)
	if strings.Contains(f.body, "hasattr(") && (strings.Contains(f.body, `"`+name+`"`) || strings.Contains(f.body, "'"+name+"'")) {
		return true
	}
	return asks(f.body, "return "+target) && asks(f.body, target+" is not None", "if "+target, "except AttributeError", "except NameError")
}

// withLocals adds to some code what made the variables that it names.
func withLocals(code string, locals map[string]string) string {
	for from := 0; from < len(code); {
		added := code[from:]
		from = len(code)
		for _, name := range pyWord().FindAllString(added, -1) {
			if made, local := locals[name]; local {
				code += made
				delete(locals, name)
			}
		}
	}
	return code
}

// asks holds for a body in which one of some words ends where it ends there.
func asks(body string, words ...string) bool {
	for _, word := range words {
		for rest := body; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			if rest = rest[i+len(word):]; rest == "" || !isWordByte(word[len(word)-1]) || !isWordByte(rest[0]) && rest[0] != '.' {
				return true
			}
		}
	}
	return false
}
