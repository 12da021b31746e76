package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/touchstone-gate/touchstone/gate"
)

func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func exitOf(state *os.ProcessState) gate.Exit {
	return gate.Exit{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
}
