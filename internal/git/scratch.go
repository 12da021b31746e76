package git

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scratchPrefix begins the name of every temporary directory that is held by a
// lock. Nothing without one may bear it.
const scratchPrefix = "touchstone-held-"

// Scratch makes a temporary directory whose name begins with "touchstone-held-"
// and the given word. It is held until this process ends, however that comes; one that
// nobody holds any more is removed by Sweep.
func Scratch(word string) (dir string, err error) {
	dir, err = os.MkdirTemp("", scratchPrefix+word+"-")
	if err != nil {
		return "", err
	}
	return dir, hold(dir)
}

// Sweep removes the scratch directories of these words that a process of this
// user left behind when it was killed. What is younger than a minute is left: its
// owner may not hold it yet.
func Sweep(words ...string) {
	for _, word := range words {
		found, _ := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+word+"-*")) // the pattern is well formed
		for _, dir := range found {
			info, err := os.Lstat(dir)
			if err == nil && info.IsDir() && time.Since(info.ModTime()) > time.Minute && !strings.ContainsAny(filepath.Base(dir), "*?[") && abandoned(dir, info) {
				os.RemoveAll(dir)
			}
		}
	}
}
