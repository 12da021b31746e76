package sandbox

import (
	"reflect"
	"strings"
	"testing"
)

// What a program that looks for its own control group finds (a JVM does when it is
// asked for the machine's memory): the path that /proc/self/cgroup names is there.
func TestControlGroupIsWhereItSays(t *testing.T) {
	f := newFixture(t, "overlay")
	for _, run := range []string{"first", "second"} {
		seen := map[string]hierarchy{} // the last mount at a place is what is seen
		for _, h := range parseHierarchies(f.sh(f.state(), "cat /proc/self/mountinfo")) {
			seen[h.target] = h
		}
		if len(seen) == 0 {
			t.Skip("no hierarchy of control groups is mounted here")
		}
		for _, h := range seen {
			if h.above {
				t.Errorf("%s run: %s begins above the command's own group", run, h.target)
			}
		}
	}
}

func TestControlGroupsAreReadOnly(t *testing.T) {
	f := newFixture(t, "overlay")
	said := f.sh(f.state(), "for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/x 2>/dev/null && echo made $d; echo $$ 2>/dev/null >$d/cgroup.procs && echo moved $d; done; true")
	if said != "" {
		t.Error(said)
	}
}

func TestParseHierarchies(t *testing.T) {
	got := parseHierarchies(strings.Join([]string{
		`31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs rw,mode=755`,
		`35 31 0:32 /../.. /sys/fs/cgroup/memory ro,relatime shared:9 - cgroup cgroup rw,memory`,
		`36 31 0:33 /.. /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,xattr,cpu,cpuacct,release_agent=/x`,
		`40 31 0:37 / /sys/fs/cgroup/systemd ro - cgroup cgroup rw,name=systemd`,
		`41 31 0:38 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw,nsdelegate`,
		`damaged`,
	}, "\n"))
	want := []hierarchy{
		{"/sys/fs/cgroup/memory", "cgroup", "memory", true},
		{"/sys/fs/cgroup/cpu,cpuacct", "cgroup", "cpu,cpuacct", true},
		{"/sys/fs/cgroup/systemd", "cgroup", "name=systemd", false},
		{"/sys/fs/cgroup/unified", "cgroup2", "", false},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
