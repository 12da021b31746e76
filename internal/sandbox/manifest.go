package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// manifest says what a clone holds: entries by path relative to its root, in
// the system's own notation, directories included, "." not.
type manifest map[string]entry

type entry struct {
	mode  fs.FileMode
	src   string // of a regular file: where its content is
	blob  bool   // src is the state's, not the work tree's: it must be there
	link  string // of a symlink: its target
	stamp time.Time
}

// readTree lists a work tree without its .git, without what is neither file,
// directory nor link, and without the directory except.
func readTree(ctx context.Context, root, except string) (manifest, error) {
	m := make(manifest)
	return m, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if path == except {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		if strings.EqualFold(rel, ".git") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		return m.read(rel, path, d)
	})
}

func (m manifest) read(rel, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // went while we looked
	}
	if err != nil {
		return err
	}
	e := entry{mode: info.Mode(), stamp: info.ModTime()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if e.link, err = os.Readlink(path); err != nil {
			return err
		}
	case info.Mode().IsRegular():
		e.src = path
	case !info.IsDir():
		return nil
	}
	m[rel] = e
	return nil
}

// hide leaves out what no command may see.
func (m manifest) hide(root string, hidden []string) {
	for _, path := range hidden {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			if _, there := m[rel]; there {
				m.drop(rel)
			}
		}
	}
}

// apply changes the manifest into a state's. A link or file in the way of a
// state's path is replaced by a directory, so that nothing is written through it.
func (m manifest) apply(files []File, stamp time.Time) error {
	for _, f := range files {
		if path := filepath.FromSlash(f.Path); f.Mode == modeAbsent {
			m.remove(path, stamp)
		}
	}
	for _, f := range files {
		if f.Mode == modeAbsent {
			continue
		}
		if err := m.put(f, stamp); err != nil {
			return err
		}
	}
	return nil
}

func (m manifest) put(f File, stamp time.Time) error {
	path := filepath.FromSlash(f.Path)
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		e, there := m[dir]
		if !there || !e.mode.IsDir() {
			e.mode = fs.ModeDir | 0o755
		}
		m[dir] = entry{mode: e.mode, stamp: stamp}
	}
	m.drop(path)
	switch f.Mode {
	case modeGitlink:
		m[path] = entry{mode: fs.ModeDir | 0o755, stamp: stamp}
	case modeSymlink:
		target, err := os.ReadFile(f.Blob)
		if err != nil {
			return err
		}
		m[path] = entry{mode: fs.ModeSymlink | 0o777, link: string(target), stamp: stamp}
	default:
		m[path] = entry{mode: fs.FileMode(f.perm()), src: f.Blob, blob: true, stamp: stamp}
	}
	return nil
}

// remove takes a file or a submodule out, and directories that are left empty.
func (m manifest) remove(path string, stamp time.Time) {
	e, there := m[path]
	if !there {
		return
	}
	if _, submodule := m[filepath.Join(path, ".git")]; e.mode.IsDir() && !submodule {
		return
	}
	m.drop(path)
	dir := filepath.Dir(path)
	for ; dir != "." && !m.holds(dir); dir = filepath.Dir(dir) {
		delete(m, dir)
	}
	if e, there := m[dir]; there {
		e.stamp = stamp
		m[dir] = e
	}
}

func (m manifest) drop(path string) {
	if m[path].mode.IsDir() {
		for p := range m {
			if strings.HasPrefix(p, path+string(filepath.Separator)) {
				delete(m, p)
			}
		}
	}
	delete(m, path)
}

func (m manifest) holds(dir string) bool {
	for p := range m {
		if filepath.Dir(p) == dir {
			return true
		}
	}
	return false
}

// clean removes from the clone at root all that is not as it was written.
func (m manifest) clean(root string, marks map[string]mark) error {
	seen := make(map[string]bool, len(m))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e, wanted := m[rel]
		if wanted && e.mode.Type() == info.Mode().Type() && (d.IsDir() || marks[rel] == markOf(info)) {
			seen[rel] = true
			return nil
		}
		delete(marks, rel)
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	for rel := range marks {
		if !seen[rel] {
			delete(marks, rel)
		}
	}
	return err
}

// settle is longer than the steps of a file system's clock: what changes after
// it shows in the marks.
const settle = 20 * time.Millisecond

// write makes what is missing at root and records the marks of it.
func (m manifest) write(ctx context.Context, root string, marks map[string]mark) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	paths := make([]string, 0, len(m))
	for path := range m {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, rel := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, there := marks[rel]; there {
			continue
		}
		if err := m.make(rel, filepath.Join(root, rel), marks); err != nil {
			return err
		}
	}
	for _, rel := range slices.Backward(paths) {
		if e := m[rel]; e.mode.IsDir() {
			path := filepath.Join(root, rel)
			if err := errors.Join(os.Chmod(path, e.mode.Perm()|0o700), os.Chtimes(path, e.stamp, e.stamp)); err != nil {
				return err
			}
		}
	}
	time.Sleep(settle)
	return nil
}

func (m manifest) make(rel, path string, marks map[string]mark) error {
	e := m[rel]
	switch {
	case e.mode.IsDir():
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case e.mode&fs.ModeSymlink != 0:
		if err := os.Symlink(e.link, path); err != nil {
			return err
		}
		if err := linkTime(path, e.stamp); err != nil {
			return err
		}
	default:
		err := cloneFile(path, e.src, e.mode.Perm())
		if errors.Is(err, fs.ErrNotExist) && !e.blob {
			return nil // an untracked file that went meanwhile
		}
		if err := errors.Join(err, os.Chtimes(path, e.stamp, e.stamp)); err != nil {
			return err
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	marks[rel] = markOf(info)
	return nil
}
