package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"golang.org/x/sys/unix"
)

// Descriptors that a launcher is started with, after the standard three.
const (
	reportFD = 3 // stays open in the command
	errorFD  = 4 // carries why the command could not be started
)

// execute runs a command and returns when no process of it is left.
func (w *world) execute(t task, out []*os.File) (gate.Exit, error) {
	w.clean = false
	if err := writeFiles(w.at("run", "files"), t.Files); err != nil {
		return gate.Exit{}, err
	}
	begin := time.Now()
	pid, err := w.spawn(t, out)
	if err != nil {
		killOthers()
		reapAll()
		return gate.Exit{}, err
	}
	var ended ending
	guard := w.guard(t, &ended)
	exit := reap(pid)
	guard.end()
	if w.diskFull() {
		ended.because("disk")
	}
	killOthers()
	exit.add(reapAll())
	return exit.result(&ended, time.Since(begin)), nil
}

// ending says that, and why, we ended a command. The first reason stays.
type ending struct{ why atomic.Pointer[string] }

func (e *ending) because(why string) {
	if e.why.CompareAndSwap(nil, &why) {
		killOthers()
	}
}

// spawn starts the launcher and waits until it has become the command, or says
// why it could not.
func (w *world) spawn(t task, out []*os.File) (pid int, err error) {
	if len(out) < 2 {
		return 0, errors.New("request came without output streams")
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	failure, theirs, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer failure.Close()
	fds := append([]uintptr{null.Fd()}, inherited(out)...)
	keepReport := strconv.FormatBool(len(out) == maxDescriptors)
	if len(out) < maxDescriptors {
		fds = append(fds, null.Fd())
	}
	fds = append(fds, theirs.Fd())
	writable := w.writable()
	argv := []string{launchName, keepReport, strconv.Itoa(w.umask), strconv.Itoa(t.Pids), filepath.Join(w.Root, t.Dir), strconv.Itoa(len(writable))}
	argv = slices.Concat(argv, writable, t.Argv)
	pid, err = syscall.ForkExec("/proc/self/exe", argv, &syscall.ProcAttr{
		Dir: "/", Env: t.Env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	theirs.Close()
	closeAll(out)
	if err != nil {
		return 0, fmt.Errorf("starting the launcher: %w", err)
	}
	if said, _ := io.ReadAll(failure); len(said) > 0 {
		return pid, errors.New(string(said))
	}
	return pid, nil
}

// used sums up ended processes.
type used struct {
	status syscall.WaitStatus // of the command itself
	cpu    time.Duration
	maxRSS int64
}

// reap waits for the command, and for every orphan that ends before it.
func reap(pid int) used {
	var sum used
	for {
		ended, one := waitAny()
		sum.add(one)
		if ended == pid || ended < 0 {
			sum.status = one.status
			return sum
		}
	}
}

func reapAll() used {
	var sum used
	for {
		ended, one := waitAny()
		if ended < 0 {
			return sum
		}
		sum.add(one)
	}
}

func waitAny() (pid int, u used) {
	for {
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &u.status, 0, &usage)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return -1, u
		}
		u.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		u.maxRSS = int64(usage.Maxrss) * 1024
		return pid, u
	}
}

func (u *used) add(other used) {
	u.cpu += other.cpu
	u.maxRSS = max(u.maxRSS, other.maxRSS)
}

func (u used) result(e *ending, wall time.Duration) gate.Exit {
	exit := gate.Exit{Code: u.status.ExitStatus(), Wall: wall, CPU: u.cpu, MaxRSS: u.maxRSS}
	if u.status.Signaled() {
		exit.Code, exit.Signal = -1, unix.SignalName(u.status.Signal())
	}
	if why := e.why.Load(); why != nil {
		exit.TimedOut = *why == timedOut
		if !exit.TimedOut {
			exit.Limit = *why
		}
	}
	return exit
}
