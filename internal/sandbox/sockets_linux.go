package sandbox

import (
	"os"
	"strings"
)

// listeningSockets lists the paths of the machine's listening unix sockets.
func listeningSockets() []string {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	return parseSockets(string(text))
}

// parseSockets reads /proc/net/unix: number, reference count, protocol, flags,
// type, state, inode, path. The flag __SO_ACCEPTCON marks a listener.
func parseSockets(text string) []string {
	var paths []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[3] != "00010000" {
			continue
		}
		if _, path, found := strings.Cut(line, fields[6]+" /"); found {
			paths = append(paths, "/"+strings.TrimSuffix(path, "\n"))
		}
	}
	return paths
}
