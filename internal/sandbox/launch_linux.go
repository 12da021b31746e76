package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launch becomes the command: args are whether a report is asked for, the umask, the
// process limit, the working directory, how many writable directories there are,
// these, then the command's own. What it gives up here (capabilities, the keyring,
// new privileges, files to write) nothing of the command can get back.
func launch(args []string) error {
	if len(args) < 6 {
		return errors.New("launcher: too few arguments")
	}
	runtime.LockOSThread() // credentials belong to the thread, and this one will be the command
	last := reportFD
	if args[0] != "true" {
		last = reportFD - 1
	}
	if err := closeAfter(last); err != nil {
		return fmt.Errorf("closing inherited files: %w", err)
	}
	umask, err1 := strconv.Atoi(args[1])
	pids, err2 := strconv.Atoi(args[2])
	count, err3 := strconv.Atoi(args[4])
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("launcher: %w", err)
	}
	dir, writable, argv := args[3], args[5:5+count], args[5+count:]
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	file, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	ownGroups()
	if err := errors.Join(limitResources(pids), landlocked(writable), dropPrivileges()); err != nil {
		return err
	}
	unix.Umask(umask)
	err = syscall.Exec(file, argv, os.Environ())
	return &os.PathError{Op: "exec", Path: file, Err: err}
}

// closeAfter leaves the command no descriptor above last: not even those that
// whoever started us let slip through to us.
func closeAfter(last int) error {
	err := unix.CloseRange(uint(last+1), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	names, err := os.ReadDir("/proc/self/fd") // Linux before 5.11
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > last {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// fail reports to the init that waits on the other end, and ends the launcher.
func fail(err error) {
	fmt.Fprint(os.NewFile(errorFD, "errors"), err)
	os.Exit(1)
}

// limitResources sets what the kernel itself can keep without control groups. Memory
// is then the watchdog's alone: address space (RLIMIT_AS, RLIMIT_DATA) says little of it for the race detector,
// sanitizers, node and the JVM, which reserve far more than they use.
func limitResources(pids int) error {
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // if the machine runs out, this goes first
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("limiting core dumps: %w", err)
	}
	if !countsPerNamespace() {
		return nil
	}
	limit := unix.Rlimit{Cur: uint64(pids * threadsPerProcess), Max: uint64(pids * threadsPerProcess)}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &limit); err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("limiting processes to %d: %w", pids, err)
	}
	return nil
}

// countsPerNamespace reports whether the process limit leaves out what the user
// runs elsewhere: Linux 5.14.
func countsPerNamespace() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	release := unix.ByteSliceToString(name.Release[:])
	fmt.Sscanf(strings.ReplaceAll(release, "-", " "), "%d.%d", &major, &minor)
	return major > 5 || major == 5 && minor >= 14
}

func dropPrivileges() error {
	unix.KeyctlJoinSessionKeyring("") // an old kernel without keyrings has no secrets in them
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	for c := range lastCapability() + 1 {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return fmt.Errorf("dropping capabilities: %w", errno)
	}
	return nil
}
