package sandbox

import (
	"os"
	"strings"
	"testing"
)

// What a program that looks for its own control group finds (a JVM does when it is
// asked for the machine's memory): of version 1, the path that its hierarchies name.
func TestControlGroupIsWhereItSays(t *testing.T) {
	f := newFixture(t, "overlay")
	found := 0
	for line := range strings.Lines(f.sh(f.state(), "cat /proc/self/mountinfo")) {
		before, after, _ := strings.Cut(line, " - ")
		at := strings.Fields(before)
		if !strings.HasPrefix(after, "cgroup ") {
			continue
		}
		found++
		if strings.HasPrefix(at[3], "/..") {
			t.Errorf("%s begins above the command's own group: %s", at[4], at[3])
		}
	}
	if found == 0 {
		t.Skip("no hierarchy of version 1 is mounted here")
	}
}

func TestControlGroupsAreReadOnly(t *testing.T) {
	if _, err := os.Stat("/sys/fs/cgroup"); err != nil {
		t.Skip("no control groups are mounted here")
	}
	f := newFixture(t, "overlay")
	said := f.sh(f.state(), "for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/x 2>/dev/null && echo made $d; echo $$ 2>/dev/null >$d/cgroup.procs && echo moved $d; done; true")
	if said != "" {
		t.Error(said)
	}
}
