package sandbox

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// treeWriter writes parts of file trees as a tar stream. Its methods without a
// result keep the first error in err.
type treeWriter struct {
	tar   *tar.Writer
	owner account
	stamp time.Time // of what has no time of its own
	err   error
}

func newTreeWriter(w io.Writer, owner account) *treeWriter {
	return &treeWriter{tar: tar.NewWriter(w), owner: owner}
}

// entry writes a manifest's entry at path below root. A file of the work tree
// that went meanwhile is left out.
func (w *treeWriter) entry(root, path string, e entry) error {
	h := &tar.Header{Name: slashed(filepath.Join(root, path)), Mode: int64(e.mode.Perm()), ModTime: e.stamp, Uid: w.owner.uid, Gid: w.owner.gid, Format: tar.FormatPAX}
	switch {
	case e.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		h.Mode |= 0o700
	case e.mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
	default:
		return w.regular(h, e)
	}
	return w.tar.WriteHeader(h)
}

func (w *treeWriter) regular(h *tar.Header, e entry) error {
	f, err := os.Open(e.src)
	if errors.Is(err, fs.ErrNotExist) && !e.blob {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := w.tar.WriteHeader(h); err != nil {
		return err
	}
	if _, err := io.CopyN(w.tar, f, h.Size); err != nil {
		return fmt.Errorf("file %q changed while it was read: %w", e.src, err)
	}
	return nil
}

func (w *treeWriter) dir(path string, perm fs.FileMode, owner account) {
	w.header(&tar.Header{Typeflag: tar.TypeDir, Name: slashed(path) + "/", Mode: int64(perm), ModTime: w.stamp, Uid: owner.uid, Gid: owner.gid})
}

func (w *treeWriter) file(path, content string, perm fs.FileMode, owner account) {
	w.header(&tar.Header{Typeflag: tar.TypeReg, Name: slashed(path), Mode: int64(perm), ModTime: w.stamp, Uid: owner.uid, Gid: owner.gid, Size: int64(len(content))})
	if w.err == nil {
		_, w.err = io.WriteString(w.tar, content)
	}
}

func (w *treeWriter) header(h *tar.Header) {
	h.Format = tar.FormatPAX
	if w.err == nil {
		w.err = w.tar.WriteHeader(h)
	}
}

// auxiliary writes gate.Command.Files, owned by nobody who runs.
func (w *treeWriter) auxiliary(dir string, files map[string]string) {
	made := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w.above(dir, filepath.Dir(name), made)
		w.file(filepath.Join(dir, name), files[name], 0o755, nobody)
	}
}

// above writes the directories of an auxiliary file, outermost first.
func (w *treeWriter) above(dir, sub string, made map[string]bool) {
	if sub == "." || made[sub] {
		return
	}
	w.above(dir, filepath.Dir(sub), made)
	made[sub] = true
	w.dir(filepath.Join(dir, sub), 0o755, nobody)
}

func (w *treeWriter) close() error { return errors.Join(w.err, w.tar.Close()) }

// content reads a state's file.
func (f File) content() (string, error) {
	text, err := os.ReadFile(f.Blob)
	return string(text), err
}

// entry is the file as part of a manifest.
func (f File) entry() (entry, error) {
	switch f.Mode {
	case modeGitlink:
		return entry{mode: fs.ModeDir | 0o755}, nil
	case modeSymlink:
		target, err := f.content()
		return entry{mode: fs.ModeSymlink | 0o777, link: target}, err
	case modeAbsent:
		return entry{}, fmt.Errorf("file %q is absent", f.Path)
	}
	_, err := os.Stat(f.Blob)
	return entry{mode: fs.FileMode(f.perm()), src: f.Blob, blob: true}, err
}
