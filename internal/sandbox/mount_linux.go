package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fdPath names an open file in a way that no path, and no mount over that
// path, can disturb. It holds for mount sources and options too, whose strings
// could not carry every file name.
func fdPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// hold opens a path as a mere place, under a descriptor number that depends
// only on how many were held before: the numbers show in the mount table,
// which must look the same in every state.
func hold(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 100)
}

// mountTmpfs limits files too: each takes kernel memory that its size does not count.
func mountTmpfs(target string, size int64) error {
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=%d", size, max(50_000, size/4096))
	return named("tmpfs", target, unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options))
}

func bind(source, target string) error {
	return named("bind", target, unix.Mount(source, target, "", unix.MS_BIND, ""))
}

func bindReadOnly(source, target string) error {
	if err := bind(source, target); err != nil {
		return err
	}
	return seal(target)
}

// mountOverlay shows the lower directories, topmost first, with writes going to upper.
func mountOverlay(target, upper, work string, lower ...string) error {
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", strings.Join(lower, ":"), upper, work)
	return named("overlay", target, unix.Mount("overlay", target, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options))
}

func named(kind, target string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: "mount " + kind, Path: target, Err: err}
}

// seal makes one mount read-only.
func seal(target string) error {
	return change(target, 0, unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// unseal makes one bind mount writable.
func unseal(target string) error {
	return change(target, 0, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
}

func allowDevices(target string) error {
	return change(target, 0, unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_NODEV})
}

// sealAll makes every mount private, read-only and without devices and set-id programs.
func sealAll() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return named("private", "/", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attr)
	if !errors.Is(err, unix.ENOSYS) {
		return named("read-only", "/", err)
	}
	mounts, err := mountTable()
	if err != nil {
		return err
	}
	for _, m := range mounts {
		if err := remount(m.target, attr); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
			return err // EINVAL: covered by another mount, so out of reach
		}
	}
	return nil
}

func change(target string, flags uint, attr unix.MountAttr) error {
	err := unix.MountSetattr(unix.AT_FDCWD, target, flags, &attr)
	if errors.Is(err, unix.ENOSYS) {
		return remount(target, attr)
	}
	return named("attributes", target, err)
}

// remount changes flags as kernels before 5.12 do it. Flags that are not named
// are lost on remounting, so those that are set are repeated.
func remount(target string, attr unix.MountAttr) error {
	var now unix.Statfs_t
	if err := unix.Statfs(target, &now); err != nil {
		return &os.PathError{Op: "statfs", Path: target, Err: err}
	}
	flags := uint64(now.Flags) &^ unix.ST_RELATIME
	known := map[uint64]uintptr{
		unix.MOUNT_ATTR_RDONLY: unix.MS_RDONLY, unix.MOUNT_ATTR_NOSUID: unix.MS_NOSUID, unix.MOUNT_ATTR_NODEV: unix.MS_NODEV,
	}
	keep := uintptr(flags & (unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME))
	for bit, flag := range known {
		if attr.Attr_clr&bit != 0 {
			keep &^= flag
		}
		if attr.Attr_set&bit != 0 {
			keep |= flag
		}
	}
	return named("remount", target, unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|keep, ""))
}

// mountPoint is one line of the mount table.
type mountPoint struct{ target, kind string }

func mountTable() ([]mountPoint, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMountTable(string(text)), nil
}

func parseMountTable(text string) []mountPoint {
	var mounts []mountPoint
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if ok && len(fields) >= 5 && len(tail) >= 1 {
			mounts = append(mounts, mountPoint{target: unescapeMount(fields[4]), kind: tail[0]})
		}
	}
	return mounts
}

// unescapeMount undoes the table's octal escapes of blanks, newlines and backslashes.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
