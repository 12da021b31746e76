package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

// TestVirtualEnvironment makes real environments where states get places of
// their own, and runs their interpreter in a state: it must find its library.
func TestVirtualEnvironment(t *testing.T) {
	need(t, "/usr/bin/python3")
	for _, place := range []struct{ name, parent string }{{"below /tmp", "/tmp"}, {"below /var/tmp", "/var/tmp"}, {"in the tree", ""}} {
		t.Run(place.name, func(t *testing.T) {
			f := newFixture(t, "overlay")
			venv := filepath.Join(f.root, "venv")
			if place.parent != "" {
				dir, err := os.MkdirTemp(place.parent, "tools, of a user")
				if err != nil {
					t.Skipf("skipped: %v", err)
				}
				defer os.RemoveAll(dir)
				venv = filepath.Join(dir, "venv")
				writeAt(t, filepath.Join(dir, "neighbour"), "secret\n")
			}
			if out, err := exec.Command("/usr/bin/python3", "-m", "venv", "--without-pip", venv).CombinedOutput(); err != nil {
				t.Skipf("skipped: python3 -m venv: %v: %s", err, out)
			}
			python := filepath.Join(venv, "bin", "python")
			byPath := f.opts
			byPath.Programs = []string{python}
			named, err := New(t.Context(), byPath)
			if err != nil {
				t.Fatal(err)
			}
			f.box = named
			prefix := []string{"-c", "import sys; print(sys.prefix)"}
			if out, exit := f.run(f.state(), gate.Command{Argv: append([]string{python}, prefix...)}); exit.Code != 0 || out != venv+"\n" {
				t.Errorf("named by its path: %+v: %s", exit, out)
			}
			t.Setenv("VIRTUAL_ENV", venv)
			t.Setenv("PATH", filepath.Join(venv, "bin")+":"+os.Getenv("PATH"))
			box, err := New(t.Context(), f.opts)
			if err != nil {
				t.Fatal(err)
			}
			f.box = box
			st := f.state()
			cmd := gate.Command{Argv: append([]string{"python"}, prefix...)}
			if out, exit := f.run(st, cmd); exit.Code != 0 || out != venv+"\n" {
				t.Errorf("%+v: %s", exit, out)
			}
			if place.parent == "" {
				return
			}
			out, _ := f.run(st, gate.Command{Argv: []string{"sh", "-c", `touch "$VIRTUAL_ENV/x" 2>/dev/null && echo written; cat "$VIRTUAL_ENV/../neighbour" 2>/dev/null`}})
			if out != "" {
				t.Errorf("besides the environment's content, a state gets %q", out)
			}
		})
	}
}

func TestToolPaths(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "tools")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	writeAt(t, at("python", "bin", "python3.11"), "")
	writeAt(t, at("venv", "bin", "python"), "-> "+at("python", "bin", "python3.11"))
	writeAt(t, at("other", "pyvenv.cfg"), "version = 3\nhome = "+at("made", "bin")+"\n")
	writeAt(t, at("proj", "bin", "tool"), "")
	for _, name := range toolVariables {
		t.Setenv(name, "")
	}
	t.Setenv("VIRTUAL_ENV", at("other"))
	t.Setenv("NVM_DIR", at("nvm"))
	t.Setenv("PATH", strings.Join([]string{"/usr/bin", at("venv", "bin"), at("proj", "bin"), "/tmp/bin", "relative/bin", "/tmp"}, ":"))
	writeAt(t, at("named", "bin", "python"), "-> "+at("behind", "bin", "python3"))
	writeAt(t, at("behind", "bin", "python3"), "")
	writeAt(t, at("alone", "tool"), "")
	s := &Sandbox{opts: Options{Root: at("proj", "tree"), Programs: []string{at("named", "bin", "python"), at("alone", "tool")}}}
	got := s.toolPaths()
	for _, want := range []string{at("venv"), at("python"), at("other"), at("made"), at("nvm"), at("proj", "bin"), "/tmp/bin", at("named"), at("behind"), at("alone", "tool")} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, path := range got {
		if s.wide(path) || path == at("proj") || path == at("alone") || !privatePlace(path) {
			t.Errorf("%q is too much", path)
		}
	}
}
