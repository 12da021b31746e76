package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// processesWith lists the machine's processes that have the word in their command line.
func processesWith(t *testing.T, word string) []int {
	t.Helper()
	var found []int
	for _, pid := range processes() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && pid != os.Getpid() && bytes.Contains(line, []byte(word)) {
			found = append(found, pid)
		}
	}
	return found
}

func mountsNow(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
