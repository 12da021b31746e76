package patchsplit

import (
	"strings"
	"testing"
)

func TestEmptiedBraces(t *testing.T) {
	for _, c := range []struct{ name, path, old, new, want, names string }{
		{"a function", "a.js", "", "export function f(a = { b: 1 }) {\n  return a;\n}\n", "export function f(a = { b: 1 }) { return;\n  return a;\n}\n", "f"},
		{"the same but for comments", "a.js", "function f() { return 1 }\n", "function f() {\n  return 1 // one\n}\n", "function f() { return;\n", ""},
		{"a method, not a call", "a.js", "class A {\n  a() { return 1 }\n}\n", "class A {\n  a() { return 2 }\n}\nrun(1);\nif (a) { b() }\n", "a() { return; return 2 }\n}\nrun(1);\nif (a) { b() }", "a"},
		{"a constructor stays", "a.js", "", "class A extends B {\n  constructor() { super(); }\n  get a() { return 1 }\n}\n", "constructor() { super(); }\n  get a() { return; return 1 }", "a"},
		{"an arrow", "a.ts", "", "export const f = async (a: string): Promise<{ b: number }> => {\n  return g(a);\n};\n", "", ""},
		{"a plain arrow", "a.ts", "", "export const f = (a: string): number => {\n  return g(a);\n};\n", "=> { return undefined as any;\n", "f"},
		{"a type of a result", "a.ts", "", "function f(a: string): { b: number } {\n  return { b: 1 };\n}\n", "): { b: number } { return undefined as any;\n", "f"},
		{"a module's wrapper", "a.js", "", "(function (root) {\n  exports.f = 1;\n})(this);\n", "", ""},
		{"what looks like one in a string", "a.js", "f()\n", "f('function g() { return 1 }')\n", "", ""},
		{"Rust", "a.rs", "pub fn f() -> i32 { 1 }\n", "pub fn f() -> i32 { 1 }\nimpl A {\n    fn g<T>(&self, x: T) -> Result<T, E>\n    where T: Copy {\n        Ok(x)\n    }\n}\nconst fn h() -> i32 { 1 }\ntrait B { fn i(&self); }\n#[cfg(test)]\nmod tests {\n    fn j() { g() }\n}\n", "where T: Copy { if true { panic!(\"emptied\") }\n        Ok(x)", "g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, names := Emptied(c.path, []byte(c.old), []byte(c.new))
			if strings.Join(names, " ") != c.names {
				t.Errorf("names %q, want %q", names, c.names)
			}
			if c.names != "" && !strings.Contains(string(got), c.want) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
