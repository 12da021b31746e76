package cargo

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
)

// TestToolchainOfTheTree uses the toolchain that is there, without components
// that only an installation could add, and names one that is not.
func TestToolchainOfTheTree(t *testing.T) {
	needCargo(t)
	if out, err := exec.Command("rustup", "--version").CombinedOutput(); err != nil {
		t.Skipf("cargo is not rustup's here: %v %s", err, out)
	}
	ownHome(t)
	t.Setenv("RUSTUP_DIST_SERVER", "http://127.0.0.1:9") // a state has no network
	t.Setenv("RUSTUP_AUTO_INSTALL", "1")                 // rustup's default
	run := func(toolchain string) (gate.Result, error) {
		state := plainstate.New(t, "-- rust-toolchain.toml --\n[toolchain]\n"+toolchain+"\n-- Cargo.toml --\n[package]\nname = \"few\"\nversion = \"0.1.0\"\n-- src/lib.rs --\n#[test]\nfn holds() {}\n")
		return New(Config{}).Run(context.Background(), state, gate.Batch{Units: []string{"src/lib.rs"}})
	}
	result, err := run(`components = ["rustc-dev"]`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := observed(result), map[string]string{"few::holds": "passed"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_, err = run(`channel = "1.2.3"`)
	if missing := new(MissingToolchainError); !errors.As(err, &missing) || !strings.HasPrefix(missing.Toolchain, "1.2.3") || !strings.Contains(err.Error(), "rustup toolchain install 1.2.3") {
		t.Errorf("got %v", err)
	}
}
