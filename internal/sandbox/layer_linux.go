package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// layer is a directory of the user's that commands see with their own writes over it.
type layer struct {
	target string
	lower  string // as a path through a descriptor
	under  string // likewise, what set-up commands left over it; "" for nothing
	info   fs.FileInfo
	tree   bool   // part of the work tree: fresh for each run; else kept for the state
	name   string // of its upper and work directories in the scratch
	upper  *stage // of a kept layer
}

// openLayers finds the home, the caches, the work tree, and every mount inside
// of them: an overlay shows its lower file system only, not what is mounted in it.
func (w *world) openLayers() error {
	mounts, err := mountTable()
	if err != nil {
		return err
	}
	if w.Home != "" {
		err = w.openLayer(w.Home, false)
	}
	for _, dir := range w.Caches {
		err = errors.Join(err, w.openLayer(dir, false))
	}
	if err := errors.Join(err, w.openLayer(w.Root, true)); err != nil {
		return err
	}
	tops := slices.Clone(w.layers)
	for _, m := range mounts {
		if w.inside(tops, m) && w.openLayer(m.target, under(m.target, w.Root)) != nil {
			continue // gone, or not ours to see
		}
	}
	return nil
}

// inside reports whether a mount lies in a layer and holds files.
func (w *world) inside(tops []layer, m mountPoint) bool {
	same := func(l layer) bool { return l.target == m.target }
	holds := func(l layer) bool { return under(m.target, l.target) }
	return m.kind != "proc" && m.kind != "sysfs" && m.kind != "autofs" &&
		!slices.ContainsFunc(w.layers, same) && slices.ContainsFunc(tops, holds) && !privatePlace(m.target)
}

func (w *world) openLayer(target string, tree bool) error {
	fd, err := hold(target)
	if err != nil {
		return err
	}
	info, err := os.Stat(fdPath(fd))
	if err != nil {
		return err
	}
	l := layer{target: target, lower: fdPath(fd), info: info, tree: tree, name: fmt.Sprint(len(w.layers))}
	if dir := w.Under[target]; dir != "" {
		under, err := hold(dir)
		if err != nil {
			return err
		}
		l.under = fdPath(under)
	}
	w.layers = append(w.layers, l)
	return nil
}

// stageFiles makes the state's files a layer of their own between the work tree
// and what commands write. So nothing is ever written through a link that
// either tree holds, and a fresh run costs one mount.
func (w *world) stageFiles() error {
	tree := w.layerOf(w.Root, true)
	s := newStage(w.at("stage"), tree.lower, w.Stamp)
	for _, path := range w.Hidden {
		if rel, ok := relative(w.Root, path); ok && rel != "." {
			if err := s.hide(rel); err != nil {
				return err
			}
		}
	}
	return s.build(w.Files, tree.info)
}

// hideInLayers makes the upper directories of kept layers, without what no
// command may see.
func (w *world) hideInLayers() error {
	for i := range w.layers {
		l := &w.layers[i]
		if l.tree || !l.info.IsDir() {
			continue
		}
		upper := w.at("keep", l.name, "upper")
		if err := makeLayerDirs(filepath.Dir(upper), l.info); err != nil {
			return err
		}
		l.upper = newStage(upper, l.lower, time.Time{})
	}
	for _, path := range w.Hidden {
		l := w.layerOf(path, false)
		if l == nil || l.upper == nil {
			continue
		}
		if rel, _ := relative(l.target, path); rel != "." {
			if err := l.upper.hide(rel); err != nil {
				return err
			}
		}
	}
	for _, l := range w.layers { // hiding leaves the time at which it was done
		if l.upper != nil && l.target == w.Home {
			return stampPath(l.upper.dst, w.Stamp)
		}
	}
	return nil
}

// makeLayerDirs makes the two directories an overlay writes to. The upper one
// lends the mount its root's mode, owner and time.
func makeLayerDirs(dir string, like fs.FileInfo) error {
	upper := filepath.Join(dir, "upper")
	for _, path := range []string{dir, upper, filepath.Join(dir, "work")} {
		if err := os.Mkdir(path, 0o755); err != nil {
			return err
		}
	}
	return imitate(upper, like)
}

// layerOf returns the innermost layer that holds path.
func (w *world) layerOf(path string, tree bool) *layer {
	var best *layer
	for i := range w.layers {
		l := &w.layers[i]
		if l.tree == tree && under(path, l.target) && (best == nil || len(l.target) > len(best.target)) {
			best = l
		}
	}
	return best
}

// show mounts the layer.
func (w *world) show(l layer) error {
	if !l.info.IsDir() {
		return bindReadOnly(l.lower, l.target)
	}
	lower, dir := []string{l.lower}, w.at("keep", l.name)
	if l.under != "" {
		lower = []string{l.under, l.lower}
	}
	if l.tree {
		dir = w.at("run", "tree"+l.name)
		if err := makeLayerDirs(dir, l.info); err != nil {
			return err
		}
	}
	if l.target == w.Root && l.tree {
		lower = slices.Insert(lower, 0, w.at("stage"))
		if err := stampPath(filepath.Join(dir, "upper"), w.Stamp); err != nil {
			return err
		}
	}
	err := mountOverlay(l.target, filepath.Join(dir, "upper"), filepath.Join(dir, "work"), lower...)
	if err != nil && l.target != w.Root && l.target != w.Home {
		return bindReadOnly(l.lower, l.target) // a file system that cannot be a lower layer
	}
	return err
}

// imitate gives dst the mode, owner and times of a directory.
func imitate(dst string, like fs.FileInfo) error {
	st := like.Sys().(*unixStat)
	os.Lchown(dst, int(st.Uid), int(st.Gid)) // only root can, and only root needs it
	if err := os.Chmod(dst, like.Mode().Perm()|like.Mode()&(fs.ModeSticky|fs.ModeSetgid)); err != nil {
		return err
	}
	return stampPath(dst, like.ModTime())
}

func stampPath(path string, at time.Time) error {
	ts := unix.NsecToTimespec(at.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

func relative(base, path string) (string, bool) {
	if !under(path, base) {
		return "", false
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(path, base), "/")
	if rel == "" {
		rel = "."
	}
	return rel, true
}
