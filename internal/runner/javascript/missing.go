package javascript

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// What the engines, bundlers and compilers say of a name that is not there.
var (
	notCallable   = lazyregexp.New(`(?s)(?:^|: )(.{1,300}?) is not (?:a function|a constructor|iterable)`)
	notDefined    = lazyregexp.New(`([\w$]+) is not defined`)
	nothingThere  = lazyregexp.New(`Cannot (?:read|set) propert(?:y|ies) (?:'[^']*' )?of (?:undefined|null)|undefined \(reading |Cannot destructure|Class extends value (?:undefined|null)|Cannot convert undefined|Cannot use 'in' operator to search for .* in undefined|Right-hand side of 'instanceof' is not`)
	undefinedOnly = lazyregexp.New(`of undefined|value undefined|it is undefined|convert undefined|in undefined|'instanceof'`)
	destructured  = lazyregexp.New(`Cannot destructure property '[^']*' of '([^']+)' as it is undefined`)
	exportMissing = lazyregexp.New(`does not provide an export named '?([\w$]+)'?|Named export '([\w$]+)' not found|No matching export in .* for import ["']([\w$]+)["']|["']([\w$]+)["'] is not exported by|\[vitest\] No "([\w$]+)" export is defined`)
	moduleMissing = lazyregexp.New(`Cannot find (?:module|package) ['"]([^'"]+)['"]|(?:Failed to resolve import|Failed to load url|Could not resolve|Could not locate module|Can't resolve) ["']?([^"'\s]+)["']?|Package subpath '([^']+)' is not defined`)
	typeErrors    = lazyregexp.New(`\bTS\d{4,5}\b`)
	typeNames     = []struct {
		re        *lazyregexp.Regexp
		signature bool
	}{
		{lazyregexp.New(`Module ['"].*?['"] has no exported member (?:named )?['"]([\w$]+)['"]`), false},
		{lazyregexp.New(`has no exported member (?:named )?['"]([\w$]+)['"]`), false},
		{lazyregexp.New(`Property '([\w$]+)' does not exist on type`), false},
		{lazyregexp.New(`Cannot find name '([\w$]+)'`), false},
		{lazyregexp.New(`and '([\w$]+)' does not exist in type`), false},
		{lazyregexp.New(`declares '([\w$]+)' locally, but it is not exported`), false},
		{lazyregexp.New(`Namespace '.*?' has no exported member '([\w$]+)'`), false},
		{lazyregexp.New(`Argument of type '"([^'"]+)"' is not assignable`), false},
	}
)

// notFound holds for a module that could not be found.
func notFound(f failure) bool {
	return f.Code == "MODULE_NOT_FOUND" || f.Code == "ERR_MODULE_NOT_FOUND" || f.Code == "ERR_PACKAGE_PATH_NOT_EXPORTED" || moduleMissing.MatchString(f.Message)
}

