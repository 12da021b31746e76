package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// overlaySetup keeps what its runs write, on disk: in a place that the inits of
// other states can reach. Its init stays until it is closed, so that the disk is
// cleaned when this process is killed.
type overlaySetup struct{ *overlay }

func openOverlaySetup(ctx context.Context, s *Sandbox, files []File) (setUpper, error) {
	o := newOverlay(s, nil, files)
	o.keeping = true
	ns, err := o.startOnDisk(ctx)
	if err != nil {
		o.close()
		return nil, err
	}
	o.ns = ns
	return overlaySetup{o}, nil
}

func (o overlaySetup) keep(ctx context.Context) (*Layer, error) {
	ns, err := o.ready(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := o.call(ctx, ns, request{Finish: true}, &streams{})
	if err != nil {
		return nil, err
	}
	layer := &Layer{under: make(map[string]string)}
	for target, dir := range answer.Left {
		layer.under[target] = filepath.Join(o.world.Scratch, dir)
	}
	return layer, nil
}

// leave takes a run's mounts away, but not what was written, and tells where that
// is. What was written to the state's own files goes: other states have others.
func (w *world) leave() (map[string]string, error) {
	if err := w.unmount(); err != nil {
		return nil, err
	}
	left := make(map[string]string)
	for _, l := range w.layers {
		dir := filepath.Join("keep", l.name, "upper")
		if l.tree {
			dir = filepath.Join("run", "tree"+l.name, "upper")
		}
		if info, err := os.Lstat(w.at(dir)); err != nil || !info.IsDir() {
			continue
		}
		if l.target == w.Root {
			if err := w.dropFiles(w.at(dir)); err != nil {
				return nil, err
			}
		}
		left[l.target] = dir
	}
	return left, nil
}

func (w *world) dropFiles(dir string) error {
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer tree.Close()
	for _, f := range w.Files {
		info, err := tree.Lstat(f.Path)
		if err != nil || info.IsDir() {
			continue // nothing, or a directory that holds files with their own say
		}
		if err := tree.Remove(f.Path); err != nil {
			return err
		}
	}
	return nil
}

// unmount takes a run's mounts away. They are named by descriptors, since the
// command may have moved directories about. One that is gone already is no error:
// it went with the machine's file that it covered (a socket whose server ended).
func (w *world) unmount() error {
	var first error
	for i := len(w.mounted) - 1; i >= 0; i-- {
		if err := unix.Unmount(fdPath(w.mounted[i]), unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && first == nil {
			first = named("removal", fdPath(w.mounted[i]), err)
		}
		unix.Close(w.mounted[i])
	}
	w.mounted = nil
	return first
}
