package javascript

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// Source is one production file on both sides; a side that does not have it is
// nil.
type Source struct {
	Path       string
	Base, Head []byte
}

// Standing is a source as it stands on the bridge: base's, as it is and where it
// is, and behind it what head declares beyond it. A function or a method that
// stands in leaves a line "ID NAME" in the mark's file when it is called, and
// throws an error with both; a class does so when an instance is made; data that
// head's text holds whole stands in as it is.
type Standing struct {
	Content []byte   // nil when nothing of head's stands in
	Values  []string // names that stand in with data of head's
	Blind   []string // names of which a use can go by unseen: checks that name one say nothing
	Gaps    []string // what does not stand in, in words
}

// extensions are those of the sources in which names can stand in; what is
// written to the others is said to be absent.
var extensions = []string{".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"}

// IsSource tells whether names can stand in in a file.
func IsSource(file string) bool { return slices.Contains(extensions, path.Ext(file)) }

// StandIn writes a source. Nothing of it is run, and what its tokens do not show
// is left out: its users miss the name, as on base.
func StandIn(s Source, mark string) Standing {
	if strings.HasSuffix(s.Path, ".d.ts") {
		return Standing{Content: s.Head} // types, of which nothing runs
	}
	if s.Head == nil {
		return Standing{}
	}
	w := &standingWriter{
		path: s.Path, typed: strings.Contains(path.Ext(s.Path), "ts"), base: moduleOf(string(s.Base)), head: moduleOf(string(s.Head)),
		made: make(map[string]string),
	}
	w.esm = w.base.esm || s.Base == nil && w.head.esm
	if s.Base != nil && w.base.esm != w.head.esm {
		w.gap("%s turns from one kind of module into another", s.Path)
		return w.out
	}
	if w.esm {
		w.modern()
	} else if !w.commonJS(s.Base == nil) {
		return w.out
	}
	w.members()
	w.assigned()
	slices.Sort(w.out.Values)
	slices.Sort(w.out.Blind)
	if len(w.lines) > 0 || s.Base == nil && w.esm {
		w.out.Content = []byte(string(s.Base) + "\n" + w.mark(mark) + strings.Join(w.lines, "\n") + "\n")
	}
	return w.out
}

type standingWriter struct {
	path       string
	esm, typed bool
	base, head *module
	made       map[string]string // head's local name -> the name it stands in under
	lines      []string
	out        Standing
}

func (w *standingWriter) add(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *standingWriter) gap(format string, args ...any) {
	w.out.Gaps = append(w.out.Gaps, fmt.Sprintf(format, args...))
}

// any is TypeScript's way of asking nothing.
func (w *standingWriter) any() string {
	if w.typed {
		return ": any"
	}
	return ""
}

// onBase tells whether base has a name that runs at its top level.
func (w *standingWriter) onBase(name string) bool {
	v, ok := w.base.locals[name]
	return ok && v.shape != erased
}

// modern adds the exports of an ECMAScript module.
func (w *standingWriter) modern() {
	has := make(map[string]bool)
	for _, e := range w.base.exports {
		has[e.name+" "+starOf(e)] = true
	}
	for _, e := range w.head.exports {
		if has[e.name+" "+starOf(e)] {
			continue
		}
		has[e.name+" "+starOf(e)] = true
		w.export(e)
	}
}

// starOf tells `export * from` of different modules apart.
func starOf(e export) string {
	if e.name == "*" {
		return e.from
	}
	return ""
}

func (w *standingWriter) export(e export) {
	v := e.value
	if e.local != "" && e.from == "" {
		v = w.head.locals[e.local]
	}
	kind := "export"
	if e.types || v.shape == erased {
		kind = "export type"
	}
	switch {
	case e.name == "*":
		w.add("%s * from %s;", kind, quote(e.from))
	case e.local == "*":
		w.add("%s * as %s from %s;", kind, e.name, quote(e.from))
	case e.from != "":
		w.add("%s { %s as %s } from %s;", kind, e.local, e.name, quote(e.from))
	case v.shape == importing && v.text == "*":
		w.add("export * as %s from %s;", e.name, quote(v.from))
	case v.shape == importing:
		w.add("%s { %s as %s } from %s;", kind, v.text, e.name, quote(v.from))
	case v.shape == erased:
		w.typeStandIn(e, v)
	case e.local != "" && w.onBase(e.local):
		w.add("export { %s as %s };", e.local, e.name)
	case v.shape == enumeration && w.plainEnum(v):
		w.add("enum %s %s\nexport { %s as %s };", e.local, v.text, e.local, e.name)
		w.made[e.local] = e.local
		w.out.Values = append(w.out.Values, e.name)
	default:
		w.add("%s\nexport { %s as %s };", w.local(e.name, e.local, v), w.made[e.name+" "+e.local], e.name)
	}
}

func (w *standingWriter) typeStandIn(e export, v value) {
	if was, ok := w.base.locals[e.local]; ok && was.shape == erased {
		w.add("export type { %s as %s };", e.local, e.name)
		return
	}
	w.add("export type %s%s = any;", e.name, parameters(v.params))
}

