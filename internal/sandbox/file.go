package sandbox

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// Git's file modes, as in [File.Mode].
const (
	modeAbsent  = 0
	modeFile    = 0o100644
	modeExec    = 0o100755
	modeSymlink = 0o120000
	modeGitlink = 0o160000
)

// File is one path in which a state may differ from the work tree. All states
// of one sandbox should list the same paths, so that none can be told by what
// was written.
type File struct {
	Path string // repository-relative, forward slashes
	Mode uint32 // git mode; 0: absent in this state; 0160000: an empty directory
	Blob string // path of the content on disk; for a symlink the file holds the target
}

func (f File) check() error {
	switch {
	case f.Path == "", f.Path != path.Clean(f.Path), f.Path == ".", strings.ContainsRune(f.Path, 0),
		!filepath.IsLocal(filepath.FromSlash(f.Path)):
		return fmt.Errorf("file %q: not a clean path inside the work tree", f.Path)
	}
	for part := range strings.SplitSeq(f.Path, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("file %q: a state cannot hold git's own files", f.Path)
		}
	}
	switch f.Mode {
	case modeAbsent, modeFile, modeExec, modeSymlink, modeGitlink:
		return nil
	}
	return fmt.Errorf("file %q: mode %o is none that git stores", f.Path, f.Mode)
}

func checkFiles(files []File) error {
	modes := make(map[string]uint32, len(files))
	for _, f := range files {
		if err := f.check(); err != nil {
			return err
		}
		if _, twice := modes[f.Path]; twice {
			return fmt.Errorf("file %q: listed twice", f.Path)
		}
		modes[f.Path] = f.Mode
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "." && f.Mode != modeAbsent; dir = path.Dir(dir) {
			if modes[dir] != modeAbsent {
				return fmt.Errorf("file %q: lies below %q, which is no directory in this state", f.Path, dir)
			}
		}
	}
	return nil
}

func (f File) perm() uint32 {
	if f.Mode == modeExec {
		return 0o755
	}
	return 0o644
}
