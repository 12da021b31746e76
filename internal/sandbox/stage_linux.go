package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type unixStat = syscall.Stat_t

// stage writes an overlay layer: files that replace those of a lower directory
// and whiteouts that remove them.
//
// Invariants: every directory in dst was made here, so no path leads out of it;
// a whiteout is made only where the lower directory has an entry that would
// show through, since elsewhere an overlay shows the whiteout itself.
type stage struct {
	dst, lower string
	stamp      time.Time // of everything written; zero: directories keep the lower one's
	dirs       map[string]bool
	opaque     map[string]bool // directories through which nothing of the lower tree shows
	written    []string
	emptied    map[string]bool // directories that lost an entry
}

func newStage(dst, lower string, stamp time.Time) *stage {
	return &stage{
		dst: dst, lower: lower, stamp: stamp,
		dirs: map[string]bool{".": true}, opaque: make(map[string]bool), emptied: make(map[string]bool),
	}
}

// build writes a state's files, then removes directories that lost their last
// entry (git keeps none), then makes all times equal.
func (s *stage) build(files []File, root fs.FileInfo) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		if f.Mode == modeAbsent {
			continue
		}
		if err := s.put(f); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, err)
		}
	}
	for _, f := range files {
		if f.Mode != modeAbsent {
			continue
		}
		if err := s.remove(f.Path); err != nil {
			return fmt.Errorf("removing %q: %w", f.Path, err)
		}
	}
	if err := s.prune(); err != nil {
		return err
	}
	if err := imitate(s.dst, root); err != nil {
		return err
	}
	return s.stampAll()
}

func (s *stage) put(f File) error {
	if err := s.parents(f.Path); err != nil {
		return err
	}
	dst := filepath.Join(s.dst, f.Path)
	s.written = append(s.written, f.Path)
	switch f.Mode {
	case modeGitlink:
		if err := os.Mkdir(dst, 0o755); err != nil {
			return err
		}
		s.dirs[f.Path] = true
		return s.conceal(f.Path)
	case modeSymlink:
		target, err := os.ReadFile(f.Blob)
		if err != nil {
			return err
		}
		return os.Symlink(string(target), dst)
	}
	return cloneFile(dst, f.Blob, fs.FileMode(f.perm()))
}

// parents makes the directories that lead to path. A file or a link of the
// lower tree that stands in the way disappears behind them.
func (s *stage) parents(path string) error {
	dir := filepath.Dir(path)
	if s.dirs[dir] {
		return nil
	}
	if err := s.parents(dir); err != nil {
		return err
	}
	dst := filepath.Join(s.dst, dir)
	if err := os.Mkdir(dst, 0o755); err != nil {
		return err // also where another file of the state stands in the way
	}
	s.dirs[dir] = true
	s.written = append(s.written, dir)
	if info := s.below(dir); info != nil && info.IsDir() {
		return imitate(dst, info)
	}
	return nil
}

// conceal keeps the lower tree's entries of a directory from showing through.
func (s *stage) conceal(dir string) error {
	s.opaque[dir] = true
	return unix.Setxattr(filepath.Join(s.dst, dir), "user.overlay.opaque", []byte("y"), 0)
}

// below returns what the lower tree has at path, nil for nothing: a path that
// leads through a link of that tree is not in it.
func (s *stage) below(path string) fs.FileInfo {
	if dir := filepath.Dir(path); dir != "." {
		if info := s.below(dir); info == nil || !info.IsDir() {
			return nil
		}
	}
	info, err := os.Lstat(s.lower + "/" + path) // not Join: "." must lead through the descriptor
	if err != nil {
		return nil
	}
	return info
}

// remove takes a path out of the state. Of a directory in its place only a
// submodule's goes: other directories hold files that have their own say.
func (s *stage) remove(path string) error {
	info := s.below(path)
	submodule := s.below(filepath.Join(path, ".git")) != nil
	switch {
	case info == nil, info.IsDir() && !submodule:
		return nil
	case submodule && s.dirs[path]:
		return s.conceal(path)
	}
	return s.hide(path)
}

// hide makes whatever the lower tree has at path disappear.
func (s *stage) hide(path string) error {
	if s.below(path) == nil || s.replaced(path) {
		return nil
	}
	if err := s.parents(path); err != nil {
		return err
	}
	s.emptied[filepath.Dir(path)] = true
	return whiteout(filepath.Join(s.dst, path), s.stampOf(filepath.Dir(path)))
}

// replaced reports whether the lower tree's path is out of sight already:
// written here, or below something that hides it.
func (s *stage) replaced(path string) bool {
	if _, err := os.Lstat(filepath.Join(s.dst, path)); err == nil {
		return true
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(s.dst, dir))
		if s.opaque[dir] || (err == nil && !info.IsDir()) {
			return true
		}
	}
	return false
}

// whiteout leaves its directory's time as it is told, zero for as it comes.
func whiteout(dst string, dir time.Time) error {
	if err := unix.Mknod(dst, unix.S_IFCHR, 0); err != nil {
		return &os.PathError{Op: "whiteout", Path: dst, Err: err}
	}
	if dir.IsZero() {
		return nil
	}
	return stampPath(filepath.Dir(dst), dir)
}

func (s *stage) stampOf(dir string) time.Time {
	if info := s.below(dir); s.stamp.IsZero() && info != nil {
		return info.ModTime()
	}
	return s.stamp
}

// prune hides directories in which nothing is left to see, innermost first.
func (s *stage) prune() error {
	queue := make([]string, 0, len(s.emptied))
	for dir := range s.emptied {
		queue = append(queue, dir)
	}
	deepestFirst := func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") }
	for len(queue) > 0 {
		slices.SortFunc(queue, deepestFirst)
		dir := queue[0]
		queue = queue[1:]
		if dir == "." || !s.nothingLeft(dir) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dst, dir)); err != nil {
			return err
		}
		delete(s.dirs, dir)
		if err := s.hide(dir); err != nil {
			return err
		}
		queue = append(queue, filepath.Dir(dir))
	}
	return nil
}

func (s *stage) nothingLeft(dir string) bool {
	gone := make(map[string]bool)
	ours, err := os.ReadDir(filepath.Join(s.dst, dir))
	if err != nil {
		return false
	}
	for _, e := range ours {
		if e.Type()&fs.ModeCharDevice == 0 {
			return false
		}
		gone[e.Name()] = true
	}
	theirs, err := os.ReadDir(filepath.Join(s.lower, dir))
	return err == nil && !slices.ContainsFunc(theirs, func(e fs.DirEntry) bool { return !gone[e.Name()] })
}

func (s *stage) stampAll() error {
	for _, path := range append(s.written, ".") {
		err := stampPath(filepath.Join(s.dst, path), s.stamp)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return &os.PathError{Op: "set time", Path: path, Err: err}
		}
	}
	return nil
}
