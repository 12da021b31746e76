package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// bareHome is the home of a user who has none.
const bareHome = "/run/touchstone/home"

// place is one mount of a run's view: do makes it at target, which exists.
type place struct {
	target string
	file   bool // the target must be a file
	sealed bool // read-only once everything is mounted
	hides  bool // there to cover what the machine has at the target, if it still has
	do     func(target string) error
}

// private lists the directories that each run gets empty, by name in the scratch.
var private = []struct {
	target, name string
	mode         fs.FileMode
	sealed       bool
}{
	{"/run", "run", 0o755, true},
	{"/var/run", "run", 0o755, true},
	{"/tmp", "tmp", 0o777 | fs.ModeSticky, false},
	{"/var/tmp", "vartmp", 0o777 | fs.ModeSticky, false},
	{"/dev/shm", "shm", 0o777 | fs.ModeSticky, false},
}

// privatePlace reports whether what the machine has at path is out of sight.
func privatePlace(path string) bool {
	return under(path, "/run") || under(path, "/var/run") || under(path, "/tmp") || under(path, "/var/tmp") ||
		under(path, "/dev") || under(path, "/proc")
}

// plan lists the mounts of a run. Sorted by path, what contains comes before
// what is contained; at one path, the later in this function covers the earlier.
func (w *world) plan() error {
	w.add(place{target: "/dev", sealed: true, do: func(target string) error {
		return named("dev", target, unix.Mount(w.at("dev"), target, "", unix.MS_BIND|unix.MS_REC, ""))
	}})
	w.planPrivate()
	if err := w.planVisible(); err != nil {
		return err
	}
	w.planHidden()
	for _, tree := range []bool{false, true} {
		for _, l := range w.layers {
			if l.tree == tree {
				w.add(place{target: l.target, file: !l.info.IsDir(), do: func(string) error { return w.show(l) }})
			}
		}
	}
	slices.SortStableFunc(w.mounts, func(a, b place) int { return strings.Compare(a.target, b.target) })
	return nil
}

func (w *world) add(p place) { w.mounts = append(w.mounts, p) }

func (w *world) planPrivate() {
	for _, p := range private {
		if real, err := filepath.EvalSymlinks(p.target); err != nil || real != p.target {
			continue // not on this machine, or a link to one that is listed too
		}
		w.add(place{target: p.target, sealed: p.sealed, do: func(target string) error { return bind(w.at("run", p.name), target) }})
	}
	w.add(place{target: auxDir, sealed: true, do: func(target string) error { return bind(w.at("run", "files"), target) }})
	if w.Home == "" {
		w.add(place{target: bareHome, do: func(target string) error { return bind(w.at("keep", "home"), target) }})
	}
}

// planHidden covers what no layer hides: layers have it left out altogether.
func (w *world) planHidden() {
	for _, path := range w.Hidden {
		info, err := os.Stat(path)
		if err == nil && !w.layered(path) && (!privatePlace(path) || w.shown(path)) {
			w.add(place{target: path, file: !info.IsDir(), hides: true, do: w.cover})
		}
	}
}

func (w *world) layered(path string) bool {
	return w.layerOf(path, true) != nil || w.layerOf(path, false) != nil
}

// shown reports whether path lies in what was asked to stay visible.
func (w *world) shown(path string) bool {
	return slices.ContainsFunc(w.Visible, func(v string) bool { return under(path, filepath.Clean(v)) })
}

// planned reports whether path is a private place as a whole, which stays so.
func (w *world) planned(path string) bool {
	return slices.ContainsFunc(w.mounts, func(p place) bool { return p.target == path })
}

// planVisible keeps what is asked for in sight where it lies in a private place.
func (w *world) planVisible() error {
	for _, path := range w.Visible {
		path = filepath.Clean(path)
		if !privatePlace(path) || w.layered(path) || w.planned(path) {
			continue
		}
		fd, err := hold(path) // follows links: what they lead to is shown in their place
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(fdPath(fd))
		if err != nil {
			return err
		}
		w.add(place{target: path, file: !info.IsDir(), do: func(target string) error { return bindReadOnly(fdPath(fd), target) }})
	}
	return nil
}

// fresh makes the mounts that the next command runs in.
func (w *world) fresh() error {
	if w.clean {
		return nil
	}
	if err := errors.Join(w.drop(), w.makeRun()); err != nil {
		return err
	}
	var sealed []int
	for _, p := range w.mounts {
		if err := w.mount(p); err != nil {
			return err
		}
		if p.sealed {
			sealed = append(sealed, w.mounted[len(w.mounted)-1])
		}
	}
	for _, fd := range sealed {
		if err := seal(fdPath(fd)); err != nil {
			return err
		}
	}
	w.clean = true
	return nil
}

func (w *world) mount(p place) error {
	if _, err := os.Lstat(p.target); p.hides && errors.Is(err, fs.ErrNotExist) {
		return nil // a server of the machine ended and took its socket with it
	}
	if err := provide(p.target, p.file); err != nil {
		return err
	}
	if err := p.do(p.target); err != nil {
		return err
	}
	fd, err := hold(p.target)
	w.mounted = append(w.mounted, fd)
	return err
}

// provide makes a mount's target where a private place does not have it.
func provide(target string, file bool) error {
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	if !file {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, nil, 0o644)
}

// makeRun makes the directories of a run, all on a file system of its own.
func (w *world) makeRun() error {
	if !w.onDisk {
		if err := mountTmpfs(w.at("run"), w.Disk); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(w.at("keep", "home"), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(w.at("run", "files"), 0o755); err != nil {
		return err
	}
	for _, p := range private {
		dir := w.at("run", p.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(dir, p.mode); err != nil {
			return err
		}
	}
	return nil
}

// drop takes a run's mounts and everything written in it away.
func (w *world) drop() error {
	w.clean = false
	errs := []error{w.unmount()}
	if w.onDisk {
		errs = append(errs, os.RemoveAll(w.at("run")), os.Mkdir(w.at("run"), 0o755))
		return errors.Join(errs...)
	}
	if err := unix.Unmount(w.at("run"), unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		errs = append(errs, named("removal", "run", err))
	}
	return errors.Join(errs...)
}
