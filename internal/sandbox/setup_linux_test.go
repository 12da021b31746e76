package sandbox

import (
	"os"
	"strings"
	"testing"

	"github.com/touchstone-gate/touchstone/gate"
)

func TestSetupOverlay(t *testing.T) { testSetup(t, "overlay") }
func TestSetupDocker(t *testing.T)  { testSetup(t, "docker") }

// testSetup runs commands once, and looks at what states on top of them see.
func testSetup(t *testing.T, kind string) {
	temp := t.TempDir()
	f := newFixture(t, kind)
	t.Setenv("TMPDIR", temp)
	before := snapshot(t, f.root)
	base := []File{f.file("main.txt", modeFile, "base\n"), f.file("gone.txt", modeFile, "old\n"), f.file("new/only/f", modeAbsent, "")}
	head := []File{f.file("main.txt", modeFile, "head\n"), f.file("gone.txt", modeAbsent, ""), f.file("new/only/f", modeFile, "new\n")}
	sh := func(script string) gate.Command { return gate.Command{Argv: []string{"sh", "-ec", script}} }
	layer, err := f.box.Setup(t.Context(), base, []gate.Command{
		sh(`mkdir node_modules; cat main.txt > node_modules/from; echo x > gone.txt; rm ignored/build.o; echo in home > ~/.tool`),
		sh(`cat node_modules/from >> node_modules/twice; cat node_modules/from >> node_modules/twice; test ! -e /run/docker.sock; grep -q : /proc/net/dev`),
	})
	if err != nil {
		t.Fatal(err)
	}
	const look = `cat main.txt node_modules/twice ~/.tool pkg/a.txt; ls -d gone.txt new ignored/build.o 2>/dev/null || :`
	for _, c := range []struct {
		name  string
		files []File
		want  string
	}{
		{"base", base, "base\nbase\nbase\nin home\na\ngone.txt"},
		{"head", head, "head\nbase\nbase\nin home\na\nnew"},
	} {
		st, err := f.box.StateOn(t.Context(), layer, c.files)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := f.sh(st, look); got != c.want {
				t.Errorf("%s sees %q, want %q", c.name, got, c.want)
			}
			f.sh(st, `rm -r node_modules; echo changed > main.txt`)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = f.box.Setup(t.Context(), base, []gate.Command{sh(`seq 900; echo; echo why it failed; exit 3`)})
	if err == nil || !strings.Contains(err.Error(), "(exit status 3)") || !strings.HasSuffix(err.Error(), ": 898\n899\n900\nwhy it failed") {
		t.Errorf("a failing set-up command: %v", err)
	}
	if snapshot(t, f.root) != before {
		t.Error("the work tree changed")
	}
	if err := f.box.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left in the temporary directory: %v", left)
	}
}

// TestSetupCopy: a copy has no home and no system of its own that a set-up
// command could change.
func TestSetupCopy(t *testing.T) {
	f := newFixture(t, "copy")
	if _, err := f.box.Setup(t.Context(), nil, []gate.Command{{Argv: []string{"true"}}}); err == nil || !strings.Contains(err.Error(), "need the overlay or docker sandbox") {
		t.Errorf("error %v", err)
	}
}
