package sandbox

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// hierarchy is one mount of control groups, as a process of a namespace sees it.
type hierarchy struct {
	target, kind string
	options      string // what names it among those of version 1
	above        bool   // its root lies outside of the namespace
}

// mountGroups mounts each hierarchy anew that begins above the command's own group
// namespace. In the machine's mounts the command's group, which is called `/` there,
// is at no path, and programs that look for it fail: OpenJDK 17's
// OperatingSystemMXBean, and Gradle with it. A kernel that refuses leaves the
// machine's mounts, which are read-only too.
func (w *world) mountGroups() error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the namespace is the thread's, which ends
		done <- w.mountGroupsHere()
	}()
	return <-done
}

func (w *world) mountGroupsHere() error {
	if unix.Unshare(unix.CLONE_NEWCGROUP) != nil {
		return nil // then the command has none of its own either
	}
	table, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return err
	}
	for _, h := range parseHierarchies(string(table)) {
		if !h.above {
			continue
		}
		if err := w.cover(h.target); err != nil { // no file system goes straight onto itself
			return err
		}
		if err := unix.Mount("cgroup", h.target, h.kind, unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, h.options); err != nil {
			unix.Unmount(h.target, unix.MNT_DETACH)
		}
	}
	return nil
}

func parseHierarchies(table string) []hierarchy {
	var all []hierarchy
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		at, kind := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || len(kind) < 3 || kind[0] != "cgroup" && kind[0] != "cgroup2" {
			continue
		}
		h := hierarchy{target: unescapeMount(at[4]), kind: kind[0], above: strings.HasPrefix(at[3], "/..")}
		if h.kind == "cgroup" {
			h.options = controllersOf(kind[2])
		}
		all = append(all, h)
	}
	return all
}

// controllersOf keeps of a super block's options those that say which hierarchy it is.
func controllersOf(options string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(options, ","), func(o string) bool {
		return slices.Contains([]string{"rw", "ro", "xattr", "noprefix", "clone_children", "cpuset_v2_mode", "favordynmods"}, o) ||
			strings.HasPrefix(o, "release_agent=")
	}), ",")
}
