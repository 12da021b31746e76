package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// killLeft kills the command's session and whatever else carries its TMPDIR,
// which is how a process that left the session is known. One that also cleared
// its environment escapes.
func killLeft(cmd *exec.Cmd, temp string) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for range 100 {
		left := leftOf(temp)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// leftOf lists the processes with this TMPDIR.
func leftOf(temp string) []int {
	var left []int
	for _, pid := range processes() {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		for entry := range bytes.SplitSeq(env, []byte{0}) {
			if string(entry) == "TMPDIR="+temp {
				left = append(left, pid)
			}
		}
	}
	return left
}

func leftExceeds(temp string, t task) string {
	left := leftOf(temp)
	switch {
	case len(left) > t.Pids:
		return "processes"
	case overMemory(left, t.Memory):
		return "memory"
	}
	return ""
}
