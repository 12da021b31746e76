package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// ownGroups makes the command's control group look alike in every state, where all
// groups are of version 2. With version 1 the group's name shows: in a namespace of
// its own the machine's mounts begin above the group's `/`, and programs that look
// there for themselves fail, OpenJDK 17's OperatingSystemMXBean and Gradle with it.
// A kernel that refuses shows the name too.
func ownGroups() {
	mounts, err := mountTable()
	if err == nil && !slices.ContainsFunc(mounts, func(m mountPoint) bool { return m.kind == "cgroup" }) {
		unix.Unshare(unix.CLONE_NEWCGROUP)
	}
}
