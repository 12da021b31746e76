//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// helperVariable makes the test binary one of the programs below, for commands
// that no shell can be.
const helperVariable = "SANDBOX_TEST_HELPER"

var helpers = map[string]func(args []string) int{
	"allocate": allocate,
	"output":   output,
	"detach":   detach,
	"sleep":    func([]string) int { time.Sleep(time.Hour); return 0 },
	"exit":     func(args []string) int { n, _ := strconv.Atoi(args[0]); return n },
	"kind":     printKind,
	"hold":     holdState,
	"fork":     forkMany,
}

func TestMain(m *testing.M) {
	Init()
	if name := os.Getenv(helperVariable); name != "" {
		os.Exit(helpers[name](os.Args[1:]))
	}
	code := m.Run()
	dropTestImage()
	os.Exit(code)
}

func allocate(args []string) int {
	n, _ := strconv.Atoi(args[0])
	block := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		block[i] = 1
	}
	time.Sleep(time.Minute)
	fmt.Println(block[n-1])
	return 0
}

func output(args []string) int {
	n, _ := strconv.Atoi(args[0])
	w := bufio.NewWriter(os.Stdout)
	line := bytes.Repeat([]byte("x"), 1<<16)
	for ; n > 0; n -= len(line) {
		w.Write(line)
	}
	fmt.Fprintln(w, " the end")
	w.Flush()
	return 0
}

// detach leaves a process behind in a session of its own that writes a file
// again and again, then ends.
func detach(args []string) int {
	cmd := exec.Command("/bin/sh", "-c", `while :; do echo alive >> "$0"; sleep 0.05; done`, args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}

func forkMany(args []string) int {
	n, _ := strconv.Atoi(args[0])
	for range n {
		if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
			fmt.Println(err)
		}
	}
	time.Sleep(time.Minute)
	return 0
}
