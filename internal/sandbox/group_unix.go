//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"syscall"
)

// killGroup ends a command and what stayed in its group. (Linux does better: see
// left_linux.go.)
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
