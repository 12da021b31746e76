package javascript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// commonJS adds the exports of a CommonJS module; false when a new one exports
// what cannot be told.
func (w *standingWriter) commonJS(fresh bool) bool {
	v, set := w.head.main()
	switch v = w.resolve(v); {
	case !fresh || !set:
	case v.shape == callable || v.shape == class:
		w.add("%s\nmodule.exports = %s;", w.local("module.exports", mainName(w.head), v), w.made["module.exports "+mainName(w.head)])
	case v.shape != object && v.shape != data:
		w.gap("what %s exports could not be told", w.path)
		return false
	}
	has := make(map[string]bool)
	for _, e := range w.base.exports {
		has[e.name] = true
	}
	for _, e := range w.head.exports {
		if has[e.name] {
			continue
		}
		has[e.name] = true
		if e.value.shape == alias && e.value.text != "" && !w.onBase(e.value.text) && w.made[e.value.text] == "" {
			if v, ok := w.head.locals[e.value.text]; ok {
				w.add("%s", w.local(e.name, e.value.text, w.resolve(v)))
			}
		}
		w.add("touchstone$add(() => module.exports, %s, () => %s);", quote(e.name), w.expression(e.name, e.value, 0))
		if plainName.MatchString(e.name) {
			w.add("0 && (exports.%s = 0);", e.name) // shows the name to those who read exports off the text
		}
	}
	return true
}

var plainName = lazyregexp.New(`^[A-Za-z_$][\w$]*$`)

// mainName is the local name of what a module itself exports, "" for none.
func mainName(m *module) string {
	if v, _ := m.main(); v.shape == alias {
		return v.text
	}
	return ""
}

// members adds to base's classes and objects what head's have beyond them.
func (w *standingWriter) members() {
	for _, name := range w.head.order {
		if w.onBase(name) {
			w.extend(name, name, w.base.locals[name], w.head.locals[name])
		}
	}
	for _, e := range w.head.exports { // those that have no name of their own
		at := slices.IndexFunc(w.base.exports, func(b export) bool { return b.name == e.name })
		if at >= 0 && !w.esm && e.local == "" {
			w.extend("module.exports."+e.name, e.name, w.base.exports[at].value, e.value)
		}
	}
	is, isSet := w.head.main()
	was, wasSet := w.base.main()
	if isSet && wasSet && is.shape == class && was.shape == class {
		w.extend("module.exports", "module.exports", was, is)
	}
}

// extend adds the members of one class or object.
func (w *standingWriter) extend(target, name string, was, is value) {
	if was.shape == enumeration && is.shape == enumeration {
		w.extendEnum(name, was, is)
		return
	}
	if is.shape != class && is.shape != object && is.shape != data || was.shape == importing || was.shape == alias {
		return
	}
	has := make(map[string]bool)
	for _, m := range was.members {
		has[fmt.Sprint(m.name, m.static)] = true
	}
	typed := ""
	for _, m := range is.members {
		key := fmt.Sprint(m.name, m.static)
		if has[key] || is.shape == class && !m.static && !m.method && !m.accessor {
			continue // a field comes with an instance, which base makes
		}
		has[key] = true
		to := target
		if is.shape == class && !m.static {
			to += ".prototype"
			typed += fmt.Sprintf(" %s: any;", quote(m.name))
		}
		w.member(to, name+"."+m.name, m, is.shape == class)
	}
	if w.typed && is.shape == class && was.shape == class && was.params == 0 && typed != "" && plainName.MatchString(target) {
		w.add("%sinterface %s {%s }", w.exportWord(target), target, typed)
	}
}

// exportWord is what a declaration needs to be merged with base's.
func (w *standingWriter) exportWord(local string) string {
	for _, e := range w.base.exports {
		if e.local == local && e.name == "default" {
			return "export default "
		}
	}
	if regexp.MustCompile(`\bexport\s+(?:abstract\s+|const\s+)?(?:class|enum)\s+` + regexp.QuoteMeta(local) + `\b`).MatchString(w.base.source) {
		return "export "
	}
	return ""
}

// member adds one member behind base's own, unless base has it by another way.
func (w *standingWriter) member(to, full string, m member, ofClass bool) {
	v := w.resolve(m.value)
	call := full + "()"
	if m.method && !m.accessor || v.shape == callable {
		w.add("touchstone$add(() => %s, %s, () => touchstone$f(%s), %t);", w.cast(to), quote(m.name), quote(call), ofClass)
		return
	}
	if m.accessor || v.shape == opaque || v.shape == importing || v.shape == object && v.spread {
		w.add("touchstone$add(() => %s, %s, null, %t, %s);", w.cast(to), quote(m.name), ofClass, quote(full))
		return
	}
	before := len(w.out.Values)
	w.add("touchstone$add(() => %s, %s, () => %s, %t);", w.cast(to), quote(m.name), w.expression(full, m.value, 1), ofClass)
	w.out.Values = shorten(w.out.Values, before)
}

