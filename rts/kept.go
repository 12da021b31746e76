package rts

import (
	"regexp"
	"strings"
	"sync"
)

// pyKept are the functions of one source whose results outlive the test that asked
// for them: what bears a decorator that caches, what is called where a value is
// stored because it is not there yet, and what these call in turn. Who executes such
// a function is not who depends on it: the first test leaves its result to all others
// of the process. Calls are told by the last name alone, within the file.
func pyKept(bodies map[string]string, cached map[string]bool) map[string]bool {
	kept, named := make(map[string]bool), make(map[string]bool)
	var queue []string
	calls := func(body string) {
		for _, m := range pyCall().FindAllStringSubmatch(body, -1) {
			if name := m[1]; !named[name] {
				named[name] = true
				queue = append(queue, name)
			}
		}
	}
	for symbol, body := range bodies {
		if cached[symbol] {
			kept[symbol] = true
			calls(body)
		} else if remembers(body) {
			calls(body)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for symbol, body := range bodies {
			if !kept[symbol] && answersTo(symbol, queue[0]) {
				kept[symbol] = true
				calls(body)
			}
		}
	}
	return kept
}

// compiled makes an expression when it is first asked for: few runs read Python.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	pyCall  = compiled(`([A-Za-z_]\w*)\(`)
	pyStore = compiled(`(?m)^ *([A-Za-z_][\w.]*)(\[[^=\n]*\])?(?::[^=\n]*)?=[^=]`)
	pyCache = compiled(`(?i)^@[\w.]*(cache|memo|lazy|once|singleton)`)
)

// answersTo tells whether a call of a name runs a function: by its own, or by its
// class', which makes an object.
func answersTo(symbol, name string) bool {
	parts := strings.Split(symbol, ".")
	last := len(parts) - 1
	switch parts[last] {
	case "__init__", "__new__", "__post_init__":
		return last > 0 && parts[last-1] == name
	}
	return parts[last] == name
}

// remembers holds for a body that stores something since it is not there yet: in a
// container that it looked in, in an attribute or a global that was unset.
func remembers(body string) bool {
	if strings.Contains(body, ".setdefault(") {
		return true
	}
	for _, m := range pyStore().FindAllStringSubmatch(body, -1) {
		target, item := m[1], m[2] != ""
		switch {
		case item:
			if asks(body, " in "+target, target+".get(", "except KeyError", "except LookupError") {
				return true
			}
		case !strings.Contains(target, ".") && !asks(body, "global "+target, "nonlocal "+target):
		case asks(body, target+" is None", target+" is not None", "not "+target, "if "+target, target+"="+target+" or ", "except AttributeError", "hasattr("):
			return true
		}
	}
	return false
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
