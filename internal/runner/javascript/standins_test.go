package javascript

import (
	"slices"
	"strings"
	"testing"
)

// TestStandIn lists what stands in for what head's text declares.
func TestStandIn(t *testing.T) {
	for _, c := range []struct{ name, path, base, head, want, values, blind string }{
		{"nothing new", "a.mjs", "export const a = 1", "export const a = 2", "", "", ""},
		{"another body", "a.mjs", "export function f() { return 1 }", "export function f() { return 2 }\nfunction inner() {}", "", "", ""},
		{"a function", "a.mjs", "export const a = 1", "export const a = 1\nexport async function* f(a = { b: 1 }) { yield 1 }", `touchstone$f("f()")`, "", ""},
		{"an arrow with types", "a.ts", "export const a = 1", "export const a = 1\nexport const f = <T extends object>(a: T): Promise<{ b: T }> => Promise.resolve({ b: a })", `touchstone$f("f()")`, "", ""},
		{"overloads", "a.ts", "export const a = 1", "export const a = 1\nexport function f(a: string): void\nexport function f(a: any) { }\nexport const b = 2", `const touchstone$3: any = 2;`, "b", ""},
		{"data", "a.mjs", "", "export const a = { b: [1, -2.5, 'x'], c: /x/g }, d = new Set(['a'])", `{ b: [1, -2.5, 'x'], c: /x/g }`, "a d", ""},
		{"what only a run can tell", "a.mjs", "export const a = 1", "export const a = 1\nexport const b = Date.now() + 1", `touchstone$v("b")`, "", "b"},
		{"what is taken apart", "a.mjs", "export const a = 1", "export const a = 1\nexport const { b, c: d } = make()", `touchstone$v("d")`, "", "b d"},
		{"an inner function that is exported now", "a.mjs", "function f() {}\nexport const a = 1", "export function f() {}\nexport const a = 1", `export { f as f };`, "", ""},
		{"under another name", "a.mjs", "export const a = 1", "function f() {}\nexport const a = 1\nexport { f as g }", ` as g };`, "", ""},
		{"an import that is exported", "a.mjs", "export const a = 1", "import { x as y } from './x'\nexport const a = 1\nexport { y }", `export { x as y } from "./x";`, "", ""},
		{"a type", "a.ts", "export const a = 1", "export const a = 1\nexport type T<A, B = string> = { a: A } & { b: B }\nexport interface I { a: string }", `export type T<A1 = any, A2 = any> = any;`, "", ""},
		{"a class that extends an unknown one", "a.mjs", "export const a = 1", "import { B } from './b'\nexport const a = 1\nexport class C extends B { x() {} }", `extends Object`, "", ""},
		{"a private member", "a.mjs", "export class C {}", "export class C { #x = 1; #y() {} field = 2 }", "", "", ""},
		{"a member behind decorators and a static block", "a.ts", "export class C { a() {} }", "export class C { static { setUp() } @log({ a: 1 }) public async b(c: number): Promise<{ d: number }> { return { d: c } } a() {} }", `touchstone$add(() => (C as any).prototype, "b", () => touchstone$f("C.b()"), true);`, "", ""},
		{"a member of an object in CommonJS", "a.js", "const a = { b() {} };\nmodule.exports = a;", "const a = { b() {}, c: function () {}, d: 4 };\nmodule.exports = a;", `touchstone$add(() => a, "c", () => touchstone$f("a.c()"), false);`, "d", ""},
		{"a name in a chain", "a.js", "exports.a = 1", "exports.a = 1\nexports.b = exports.c = function () {}", `touchstone$add(() => module.exports, "c", () => touchstone$f("c()"));`, "", ""},
		{"what the module itself is", "a.js", "", "module.exports = createServer;\nfunction createServer() {}\ncreateServer.limit = 3;", "module.exports = touchstone$", "limit", ""},
		{"a member put on what base has", "a.js", "var app = exports = module.exports = {};\napp.a = function () {};", "var app = exports = module.exports = {};\napp.a = function () {};\napp.b = function b() {};", `touchstone$add(() => app, "b", () => touchstone$f("app.b()"), false);`, "", ""},
		{"a counted member of an enum", "a.ts", "export enum E { A }", "export enum E { A, B }", "", "", ""},
		{"types only", "a.d.ts", "export const a: number", "export const a: number, b: string", "b: string", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := []byte(c.base)
			if c.base == "" {
				base = nil
			}
			s := StandIn(Source{Path: c.path, Base: base, Head: []byte(c.head)}, "/tmp/mark")
			added := strings.TrimPrefix(string(s.Content), c.base)
			if c.want == "" && s.Content != nil || !strings.Contains(added, c.want) {
				t.Errorf("want %q, got\n%s", c.want, added)
			}
			if got := strings.Join(slices.Compact(s.Values), " "); got != c.values {
				t.Errorf("values %q, want %q", got, c.values)
			}
			if got := strings.Join(slices.Compact(s.Blind), " "); got != c.blind {
				t.Errorf("blind %q, want %q", got, c.blind)
			}
		})
	}
}