func (w *standingWriter) cast(to string) string {
	if !w.typed {
		return to
	}
	root, rest, nested := strings.Cut(to, ".")
	if !nested {
		return "(" + root + " as any)"
	}
	return "(" + root + " as any)." + rest
}

// extendEnum adds the members that carry their value.
func (w *standingWriter) extendEnum(name string, was, is value) {
	var list []string
	for _, m := range is.members {
		if slices.ContainsFunc(was.members, func(o member) bool { return o.name == m.name }) {
			continue
		}
		if m.value.shape != data {
			w.gap("the value of %s.%s is counted, and counts otherwise on base", name, m.name)
			continue
		}
		list = append(list, fmt.Sprintf("%s = %s", m.name, m.value.text))
		w.out.Values = append(w.out.Values, m.name)
	}
	if len(list) > 0 {
		w.add("%senum %s { %s }", w.exportWord(name), name, strings.Join(list, ", "))
	}
}

// assigned adds what head assigns to members of what base has, and of what
// stands in.
func (w *standingWriter) assigned() {
	has := make(map[string]bool)
	for _, a := range w.base.assigns {
		has[strings.Join(a.path, ".")] = true
	}
	for _, a := range w.head.assigns {
		full := strings.Join(a.path, ".")
		last := len(a.path) - 1
		if has[full] || last == 0 || !w.esm && slices.Contains([]string{"module.exports", "exports", "module"}, strings.Join(a.path[:last], ".")) {
			continue
		}
		has[full] = true
		to := strings.Join(a.path[:last], ".")
		if own, ok := w.made[a.path[0]]; ok {
			to = own + strings.TrimPrefix(to, a.path[0])
		} else if !w.onBase(a.path[0]) && (w.esm || a.path[0] != "module" && a.path[0] != "exports") {
			continue
		}
		w.member(to, full, member{name: a.path[last], value: a.value}, false)
	}
}

// mark is the code that tells of a use. The builtin modules are asked for in a
// way that no mock of a test reaches, where the engine has one; each line has an
// ID of its own, so that a thrown one that nobody sees again is known to have
// been swallowed.
func (w *standingWriter) mark(file string) string {
	load, head, typed, list := `require`, "", "", ""
	if w.esm {
		head = "// @ts-ignore\nimport * as touchstone$fs from \"fs\";\n// @ts-ignore\nimport * as touchstone$crypto from \"crypto\";\n"
		load = `(name) => name === "fs" ? touchstone$fs : touchstone$crypto`
	}
	if w.typed {
		typed, list = ": any", ": any[]"
		load = strings.Replace(load, "(name)", "(name: any)", 1)
	}
	code := head + `function touchstone$reached(name~)~ {
  const own~ = typeof process === "object" ? process : {}, load~ = own.getBuiltinModule ? own.getBuiltinModule : ` + load + `;
  const id = load("crypto").randomBytes(8).toString("hex");
  load("fs").appendFileSync(` + quote(file) + `, id + " " + name + "\n");
  throw new Error("` + reachedWords + `" + name + " [" + id + "]");
}
function touchstone$f(name~)~ { return function (...args#)~ { return touchstone$reached(name); }; }
function touchstone$v(name~)~ {
  return new Proxy(function () {}, new Proxy({}, { get: () => () => touchstone$reached(name) }));
}
function touchstone$add(target~, name~, make~, hidden?~, getter?~)~ {
  let to~;
  try { to = target(); } catch { return; }
  if (to === null || typeof to !== "object" && typeof to !== "function" || name in to) return;
  try {
    Object.defineProperty(to, name, getter ? { get: () => touchstone$reached(getter), configurable: true, enumerable: !hidden } : { value: make(), writable: true, configurable: true, enumerable: !hidden });
  } catch { /* it takes none: its users miss the name */ }
}
`
	if !w.typed {
		code = strings.ReplaceAll(code, "?~", "")
	} else {
		code = strings.ReplaceAll(code, "typeof process === \"object\" ? process : {}", "(globalThis as any).process || {}")
	}
	return strings.NewReplacer("?~", "?"+typed, "~", typed, "#", list).Replace(code)
}