// uninstalled tells whether a failure misses a package that a package.json above
// its place declares: the place where the tests run lacks it, the code may be right.
func (r reader) uninstalled(f failure) bool {
	m := moduleMissing.FindStringSubmatch(f.Message)
	if m == nil {
		return false
	}
	name := firstOf(m[1:])
	if name == "" || name[0] == '.' || name[0] == '/' {
		return false
	}
	name = packageName(name)
	place, _ := r.place(f)
	for dir := path.Dir(place.File); ; dir = path.Dir(dir) {
		if m, ok := readManifest(r.tree, dir); ok && m.depends(name) {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// missing are the names that a failure says are not there.
func (r reader) missing(f failure, fromProduction bool) []gate.Missing {
	var found []gate.Missing
	add := func(name, owner string, signature bool) {
		m := gate.Missing{Name: name, Owner: owner, FromProduction: fromProduction, Signature: signature}
		if name != "" && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	for _, m := range exportMissing.FindAllStringSubmatch(f.Message, -1) {
		add(firstOf(m[1:]), "", false)
	}
	if m := moduleMissing.FindStringSubmatch(f.Message); m != nil {
		name := firstOf(m[1:])
		stem := moduleStem(name)
		add(stem[strings.LastIndexByte(stem, '/')+1:], "", false)
	}
	if typeErrors.MatchString(f.Message) {
		for _, t := range typeNames {
			for _, m := range t.re.FindAllStringSubmatch(f.Message, -1) {
				add(m[1], "", t.signature)
			}
		}
		return found
	}
	if f.Assertion && !thrown(f.Message) {
		return found
	}
	if m := notCallable.FindStringSubmatch(f.Message); m != nil && !strings.Contains(m[1], "Received") {
		name, owner := calledName(m[1])
		add(name, owner, false)
	}
	if f.Name == "ReferenceError" || strings.Contains(f.Message, "ReferenceError") {
		if m := notDefined.FindStringSubmatch(f.Message); m != nil {
			add(m[1], "", false)
		}
	}
	if m := destructured.FindStringSubmatch(f.Message); m != nil {
		name, owner := calledName(m[1])
		add(name, owner, false)
	} else if nothingThere.MatchString(f.Message) && undefinedOnly.MatchString(f.Message) {
		name, owner := r.subject(f)
		add(name, owner, false)
	}
	return found
}

// thrown holds for an assertion about an exception, which carries another
// error's words: "expected no exception, but lib.f is not a function".
func thrown(message string) bool {
	return strings.Contains(message, "is not a function") || strings.Contains(message, "is not a constructor")
}

func firstOf(groups []string) string {
	for _, group := range groups {
		if group != "" {
			return group
		}
	}
	return ""
}

var (
	bound    = lazyregexp.New(`^\(0 ?, ?(.*?)\)$`)
	callArgs = lazyregexp.New(`\([^()]*\)|\[[^\[\]]*\]`)
	lastName = lazyregexp.New(`(?:^|[.\s?])([\w$]+)$`)
)

// calledName takes the name off what an error says was called: "lib.f",
// "(0 , _lib.f)", "program.option(...).f".
func calledName(expression string) (name, owner string) {
	expression = strings.TrimSpace(expression)
	expression = expression[strings.LastIndexByte(expression, '\n')+1:]
	expression = expression[strings.LastIndex(expression, ": ")+1:]
	expression = strings.TrimSpace(expression)
	if m := bound.FindStringSubmatch(expression); m != nil {
		expression = m[1]
	}
	expression = strings.TrimLeft(expression, "\"'`")
	plain := callArgs.ReplaceAllString(expression, "")
	plain = callArgs.ReplaceAllString(plain, "")
	m := lastName.FindStringSubmatch(plain)
	if m == nil || slices.Contains([]string{"undefined", "null", "object", "value"}, m[1]) {
		return "", ""
	}
	rest := strings.TrimSuffix(strings.TrimSuffix(plain, m[1]), ".")
	return m[1], rest[strings.LastIndexAny(rest, " \t")+1:]
}

var before = lazyregexp.New(`([\w$]+)\s*(?:\?\.|\.|\[)\s*(?:[\w$]*)$`)

// subject is the name of the thing that was undefined where a property of it was
// asked for: the message does not say, the source at the place does.
func (r reader) subject(f failure) (name, owner string) {
	found := r.frames(f.Stack)
	if len(found) == 0 {
		return "", ""
	}
	lines := strings.Split(r.source(found[0].file), "\n")
	if found[0].line < 1 || found[0].line > len(lines) {
		return "", ""
	}
	line := lines[found[0].line-1]
	if strings.Contains(f.Message, "Class extends") {
		if m := regexp.MustCompile(`extends\s+([\w$.]+)`).FindStringSubmatch(line); m != nil {
			return calledName(m[1])
		}
	}
	if column := found[0].column - 1; column > 0 && column <= len(line) {
		if m := before.FindStringSubmatch(line[:column]); m != nil {
			return m[1], strings.TrimSuffix(path.Base(found[0].file), path.Ext(found[0].file))
		}
	}
	return "", ""
}
