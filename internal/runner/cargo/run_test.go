package cargo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

const crateText = `
-- Cargo.toml --
[package]
name = "m"
version = "0.1.0"
edition = "2021"

[[test]]
name = "own"
harness = false
-- src/lib.rs --
/// Doubles.
///
/// ` + "```" + `
/// assert_eq!(m::double(2), 4);
/// ` + "```" + `
///
/// ` + "```" + `
/// m::absent();
/// ` + "```" + `
pub fn double(x: i32) -> i32 { 2 * x }

pub struct Pair;

pub fn shout(x: &str) -> String { x.to_uppercase() }

#[cfg(test)]
mod tests {
    use super::{double, fresh};

    /// Documented.
    #[test]
    fn passes() { assert_eq!(double(1), 2); }

    #[test]
    fn wrong() { assert_eq!(double(1), 3); }

    #[test]
    #[ignore = "slow"]
    fn left() {}

    #[test]
    fn asks() { assert_eq!(fresh(1), 2); }

    fn helper() -> i32 { crate::later() }

    #[test]
    fn helped() { assert_eq!(helper(), 1); }

    #[test]
    fn chains() { assert_eq!(super::Pair.sum(), 1); }

    #[test]
    fn arity() { assert_eq!(super::shout("a", 2), "A"); }
}
-- tests/it.rs --
#[test]
fn dies() { std::process::exit(0); }

#[test]
fn prints() {
    use std::io::Write;
    writeln!(std::io::stdout(), "test survives ... FAILED").unwrap();
}

#[test]
fn survives() {}

#[test]
fn hangs() { if std::env::var_os("HANG").is_some() { loop { std::thread::sleep(std::time::Duration::from_secs(1)); } } }
-- tests/own.rs --
fn main() { panic!("assertion failed: never"); }
-- tests/broken.rs --
#[test]
fn open() {
`

func needCargo(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("cargo", "--version").CombinedOutput(); err != nil {
		t.Skipf("cargo does not run here: %v %s", err, out)
	}
}

// ownHome gives a test a home for its builds; the toolchain stays where it is.
func ownHome(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo"} {
		if os.Getenv(name) == "" {
			t.Setenv(name, filepath.Join(home, dir))
		}
	}
	t.Setenv("HOME", t.TempDir())
}

// observed are a result's rows as text, and its units'.
func observed(r gate.Result) map[string]string {
	found := make(map[string]string)
	say := func(o gate.Observation) string {
		text := o.Outcome.String() + " " + string(o.Reason)
		for _, m := range o.Missing {
			text += " " + m.Name
		}
		return strings.TrimSpace(text)
	}
	for _, row := range r.Rows {
		for _, o := range row.Observations {
			found[row.Row.ID] = say(o)
		}
	}
	for _, u := range r.Units {
		found["unit "+u.Unit] = say(u.Observation)
	}
	return found
}

// TestRun runs a real package in which much is wrong.
func TestRun(t *testing.T) {
	needCargo(t)
	ownHome(t)
	state := plainstate.New(t, crateText)
	r := New(Config{Env: map[string]string{"RUST_TEST_THREADS": "2"}})
	units, err := r.Units(context.Background(), state.Tree(), nil, true)
	if err != nil || strings.Join(units, ", ") != "src/lib.rs, src/lib.rs (doc), tests/broken.rs, tests/it.rs, tests/own.rs" {
		t.Fatalf("units %q, %v", units, err)
	}
	result, err := r.Run(context.Background(), state, gate.Batch{Units: units})
	if err != nil {
		t.Fatal(err)
	}
	got := observed(result)
	for id, want := range map[string]string{
		"m::tests::passes": "passed", "m::tests::wrong": "failed assertion", "m::tests::left": "skipped",
		"m::tests::asks": "errored compile fresh", "m::tests::helped": "errored compile later", "m::tests::arity": "errored compile shout",
		"m::tests::chains":           "errored compile sum",
		"m/doc::src/lib.rs - double": "passed", "m/doc::src/lib.rs - double#2": "errored compile absent",
		"m/it::dies": "crashed crash", "m/it::survives": "passed", "m/it::prints": "passed", "m/it::hangs": "passed",
		"m/own": "failed assertion", "m/broken::open": "errored compile",
	} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("and also %q", got)
	}
	taken, err := r.Run(context.Background(), state, gate.Batch{Units: []string{"src/lib.rs"}, Rows: []string{"m::tests::asks", "m::tests::chains"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(observed(taken)); got != "map[m::tests::asks:errored compile fresh m::tests::chains:errored compile sum]" {
		t.Errorf("rows that were taken out: %s", got)
	}
	exact, err := r.Run(context.Background(), state, gate.Batch{Units: units, Rows: []string{"m::tests::wrong", "m/it::survives"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(observed(exact)); got != "map[m/it::survives:passed m::tests::wrong:failed assertion]" {
		t.Errorf("two rows: %s", got)
	}
}

// TestHang ends a test that never ends, and runs the others.
func TestHang(t *testing.T) {
	needCargo(t)
	ownHome(t)
	state := plainstate.New(t, crateText)
	r := New(Config{Env: map[string]string{"HANG": "1"}, Timeout: 8 * time.Second})
	result, err := r.Run(context.Background(), state, gate.Batch{Units: []string{"tests/it.rs"}, Rows: []string{"m/it::hangs", "m/it::survives"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(observed(result)); got != "map[m/it::hangs:timed_out timeout m/it::survives:passed]" {
		t.Errorf("got %s", got)
	}
}

// TestUnits finds what a changed path touches.
func TestUnits(t *testing.T) {
	tree := archive(t, crateText+"-- tests/data/x.json --\n{}\n-- inner/Cargo.toml --\n[package]\nname = \"inner\"\n[lib]\npath = \"lib.rs\"\n-- inner/lib.rs --\nmod part;\n-- inner/part.rs --\nfn f() {}\n")
	for path, want := range map[string]string{
		"src/lib.rs": "src/lib.rs src/lib.rs (doc)", "tests/it.rs": "tests/it.rs", "inner/part.rs": "inner/lib.rs",
		"tests/data/x.json": "src/lib.rs tests/broken.rs tests/it.rs tests/own.rs", "inner/gone.rs": "inner/lib.rs",
	} {
		units, err := New(Config{}).Units(context.Background(), tree, []string{path}, false)
		if got := strings.Join(units, " "); err != nil || got != want {
			t.Errorf("%s touches %q, want %q (%v)", path, got, want, err)
		}
	}
	if found := Detect(tree); len(found) != 1 || found[0].Dir != "." {
		t.Errorf("found %+v", found)
	}
	r := New(Config{Command: strings.Fields("cargo +stable test --workspace --all-features -p m -- --nocapture")})
	if !slices.Equal(r.tool, []string{"cargo", "+stable"}) || !slices.Equal(r.options, []string{"--all-features"}) || !slices.Equal(r.testArgs, []string{"--nocapture"}) {
		t.Errorf("the command was read as %q %q %q", r.tool, r.options, r.testArgs)
	}
}
