package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strings"
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
	var mine strings.Builder
	for line := range strings.Lines(string(text)) {
		// An engine that other tests use mounts and unmounts as its containers come and go.
		if !strings.Contains(line, "/docker/") && !strings.HasPrefix(line, "nsfs ") {
			mine.WriteString(line)
		}
	}
	return mine.String()
}
