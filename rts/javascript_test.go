package rts

import (
	"slices"
	"strings"
	"testing"
)

func TestDiffOfJavaScript(t *testing.T) {
	for _, c := range []struct {
		name, path, old, new string
		shape                bool
		bodies               []string
	}{
		{"body", "a.js", "function f(x) { return 1 }\n", "function f(x) { return 2 }\n", false, []string{"f"}},
		{"comment and layout of lines", "a.js", "function f(x) {\n  return 1 // one\n}\n", "/* f */\nfunction f( x ) {\n\n    return 1\n}\n", false, nil},
		{"default argument", "a.js", "function f(x = 1) { return x }\n", "function f(x = 2) { return x }\n", true, nil},
		{"constant", "a.js", "const LIMIT = 1;\nexports.f = () => LIMIT;\n", "const LIMIT = 2;\nexports.f = () => LIMIT;\n", true, nil},
		{"arrow with a block", "a.js", "export const f = async (x) => {\n  return 1;\n};\n", "export const f = async (x) => {\n  return 2;\n};\n", false, []string{"f"}},
		{"arrow with an expression", "a.js", "export const f = x => x + 1\nexport const g = 2\n", "export const f = x => x + 2\nexport const g = 2\n", false, []string{"f"}},
		{"what follows an arrow", "a.js", "const f = x => x + 1\nrun(1)\n", "const f = x => x + 1\nrun(2)\n", true, nil},
		{"exports", "a.js", "exports.f = function () { return 1 };\n", "exports.f = function () { return 2 };\n", false, []string{"exports.f"}},
		{"module.exports", "a.js", "module.exports = function named() { return 1 };\n", "module.exports = function named() { return 2 };\n", false, []string{"module.exports"}},
		{"members", "a.js", "module.exports = {\n  a() { return 1 },\n  b: () => 2,\n  'c': function () { return 3 },\n  d: { e: async function* () { yield 1 } },\n};\n",
			"module.exports = {\n  a() { return 9 },\n  b: () => 9,\n  'c': function () { return 9 },\n  d: { e: async function* () { yield 9 } },\n};\n", false,
			[]string{"module.exports.a", "module.exports.b", "module.exports.c", "module.exports.d.e"}},
		{"methods", "a.js", "class A extends B {\n  #x = 1\n  constructor() { super(); this.a = 1 }\n  static async m() { return 1 }\n  get v() { return 1 }\n  set v(x) {}\n  [Symbol.iterator]() { return 1 }\n  h = () => { go(1) }\n}\n",
			"class A extends B {\n  #x = 1\n  constructor() { super(); this.a = 2 }\n  static async m() { return 2 }\n  get v() { return 2 }\n  set v(x) {}\n  [Symbol.iterator]() { return 2 }\n  h = () => { go(2) }\n}\n", false,
			[]string{"A.[Symbol_iterator]", "A.constructor", "A.h", "A.m", "A.v"}},
		{"field", "a.js", "class A {\n  x = 1\n}\n", "class A {\n  x = 2\n}\n", true, nil},
		{"static block", "a.js", "class A { static { go(1) } }\n", "class A { static { go(2) } }\n", true, nil},
		{"prototype", "a.js", "A.prototype.m = function () { return 1 };\n", "A.prototype.m = function () { return 2 };\n", false, []string{"A.prototype.m"}},
		{"called at once", "a.js", "(function () { go(1) })();\n", "(function () { go(2) })();\n", true, nil},
		{"callback", "a.js", "app.get('/', () => { go(1) });\n", "app.get('/', () => { go(2) });\n", true, nil},
		{"new export", "a.js", "export function f() {}\n", "export function f() {}\nexport function g() {}\n", true, nil},
		{"import", "a.js", "import './a'\n", "import './b'\n", true, nil},
		{"order of effects", "a.js", "import './a'\nimport './b'\n", "import './b'\nimport './a'\n", true, nil},
		{"template", "a.js", "const f = () => `a ${x ? `}` : \"`\"} b`;\nconst g = 1;\n", "const f = () => `a ${x ? `}` : \"`\"} c`;\nconst g = 1;\n", false, []string{"f"}},
		{"regular expression", "a.js", "function f(s) { if (s) return /[/*\"]/.test(s) }\nlet b = 4 / 2 // two\n", "function f(s) { if (s) return /[/*']/.test(s) }\nlet b = 4 / 2 // 2\n", false, []string{"f"}},
		{"directive", "a.js", "// @jest-environment node\nf()\n", "// @jest-environment jsdom\nf()\n", true, nil},
		{"nested", "a.js", "function f() {\n  function g() { return 1 }\n  return g\n}\n", "function f() {\n  function g() { return 2 }\n  return g\n}\n", false, []string{"f"}},
		{"conditional declaration", "a.js", "if (a) {\n  b = function () { return 1 }\n}\n", "if (a) {\n  b = function () { return 2 }\n}\n", false, []string{"b"}},
		{"TypeScript body", "a.ts", "export function f<T extends { a: 1 }>(x: T, g: (y: T) => void): { a: string } {\n  return h<T>(1)\n}\n", "export function f<T extends { a: 1 }>(x: T, g: (y: T) => void): { a: string } {\n  return h<T>(2)\n}\n", false, []string{"f"}},
		{"TypeScript signature", "a.ts", "export function f(x: string): void { go() }\n", "export function f(x: number): void { go() }\n", true, nil},
		{"TypeScript type", "a.ts", "export type F = (a: string) => void\n", "export type F = (a: string) => number\n", true, nil},
		{"TypeScript interface", "a.ts", "interface A { f(a: string): void; g: (x: 1) => { b: 2 } }\n", "interface A { f(a: string): void; g: (x: 1) => { b: 3 } }\n", true, nil},
		{"TypeScript typed arrow", "a.ts", "const f: Handler<A> = (x): x is B => { return 1 }\n", "const f: Handler<A> = (x): x is B => { return 2 }\n", false, []string{"f"}},
		{"TypeScript annotation", "a.ts", "const f: { a: (x: 1) => { b: 2 } } = g\n", "const f: { a: (x: 1) => { b: 3 } } = g\n", true, nil},
		{"TypeScript members", "a.ts", "export class A {\n  private h: (e: E) => { a: 1 };\n  constructor(private x: X) {}\n  @Get('/') m?(a: A): Promise<{ x: 1 }> { return 1 }\n  abstract n(): void\n}\n", "export class A {\n  private h: (e: E) => { a: 1 };\n  constructor(private x: X) {}\n  @Get('/') m?(a: A): Promise<{ x: 1 }> { return 2 }\n  abstract n(): void\n}\n", false, []string{"A.m"}},
		{"TypeScript field type", "a.ts", "class A {\n  h: (e: E) => { a: 1 }\n}\n", "class A {\n  h: (e: E) => { a: 2 }\n}\n", true, nil},
		{"TypeScript overloads", "a.ts", "function f(a: 1): void\nfunction f(a: 2): void;\nfunction f(a: any) { return 1 }\n", "function f(a: 1): void\nfunction f(a: 2): void;\nfunction f(a: any) { return 2 }\n", false, []string{"f"}},
		{"enum", "a.ts", "export enum E { A, B }\n", "export enum E { B, A }\n", true, nil},
		{"default export", "a.js", "export default function () { return 1 }\n", "export default function () { return 2 }\n", false, []string{"default"}},
		{"default class", "a.js", "export default class {\n  m() { return 1 }\n}\n", "export default class {\n  m() { return 2 }\n}\n", false, []string{"default.m"}},
	} {
		d := Diff(c.path, []byte(c.old), []byte(c.new))
		if !d.Compared || d.Shape != c.shape || !slices.Equal(d.Bodies, c.bodies) {
			t.Errorf("%s: compared %v, shape %v, bodies %q", c.name, d.Compared, d.Shape, d.Bodies)
		}
	}
}

