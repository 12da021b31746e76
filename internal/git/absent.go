package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// surelyOutside holds where git finds no repository: no directory from dir
// upwards has a .git, or the HEAD of a bare one. It spares starting git, which
// costs more than splitting a diff.
func surelyOutside(dir string) bool {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return false
	}
	for {
		for _, mark := range []string{".git", "HEAD"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); !errors.Is(err, fs.ErrNotExist) {
				return false
			}
		}
		up := filepath.Dir(at)
		if up == at {
			return true
		}
		at = up
	}
}
