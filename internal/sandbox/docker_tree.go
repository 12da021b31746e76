package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
)

// readTree lists the work tree once: all states of a sandbox start from the same.
func (d *daemon) readTree(ctx context.Context, s *Sandbox) (manifest, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != nil {
		return d.base, nil
	}
	m, err := readTree(ctx, s.opts.Root, "")
	if err != nil {
		return nil, err
	}
	m.hide(s.opts.Root, s.hidden)
	d.base = m
	return m, nil
}

func (m manifest) clone() manifest { return maps.Clone(m) }

// strip returns what every state with files at these paths has, whatever is at
// the paths: nothing at or below them, no file or link in their way, and no
// directory that is only there for them. The key names the paths.
func (m manifest) strip(files []File) (common manifest, key string) {
	listed := make(map[string]bool, len(files))
	inTheWay := make(map[string]bool)
	for _, f := range files {
		path := filepath.FromSlash(f.Path)
		listed[path] = true
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			inTheWay[dir] = true
		}
	}
	holds := make(map[string]bool) // directories with something common in them, and all that were empty
	common = make(manifest, len(m))
	for path, e := range m {
		if !listedAbove(listed, path) && (e.mode.IsDir() || !inTheWay[path]) {
			common[path] = e
			if !e.mode.IsDir() || !inTheWay[path] {
				for dir := filepath.Dir(path); dir != "." && !holds[dir]; dir = filepath.Dir(dir) {
					holds[dir] = true
				}
			}
		}
	}
	for path := range inTheWay {
		if !holds[path] {
			delete(common, path)
		}
	}
	return common, digestOf(slices.Sorted(maps.Keys(listed)))
}

func listedAbove(listed map[string]bool, path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if listed[path] {
			return true
		}
	}
	return false
}

func digestOf(words []string) string {
	sum := sha256.New()
	for _, word := range words {
		fmt.Fprintf(sum, "%d:%s", len(word), word)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// beyond lists, sorted, the paths that common lacks or has otherwise, with the
// directories that lead to them, whose times adding a file changes.
func (m manifest) beyond(common manifest) []string {
	paths := make(map[string]bool)
	for path, e := range m {
		if other, there := common[path]; there && other == e {
			continue
		}
		for ; path != "." && !paths[path]; path = filepath.Dir(path) {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// treeImage makes, once, the image with the work tree in it.
func (d *daemon) treeImage(ctx context.Context, s *Sandbox, common manifest, key string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id := d.images["tree "+key]; id != "" {
		return id, nil
	}
	made, err := d.api.ContainerCreate(ctx, &container.Config{Image: d.image, Entrypoint: []string{"/"}, Labels: d.labels}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return "", d.explain("making a container", err)
	}
	defer d.remove(made.ID)
	closed := d.closedAbove(ctx, made.ID, s.opts.Root) // beforehand: an engine answers nothing of a container while files go in
	err = d.upload(ctx, made.ID, func(w *treeWriter) error {
		w.dir(dockerHome, 0o700, d.user)
		w.dir(filepath.Dir(dockerReport), 0o755, nobody)
		w.dir(auxDir, 0o755, nobody)
		for _, dir := range slices.Sorted(maps.Keys(closed)) {
			w.dir(dir, closed[dir]|0o011, account{})
		}
		w.dir(s.opts.Root, 0o755, d.user)
		for _, path := range slices.Sorted(maps.Keys(common)) {
			if err := w.entry(s.opts.Root, path, common[path]); err != nil {
				return err
			}
		}
		return w.err
	})
	if err != nil {
		return "", d.explain("putting the work tree into a container", err)
	}
	return d.commit(ctx, made.ID, "tree "+key)
}

// commit keeps a container's file system as an image until the sandbox is closed.
func (d *daemon) commit(ctx context.Context, id, name string) (string, error) {
	kept, err := d.api.ContainerCommit(ctx, id, container.CommitOptions{})
	if err != nil {
		return "", d.explain("keeping a container's files as an image", err)
	}
	if d.images == nil {
		d.api.ImageRemove(ctx, kept.ID, image.RemoveOptions{Force: true})
		return "", fs.ErrClosed
	}
	d.images[name] = kept.ID
	d.order = append(d.order, kept.ID)
	return kept.ID, nil
}

// upload streams what fill writes into a container's file system.
func (d *daemon) upload(ctx context.Context, id string, fill func(*treeWriter) error) error {
	content, w := io.Pipe()
	go func() {
		out := newTreeWriter(w, d.user)
		out.stamp = d.stamp
		err := fill(out)
		if err == nil {
			err = out.close()
		}
		w.CloseWithError(err)
	}()
	err := d.api.CopyToContainer(ctx, id, "/", content, container.CopyToContainerOptions{})
	content.CloseWithError(io.ErrClosedPipe)
	return err
}

// closedAbove lists the directories above the tree that are closed to the image's
// user, with their modes.
func (d *daemon) closedAbove(ctx context.Context, id, root string) map[string]fs.FileMode {
	closed := make(map[string]fs.FileMode)
	for dir := filepath.Dir(root); d.user.uid != 0 && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		stat, err := d.api.ContainerStatPath(ctx, id, dir)
		if err == nil && stat.Mode.IsDir() && stat.Mode&0o001 == 0 {
			closed[dir] = stat.Mode.Perm()
		}
	}
	return closed
}

func slashed(path string) string { return strings.TrimPrefix(filepath.ToSlash(path), "/") }
