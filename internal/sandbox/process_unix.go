//go:build unix

package sandbox

import (
	"os"
	"runtime"
	"syscall"

	"github.com/touchstone-gate/touchstone/gate"
	"golang.org/x/sys/unix"
)

// apart gives a command a session of its own: no terminal, one group to kill.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func exitOf(state *os.ProcessState) gate.Exit {
	exit := gate.Exit{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Code, exit.Signal = -1, unix.SignalName(status.Signal())
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.MaxRSS = maxRSS(usage)
	}
	return exit
}

// maxRSS is in kilobytes, except on Apple's systems.
func maxRSS(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
