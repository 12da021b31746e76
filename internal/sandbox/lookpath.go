package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lookPath finds a program as the command would: in the PATH of its
// environment, or relative to its directory.
func lookPath(name, dir string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.ContainsAny(name, `/`+string(os.PathSeparator)) {
		return filepath.Join(dir, name), nil
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, in := range filepath.SplitList(list) {
			if !filepath.IsAbs(in) {
				in = filepath.Join(dir, in)
			}
			if file, err := exec.LookPath(filepath.Join(in, name)); err == nil {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("program %q: %w in PATH", name, exec.ErrNotFound)
}
