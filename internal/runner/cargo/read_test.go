package cargo

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestStream reads what cargo 1.95 printed for the tests named below, one of
// which prints lines that look like the harness's own. It was recorded with
// RUST_BACKTRACE=0 cargo test --test it.
func TestStream(t *testing.T) {
	text, err := os.ReadFile("testdata/libtest.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := newStream(strings.Fields("a b c d d2 e f g ok z"))
	w := &lineWriter{take: s.take}
	w.Write(text)
	w.end()
	c := (&target{file: "tests/it.rs", dir: ".", unit: "tests/it.rs", all: true}).crate(archive(t, "-- tests/it.rs --\n"))
	for name, want := range map[string]string{
		"a":  "failed assertion tests/it.rs:1 assertion `left == right` failed: hey 3 left: 1 right: 2",
		"b":  "failed exception tests/it.rs:2 oh no",
		"c":  "failed assertion tests/it.rs:3 panic did not contain expected string panic message: \"yy\" expected substring: \"xx\"",
		"d":  "failed assertion tests/it.rs:4 test did not panic as expected",
		"d2": "passed  :0 ",
		"e":  "skipped  :0 why, not",
		"f":  "failed exception :0 Error: \"bad\"",
		"g":  "failed assertion tests/it.rs:8 assertion failed: 1 > 2",
		"ok": "passed  :0 ",
		"z":  "failed exception tests/it.rs:10 index out of bounds: the len is 0 but the index is 0",
	} {
		if s.results[name] == nil {
			t.Errorf("%s has no result", name)
			continue
		}
		o := c.outcomeOf(s.results[name])
		if got := fmt.Sprintf("%s %s %s:%d %s", o.Outcome, o.Reason, o.Place.File, o.Place.Line, o.Message); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if why := s.contradiction(101); why != "" {
		t.Errorf("contradiction: %s", why)
	}
	if s.contradiction(0) == "" {
		t.Error("an exit status of 0 over failed tests agrees")
	}
}

// TestContradiction holds outcomes against sums.
func TestContradiction(t *testing.T) {
	sum := func(verdict string, passed, failed int) string {
		return fmt.Sprintf("test result: %s. %d passed; %d failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", verdict, passed, failed)
	}
	for _, c := range []struct {
		name, text string
		code       int
		agrees     bool
	}{
		{"all well", "test a ... ok\n" + sum("ok", 1, 0), 0, true},
		{"two programs", "test a ... ok\n" + sum("ok", 1, 0) + "running 1 test\ntest b ... ok\n" + sum("ok", 1, 0), 0, true},
		{"an outcome in two lines", "test a ... noise\nok\n" + sum("ok", 1, 0), 0, true},
		{"green tests, red exit", "test a ... ok\n" + sum("ok", 1, 0), 101, false},
		{"one outcome too many", "test a ... ok\ntest b ... ok\n" + sum("ok", 1, 0), 0, false},
		{"two outcomes of one test", "test a ... ok\ntest a ... FAILED\n" + sum("ok", 1, 0), 0, false},
	} {
		s := newStream([]string{"a", "b"})
		w := &lineWriter{take: s.take}
		w.Write([]byte(c.text))
		if why := s.contradiction(c.code); (why == "") != c.agrees {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// TestLog lets the harness's own file decide over what tests print.
func TestLog(t *testing.T) {
	s := newStream([]string{"a", "b", "c", "d"})
	for line := range strings.Lines("running 4 tests\ntest a ... FAILED\nno newlinetest a ... ok\ntest b ... no newlinetest result: ok. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n" +
		"test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n") {
		s.take([]byte(strings.TrimSuffix(line, "\n")))
	}
	for line := range strings.Lines("ok a\nok b\nfailed: note: panic did not contain expected string\n      panic message: \"x\"\n expected substring: \"y\" c\nignored: not now d\n") {
		s.log(strings.TrimSuffix(line, "\n"))
	}
	s.settle()
	for name, want := range map[string]string{"a": "ok", "b": "ok", "c": "FAILED", "d": "ignored"} {
		if r := s.results[name]; r == nil || r.outcome != want {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
	}
	if why := s.contradiction(101); why != "" {
		t.Errorf("contradiction: %s", why)
	}
	if s.log("failed a"); s.belied != "a" {
		t.Error("two outcomes in the harness's own file agree")
	}
}

// TestMissing reads the names off the compiler's sentences, as rustc 1.95 and
// older ones word them.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ code, text, want string }{
		{"E0425", "cannot find function `new_fn` in this scope", "new_fn"},
		{"E0425", "cannot find function `new_fn` in module `m::sub`", "new_fn@m::sub"},
		{"E0432", "unresolved imports `super::one`, `super::two`", "one two"},
		{"E0433", "failed to resolve: could not find `fresh` in `m`", "fresh"},
		{"E0433", "failed to resolve: use of undeclared type `Fresh`", "Fresh"},
		{"E0412", "cannot find type `Fresh` in this scope", "Fresh"},
		{"E0599", "no method named `late` found for struct `Vec<i32>` in the current scope", "late@Vec"},
		{"E0599", "no variant or associated item named `Late` found for enum `E` in the current scope", "Late@E"},
		{"E0609", "no field `late` on type `&S<'_>`", "late@S"},
		{"E0560", "struct `S` has no field named `late`", "late@S"},
		{"E0026", "variant `E::A` does not have a field named `late`", "late@E::A"},
		{"E0603", "function `hidden` is private", "hidden"},
		{"", "cannot find macro `fresh` in this scope", "fresh"},
		{"E0382", "borrow of moved value: `x`", ""},
	} {
		var got []string
		for _, m := range (compileError{code: c.code, text: c.text}).missing(nil) {
			got = append(got, strings.TrimSuffix(m.Name+"@"+m.Owner, "@"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s: %q, want %q", c.code, c.text, got, c.want)
		}
	}
}

// TestFind looks for tests where their names say: in files of modules, in
// blocks, among the cases of one function, and among what a macro was given.
func TestFind(t *testing.T) {
	tree := archive(t, `
-- Cargo.toml --
[package]
name = "a-b"
-- src/lib.rs --
mod deep;
#[path = "other.rs"]
mod renamed;
#[cfg(test)]
mod tests {
    // fn commented() {}
    const TEXT: &str = "fn quoted() { }";

    #[test]
    fn plain() { let c = '{'; }

    #[rstest]
    #[case(1)]
    fn many(#[case] n: i32) {}

    proptest! {
        #[test]
        fn held(x in 0..9) {}
    }

    table! {
        first: (1, 2),
        second: (3, 4),
    }
}
-- src/deep.rs --
mod inner;
-- src/deep/inner.rs --
#[test]
fn there() {}
-- src/other.rs --
#[test]
fn here() {}
`)
	targets := New(Config{}).targets(tree)
	if len(targets) != 1 || targets[0].unit != "src/lib.rs" || targets[0].prefix != "a_b" {
		t.Fatalf("targets %+v", targets)
	}
	c := targets[0].crate(tree)
	for name, want := range map[string]string{
		"tests::plain": "src/lib.rs:10-10", "tests::many::case_1": "src/lib.rs:14-14", "tests::held": "src/lib.rs:18-18",
		"tests::second": "src/lib.rs:23-23", "deep::inner::there": "src/deep/inner.rs:2-2", "renamed::here": "src/other.rs:2-2",
		"tests::quoted": "src/lib.rs:0-0", "tests::commented": "src/lib.rs:0-0",
	} {
		if row := c.row(name); fmt.Sprintf("%s:%d-%d", row.File, row.Line, row.End) != want {
			t.Errorf("%s: %s:%d-%d, want %s", name, row.File, row.Line, row.End, want)
		}
	}
	if a, b := c.row("tests::first").Digest, c.row("tests::second").Digest; a == b || a == "" {
		t.Error("two entries of a table have one digest")
	}
}

func archive(t *testing.T, text string) gate.Tree {
	t.Helper()
	return plainstate.New(t, text).Tree()
}