// parameters are as many type parameters that ask for nothing.
func parameters(count int) string {
	if count == 0 {
		return ""
	}
	var list []string
	for i := range count {
		list = append(list, fmt.Sprintf("A%d = any", i+1))
	}
	return "<" + strings.Join(list, ", ") + ">"
}

func (w *standingWriter) plainEnum(v value) bool {
	return w.typed && !slices.ContainsFunc(v.members, func(m member) bool {
		return m.value.shape != data && m.value.text != "" || m.value.shape == callable || m.value.shape == alias
	})
}

// local declares what stands in for a local name of head's.
func (w *standingWriter) local(name, local string, v value) string {
	own := fmt.Sprintf("touchstone$%d", len(w.made)+1)
	w.made[name+" "+local] = own
	if local != "" {
		w.made[local] = own
	}
	if v.shape == class {
		return w.classText(own, name, v)
	}
	return fmt.Sprintf("const %s%s = %s;", own, w.any(), w.expression(name, v, 0))
}

// maxDepth bounds how deep a stand-in for an object literal is written.
const maxDepth = 5

// expression is what stands in for a value.
func (w *standingWriter) expression(name string, v value, depth int) string {
	for range maxDepth { // follow names to what they stand for
		if v.shape != alias {
			break
		}
		if w.onBase(v.text) {
			return v.text
		}
		if own, ok := w.made[v.text]; ok {
			return own
		}
		v = w.head.locals[v.text]
	}
	switch {
	case v.shape == callable:
		return fmt.Sprintf("touchstone$f(%s)", quote(name+"()"))
	case v.shape == class:
		return "(" + w.classText("", name, v) + ")"
	case v.shape == data:
		w.out.Values = append(w.out.Values, name)
		return v.text
	case v.shape == object && !v.spread && depth < maxDepth:
		return w.objectText(name, v, depth)
	}
	w.out.Blind = append(w.out.Blind, name)
	return fmt.Sprintf("touchstone$v(%s)", quote(name))
}

func (w *standingWriter) objectText(name string, v value, depth int) string {
	var list []string
	for _, m := range v.members {
		inner := w.resolve(m.value)
		full := name + "." + m.name
		if m.accessor || inner.shape == opaque || inner.shape == importing || inner.shape == object && inner.spread {
			list = append(list, fmt.Sprintf("get %s() { return touchstone$reached(%s); }", quote(m.name), quote(full)))
			continue
		}
		before := len(w.out.Values)
		list = append(list, fmt.Sprintf("%s: %s", quote(m.name), w.expression(full, m.value, depth+1)))
		w.out.Values = shorten(w.out.Values, before)
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// shorten keeps, of names added behind the first ones, what a source would say.
func shorten(names []string, from int) []string {
	for i := from; i < len(names); i++ {
		names[i] = names[i][strings.LastIndexByte(names[i], '.')+1:]
	}
	return names
}

// resolve follows names of head's to what they stand for.
func (w *standingWriter) resolve(v value) value {
	for range maxDepth {
		if v.shape != alias || w.onBase(v.text) {
			return v
		}
		v = w.head.locals[v.text]
	}
	return v
}

var rootName = lazyregexp.New(`^[\w$]+`)

// known are classes that every engine has.
var known = []string{"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError", "Array", "Map", "Set", "WeakMap", "Promise", "Object", "Function", "EventTarget", "Event", "URL", "Uint8Array"}

// classText is a class of which nobody can make an instance.
func (w *standingWriter) classText(own, name string, v value) string {
	extends, super := "", ""
	if v.text != "" {
		base, ok := w.extended(v.text)
		if !ok {
			w.gap("what %s of %s extends is not on base", name, w.path)
			base = "Object"
		}
		if w.typed {
			base = "(" + base + " as any)"
		}
		extends, super = " extends "+base, "super"
	}
	head, index, rest := own, "", "...args"
	if w.typed {
		head, index, rest = own+parameters(v.params), " [key: string]: any; static [key: string]: any;", "...args: any[]"
	}
	var list []string
	for _, m := range v.members {
		static, full := "", name+"."+m.name
		if m.static {
			static = "static "
		}
		switch {
		case m.method && !m.accessor:
			list = append(list, fmt.Sprintf("%s%s(%s)%s { return touchstone$reached(%s); }", static, quote(m.name), rest, w.any(), quote(full+"()")))
		case m.accessor || m.static:
			list = append(list, fmt.Sprintf("%sget %s()%s { return touchstone$reached(%s); }", static, quote(m.name), w.any(), quote(full)))
		}
	}
	list = slices.Compact(list) // a getter and its setter
	return fmt.Sprintf("class %s%s {%s constructor(%s) { %s(touchstone$reached(%s)); } %s }", head, extends, index, rest, super, quote(name+"()"), strings.Join(list, " "))
}

// extended is what a class of head's extends, where base has it too.
func (w *standingWriter) extended(text string) (string, bool) {
	root := rootName.FindString(text)
	if own, ok := w.made[root]; ok {
		return own + text[len(root):], true
	}
	return text, w.onBase(root) || slices.Contains(known, text)
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string can always be written
	return string(quoted)
}
