package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inGroup runs a shell script in a control group: it is in before it begins.
func inGroup(t *testing.T, g *controlGroup, script string, env ...string) (string, *os.ProcessState) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read go; "+script)
	cmd.Env = append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	start, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.admit(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	io.WriteString(start, "go\n")
	cmd.Wait()
	return said.String(), cmd.ProcessState
}

func needGroup(t *testing.T) *controlGroup {
	t.Helper()
	g := newControlGroup()
	if g == nil {
		t.Skip("no control group can be made here: no writable hierarchy with the memory or pids controller")
	}
	t.Cleanup(func() {
		g.remove()
		for _, dir := range g.dirs {
			if exists(dir) {
				t.Errorf("%s is left", dir)
			}
		}
	})
	return g
}

// has tells whether the group limits memory or pids.
func (g *controlGroup) has(kind string) bool {
	for _, dir := range g.dirs {
		for _, name := range limitFiles {
			if strings.HasPrefix(name, kind) && exists(filepath.Join(dir, name)) {
				return true
			}
		}
	}
	return false
}

func TestControlGroupLimitsMemory(t *testing.T) {
	g := needGroup(t)
	if !g.has("memory") {
		t.Skip("no hierarchy with the memory controller is writable here")
	}
	g.limit(100<<20, 100)
	_, state := inGroup(t, g, "exec "+os.Args[0]+" 400000000", helperVariable+"=allocate")
	if state.String() != "signal: killed" || g.killed() == 0 {
		t.Errorf("400 MB under a limit of 100: %v, %d killed", state, g.killed())
	}
}

func TestControlGroupLimitsProcesses(t *testing.T) {
	g := needGroup(t)
	if !g.has("pids") {
		t.Skip("no hierarchy with the pids controller is writable here")
	}
	g.limit(1<<30, 10)
	said, state := inGroup(t, g, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 & done; wait")
	if state.Success() && !strings.Contains(said, "ork") {
		t.Errorf("13 processes under a limit of 10: %v, %q", state, said)
	}
}

// A state's processes are in a group of their own, which has the run's limits;
// it is gone with the state.
func TestStateIsInControlGroup(t *testing.T) {
	needGroup(t)
	f := newFixture(t, "overlay")
	st := f.state()
	for line := range strings.Lines(f.sh(st, "cat /proc/self/cgroup")) {
		if strings.Contains(line, groupPrefix) && strings.HasPrefix(line, "0:") { // of version 1 it must show: ownGroups
			t.Errorf("the command sees its group's name: %s", line)
		}
	}
	group := st.engine.(*overlay).ns.group
	if group == nil {
		t.Fatal("the state has no control group")
	}
	for _, dir := range group.dirs {
		procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil || len(procs) == 0 {
			t.Errorf("%s: %q, %v", dir, procs, err)
		}
	}
	st.Close()
	for _, dir := range group.dirs {
		if exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
}

func TestGroupsOfTheKilledAreSwept(t *testing.T) {
	g := needGroup(t)
	left := filepath.Join(filepath.Dir(g.dirs[0]), fmt.Sprintf("%s%d-left", groupPrefix, 1<<30))
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	newControlGroup().remove()
	if exists(left) {
		os.Remove(left)
		t.Errorf("%s is left", left)
	}
}

// Where groups are made, for the layouts that are found in the field.
func TestGroupParents(t *testing.T) {
	for _, c := range []struct{ name, cgroup, mountinfo, want string }{
		{"version 2, a service", "0::/system.slice/runner.service\n", "30 23 0:26 / MOUNT rw,nosuid shared:9 - cgroup2 cgroup2 rw\n", "MOUNT/system.slice"},
		{"version 2, the root of a container", "0::/\n", "30 23 0:26 / MOUNT rw - cgroup2 cgroup rw\n", "MOUNT"},
		{"version 1", "8:pids:/\n4:memory:/a/b\n1:cpu:/\n", "35 31 0:32 / MOUNT/memory rw - cgroup cgroup rw,memory\n39 31 0:36 / MOUNT/pids rw - cgroup cgroup rw,pids\n", "MOUNT/pids MOUNT/memory/a/b"},
		{"version 1, a container's part of it", "4:cpu,memory:/docker/x\n", "35 31 0:32 /docker/x MOUNT rw - cgroup cgroup rw,cpu,memory\n", "MOUNT"},
		{"both, version 2 without controllers", "4:memory:/a\n0::/a\n", "35 31 0:32 / MOUNT/m rw - cgroup cgroup rw,memory\n41 31 0:38 / MOUNT/u rw - cgroup2 cgroup2 rw\n", "MOUNT/m/a MOUNT/u"},
		{"not mounted", "0::/a\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc, mount := t.TempDir(), t.TempDir()
			for name, text := range map[string]string{"cgroup": c.cgroup, "mountinfo": c.mountinfo} {
				if err := os.WriteFile(filepath.Join(proc, name), []byte(strings.ReplaceAll(text, "MOUNT", mount)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.ReplaceAll(strings.Join(groupParents(proc), " "), mount, "MOUNT"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