// TestOutlineOfJavaScript: several functions may stand on one line, and one may
// begin where another ends.
func TestOutlineOfJavaScript(t *testing.T) {
	spans := Outline("a.js", []byte("exports.a = () => 1; exports.b = () => 2;\nconst o = {\n  c: () => {\n    go()\n  }, d() {\n    go()\n  },\n}\n"))
	for line, want := range [][]string{{}, {"exports.a", "exports.b"}, {}, {"o.c"}, {"o.c"}, {"o.c", "o.d"}, {"o.d"}, {"o.d"}, {}} {
		if got := Sharing(spans, line, line); line > 0 && !slices.Equal(got, want) {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
}

const everyForm = "" +
	"import a, { b } from './a';\n" +
	"export * from './c';\n" +
	"export const LIMIT = 10, f = (x, y = 1) => x / y + 2;\n" +
	"export async function g(s) {\n" +
	"  if (s) return /[/*]/.test(s) ? s.split('/') : `${s.length} of ${LIMIT}`;\n" +
	"  for (const x of s) yield_(x);\n" +
	"}\n" +
	"class A extends B {\n" +
	"  #p = 1;\n" +
	"  static n = new Map();\n" +
	"  constructor(x) { super(x); this.x = x; }\n" +
	"  get v() { return this.#p; }\n" +
	"  async *[Symbol.asyncIterator]() { yield 1; }\n" +
	"  h = (e) => { this.x = e; };\n" +
	"}\n" +
	"const table = { one() { return 1; }, two: function () { return 2; }, three: (x) => x * 3, [four]: 4, five: { six: () => 6 } };\n" +
	"A.prototype.m = function () { return table.one(); };\n" +
	"register('name', () => { run(1); });\n" +
	"(function () { boot(); })();\n" +
	"if (LIMIT > 3) { exports.late = function () { return 4; }; } else { other(); }\n" +
	"export default { name: 'x', run(a) { return a; } };\n"

// TestNoEditOfCodeIsSilent takes each token of a source away, and puts another
// in its place: no such change is taken for one of layout.
func TestNoEditOfCodeIsSilent(t *testing.T) {
	tokens, err := jsTokens(everyForm, true)
	if err != nil {
		t.Fatal(err)
	}
	compared, at := 0, 0
	for i, token := range tokens {
		from := at + strings.Index(everyForm[at:], token.text)
		at = from + len(token.text)
		for _, instead := range []string{"", "another", token.text + " " + token.text} {
			if instead == "" && token.text == ";" {
				continue // at the end of a line it may go; elsewhere it is checked as another word
			}
			edited := everyForm[:from] + instead + everyForm[at:]
			for _, name := range []string{"a.js", "a.ts"} {
				d := Diff(name, []byte(everyForm), []byte(edited))
				if d.inert() {
					t.Errorf("%s: token %d, %q, became %q in silence", name, i, token.text, instead)
				}
				if d.Compared {
					compared++
				}
			}
		}
	}
	if compared < len(tokens) {
		t.Errorf("only %d of the edits of %d tokens could be compared: the test shows little", compared, len(tokens))
	}
}

// FuzzJavaScript: reading never panics, and a source is never different from
// itself.
func FuzzJavaScript(f *testing.F) {
	f.Add("class A { static async *[x]() { return `${{}}` } } export default (a) => ({b: 1}), /a[/]/")
	f.Add("const f = function* () {} ; type X = { a: (b) => {} }")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.js", "a.ts", "a.tsx"} {
			if d := Diff(name, []byte(text), []byte(text)); d.Compared && !d.inert() {
				t.Errorf("%s differs from itself: %+v", name, d)
			}
			Outline(name, []byte(text))
		}
	})
}
