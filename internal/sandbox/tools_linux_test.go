package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// TestTools runs real tools, whose needs the limits must not cut: reserved
// address space, build caches that stay warm, shims, editable installs.
func TestTools(t *testing.T) {
	t.Run("go test -race", func(t *testing.T) {
		need(t, "go", "gcc")
		f := newFixture(t, "overlay")
		writeAt(t, filepath.Join(f.root, "go.mod"), "module m\n\ngo 1.25\n")
		writeAt(t, filepath.Join(f.root, "m.go"), "package m\n\nfunc N() int { return 2 }\n")
		writeAt(t, filepath.Join(f.root, "m_test.go"), "package m\n\nimport \"testing\"\n\nfunc TestN(t *testing.T) {\n\tif N() != 1 {\n\t\tt.Fatal(N())\n\t}\n}\n")
		cmd := gate.Command{Argv: []string{"go", "test", "-race", "."}}
		if out, exit := f.run(f.state(), cmd); exit.Code != 1 || !strings.Contains(out, "m_test.go:7: 2") {
			t.Errorf("on head: %+v\n%s", exit, out)
		}
		base := f.state(f.file("m.go", modeFile, "package m\n\nfunc N() int { return 1 }\n"))
		if out, exit := f.run(base, cmd); exit.Code != 0 || strings.Contains(out, "cached") {
			t.Errorf("on base: %+v\n%s", exit, out)
		}
		if out, exit := f.run(base, cmd); exit.Code != 0 || !strings.Contains(out, "cached") {
			t.Errorf("on base again, with a warm cache: %+v\n%s", exit, out)
		}
	})
	t.Run("python", func(t *testing.T) {
		need(t, "python3")
		t.Setenv("PYTHONDONTWRITEBYTECODE", "")
		f := newFixture(t, "overlay")
		writeAt(t, filepath.Join(f.root, "lib/mod.py"), "VALUE = 'head'\n")
		old := time.Now().Add(-time.Hour) // as if written before the sandbox was made, whose stamp is the second after
		if err := os.Chtimes(filepath.Join(f.root, "lib/mod.py"), old, old); err != nil {
			t.Fatal(err)
		}
		load := `import sys; sys.path.insert(0, '` + filepath.Join(f.root, "lib") + `'); import mod; print(mod.VALUE, mod.__file__)`
		if out, err := exec.Command("python3", "-c", load).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "head ") {
			t.Fatalf("outside: %v\n%s", err, out)
		}
		if _, err := os.Stat(filepath.Join(f.root, "lib/__pycache__")); err != nil {
			t.Fatal("no byte code to be misled by")
		}
		out, exit := f.run(f.state(f.file("lib/mod.py", modeFile, "VALUE = 'base'\n")), gate.Command{Argv: []string{"python3", "-c", load}})
		if want := "base " + filepath.Join(f.root, "lib/mod.py") + "\n"; exit.Code != 0 || out != want {
			t.Errorf("%+v: got %q, want %q", exit, out, want)
		}
	})
	t.Run("multiprocessing", func(t *testing.T) {
		need(t, "python3")
		f := newFixture(t, "overlay")
		f.opts.Memory = 300 << 20
		var err error
		if f.box, err = New(t.Context(), f.opts); err != nil {
			t.Fatal(err)
		}
		const shared = `
import os, time
block = bytearray(150 << 20)  # shared by all, so 150 MB in truth
for i in range(5):
    if os.fork() == 0:
        time.sleep(1); os._exit(0)
for i in range(5): os.wait()
from multiprocessing import Semaphore
Semaphore(1); print("done")`
		if out, exit := f.run(f.state(), gate.Command{Argv: []string{"python3", "-c", shared}}); out != "done\n" {
			t.Errorf("%+v: %s", exit, out)
		}
	})
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("skipped: %v", err)
		}
	}
}
