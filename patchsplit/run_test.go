package patchsplit

import (
	"strings"
	"testing"
)

// TestRunsOfAMixedFile takes the production hunks of mixed files back: what is
// left is base with the test part of the change.
func TestRunsOfAMixedFile(t *testing.T) {
	const tests = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() { assert_eq!(f(1), 1); }\n}\n"
	for _, c := range []struct{ name, old, new string }{
		{"a body and a test", "fn f(x: i32) -> i32 {\n    x\n}\n" + tests, "fn f(x: i32) -> i32 {\n    x.abs()\n}\n" + tests + strings.Replace(tests, "mod tests", "mod more", 1)},
		{"lines between", "fn f() {}\n" + tests + "fn g() {}\n", "use a;\nfn f() {}\n\nfn h() {}\n" + strings.Replace(tests, "f(1), 1", "f(2), 2", 1) + "fn g() { h() }\n"},
		{"nothing before the tests", tests, "fn f() {}\n" + tests},
		{"no line feed at the end", "fn f() {}\n" + tests + "fn g() {}", "fn f() {}\n" + strings.Replace(tests, "f(1), 1", "f(2), 2", 1) + "fn g() { h() }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, new := []byte(c.old), []byte(c.new)
			edits, _ := editsOf(old, new, readInline("a.rs", old), readInline("a.rs", new))
			var hunks []Hunk
			for _, e := range edits {
				hunks = append(hunks, e.hunk())
			}
			want, err := OnlyPart(old, new, hunks, Test)
			if err != nil {
				t.Fatal(err)
			}
			runs := RunsOf("a.rs", old, new, hunks, Production)
			if len(runs) == 0 {
				t.Error("no production runs")
			}
			if got := Without(new, runs); string(got) != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
