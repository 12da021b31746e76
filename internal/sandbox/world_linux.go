package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// world is what the commands of one state see. It belongs to the namespace's init.
//
// Everything written lies in the scratch: a tmpfs, so that it vanishes with the
// namespace, mounted where nothing but a held descriptor reaches it. Below it:
//
//	stage    the state's files, as an overlay layer over the work tree
//	keep/N   upper layers of the home and of caches: live as long as the state
//	run      a tmpfs for one run: upper layers of the tree, /tmp, ...
//
// Lower layers are named by descriptors that were opened before anything was
// mounted over their paths. So a tree may lie under /tmp or in the home, and no
// overlay of ours is ever made over an overlay of ours.
type world struct {
	setup
	scratch string // as a path through a descriptor
	umask   int    // the user's
	layers  []layer
	mounts  []place // what a run sees, outermost first
	mounted []int   // roots of the current run's mounts, in mount order
	clean   bool    // the mounts are there, and no command has run in them
	onDisk  bool
	// diskScratch is the scratch where it is on disk: what must be removed when
	// our parent is gone.
	diskScratch atomic.Pointer[string]
}

// errNoUserXattr means that a tmpfs cannot be the upper layer of an overlay here.
var errNoUserXattr = errors.New("tmpfs without user attributes (Linux before 6.6)")

// make mounts the world, up to where the first command can run.
func (w *world) make() error {
	for _, step := range []struct {
		doing string
		do    func() error
	}{
		{"opening the directories that states show", w.openLayers},
		{"making all mounts read-only", sealAll},
		{"making a scratch file system", w.mountScratch},
		{"mounting /proc", w.mountProc},
		{"staging the state's files", w.stageFiles},
		{"hiding credentials", w.hideInLayers},
		{"making a private /dev", w.mountDev},
		{"bringing the loopback network up", w.loopback},
		{"planning the mounts", w.plan},
		{"mounting the state", w.fresh},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.doing, err)
		}
	}
	return nil
}

// mountScratch puts the scratch on /proc, where nobody's files are, and the
// namespace's own /proc over it.
func (w *world) mountScratch() error {
	w.onDisk = w.Scratch != ""
	if w.onDisk {
		if err := w.bindScratch(); err != nil {
			return err
		}
	} else if err := mountTmpfs("/proc", w.Disk); err != nil {
		return err
	}
	fd, err := hold("/proc")
	if err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return named("proc", "/proc", err)
	}
	w.scratch = fdPath(fd)
	if w.onDisk {
		w.scratch += "/" + filepath.Base(w.Scratch)
		w.diskScratch.Store(&w.scratch)
	}
	for _, dir := range []string{"stage", "keep", "run", "dev", "empty"} {
		if err := os.Mkdir(w.at(dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(w.at("nothing"), nil, 0o444); err != nil {
		return err
	}
	if unix.Setxattr(w.at("empty"), "user.touchstone", []byte("y"), 0) != nil && !w.onDisk {
		return errNoUserXattr
	}
	return nil
}

// bindScratch takes the parent of the scratch directory, so that the directory
// itself can be removed when this process is all that is left.
func (w *world) bindScratch() error {
	if err := bind(filepath.Dir(w.Scratch), "/proc"); err != nil {
		return err
	}
	return unseal("/proc")
}

// at names a path in the scratch.
func (w *world) at(parts ...string) string {
	return filepath.Join(append([]string{w.scratch}, parts...)...)
}

// Kernel switches that root's user id alone opens, and what would show the machine.
var (
	procReadOnly = []string{"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs"}
	procHidden   = []string{
		"/proc/sysrq-trigger", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats",
		"/proc/kallsyms", "/proc/kmsg", "/proc/acpi", "/proc/scsi", "/proc/asound",
		"/sys/firmware", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security",
	}
)

// mountProc first takes user namespaces away: in one of its own a command had
// all capabilities again, and with them the parts of the kernel that only those
// reach. The switch is this namespace's own.
func (w *world) mountProc() error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, path := range procReadOnly {
		if err := bindReadOnly(path, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, path := range procHidden {
		if err := w.cover(path); err != nil {
			return err
		}
	}
	return nil
}

// cover puts an empty file or directory in sight of what is at path.
func (w *world) cover(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // nothing there that could be seen
	}
	if info.IsDir() {
		return bindReadOnly(w.at("empty"), path)
	}
	return bindReadOnly(w.at("nothing"), path)
}

// mountDev keeps the harmless devices. All others must go: as root, the id
// alone opens a disk for writing, and a read-only mount does not prevent that.
func (w *world) mountDev() error {
	dev := w.at("dev")
	if err := mountTmpfs(dev, 1<<20); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		node := filepath.Join(dev, name)
		if err := os.WriteFile(node, nil, 0o666); err != nil {
			return err
		}
		if err := errors.Join(bind("/dev/"+name, node), allowDevices(node), unseal(node)); err != nil {
			return err
		}
	}
	links := map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"pts", "shm"} {
		if err := os.Mkdir(filepath.Join(dev, name), 0o755); err != nil {
			return err
		}
	}
	err := unix.Mount("devpts", filepath.Join(dev, "pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	return named("devpts", "/dev/pts", err)
}

func (w *world) loopback() error {
	if w.Network {
		return nil
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}
