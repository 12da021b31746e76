package sandbox

import (
	"fmt"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlockabi "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// scopesABI is the Landlock version that can cut off signals and abstract sockets.
const scopesABI = 6

// landlockABI is the version of the running kernel, 0 for none.
func landlockABI() int {
	version, err := landlockabi.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// landlocked keeps this process, and all it becomes and starts, from writing
// outside of the writable directories, from signalling processes that it did not
// start (the init), and from abstract sockets of others, which belong to a
// network namespace and so are within reach where the network is open. A kernel
// that knows less of Landlock enforces less. Mounts keep the first already: this
// is a second lock of another make.
func landlocked(writable []string) error {
	if landlockABI() == 0 {
		return nil
	}
	fs := []landlock.Rule{
		landlock.RODirs("/"),
		landlock.RWDirs(writable...).WithRefer().IgnoreIfMissing(),
		landlock.RWDirs("/dev").WithRefer().WithIoctlDev(),
		landlock.RWDirs("/proc"),
	}
	// One ruleset for both: a second one that says nothing of files would forbid
	// every move from one directory to another.
	config := landlock.MustConfig(landlock.AccessFSSet(1<<16-1), landlock.ScopedSet(1<<2-1)) // all that version 6 knows
	if err := config.BestEffort().Restrict(fs...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// writable lists where commands may write.
func (w *world) writable() []string {
	dirs := []string{w.Root, bareHome}
	for _, p := range private {
		if !p.sealed {
			dirs = append(dirs, p.target)
		}
	}
	for _, l := range w.layers {
		if l.info.IsDir() {
			dirs = append(dirs, l.target)
		}
	}
	return dirs
}

func landlockLayer() []string {
	abi := landlockABI()
	switch {
	case abi == 0:
		return nil
	case abi < scopesABI:
		return []string{fmt.Sprintf("Landlock (version %d: files)", abi)}
	}
	return []string{fmt.Sprintf("Landlock (version %d: files, signals, abstract sockets)", abi)}
}
