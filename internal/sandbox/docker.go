package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"

	"github.com/touchstone-gate/touchstone/gate"
)

// Places in a container.
const (
	dockerHome   = "/home/touchstone"
	dockerReport = "/run/touchstone/report"
)

// contained is the engine that runs each command in a fresh container of a
// Docker engine, which may be on another machine: everything goes through its
// API. The container's file system is, from below:
//
//	the image       of the repository
//	set-up          what set-up commands left, where there are any
//	the work tree   without the paths in which states may differ
//	the state       those paths, and parents' times, put in before the start
//
// The home is a volume of the state's own.
type contained struct {
	d      *daemon
	image  string   // id, up to and including the work tree
	setUp  bool     // the image has more than the work tree: what set-up left
	want   manifest // the state's tree
	delta  []string // the paths of want that the image lacks or has otherwise
	volume string
	at     places

	mu       sync.Mutex
	running  string // container id
	closed   bool
	removals sync.WaitGroup
}

func openDocker(ctx context.Context, s *Sandbox, layer *Layer, files []File) (engine, error) {
	c, err := newContained(ctx, s, layer, files)
	if err != nil {
		return nil, err
	}
	made, err := s.docker.api.VolumeCreate(ctx, volume.CreateOptions{Labels: s.docker.labels})
	if err != nil {
		return nil, s.docker.explain("making a volume for the state's home", err)
	}
	c.volume = made.Name
	return c, nil
}

func newContained(ctx context.Context, s *Sandbox, layer *Layer, files []File) (*contained, error) {
	d := s.docker
	base, err := d.readTree(ctx, s)
	if err != nil {
		return nil, err
	}
	common, key := base.strip(files)
	for _, f := range files {
		if _, err := f.entry(); f.Mode != modeAbsent && err != nil {
			return nil, err
		}
	}
	c := &contained{d: d, want: base.clone()}
	if err := c.want.apply(files, s.stamp); err != nil {
		return nil, err
	}
	switch {
	case layer == nil:
		c.image, err = d.treeImage(ctx, s, common, key)
	case layer.key != key:
		err = errors.New("the state and the set-up it stands on must list the same paths")
	default:
		c.image, c.setUp = layer.image, true
	}
	if err != nil {
		return nil, err
	}
	c.delta = c.want.beyond(common)
	c.at = places{root: s.opts.Root, home: dockerHome, temp: "/tmp", aux: auxDir, report: dockerReport, env: d.environ(s)}
	return c, nil
}

func (c *contained) places() places { return c.at }

func (c *contained) run(ctx context.Context, t task) (gate.Exit, error) {
	id, err := c.create(ctx, t, true)
	if err != nil {
		return gate.Exit{}, err
	}
	defer c.forget(id)
	return c.execute(ctx, id, t)
}

// create makes a container that has everything the command needs, with the
// state's files or, for a later set-up command, without.
func (c *contained) create(ctx context.Context, t task, files bool) (id string, err error) {
	if e, there := c.want[filepath.FromSlash(t.Dir)]; t.Dir != "." && !c.setUp && !(there && e.mode.IsDir()) {
		return "", fmt.Errorf("working directory: %q is no directory of the state", t.Dir) // the engine would make it
	}
	if err := c.note(""); err != nil {
		return "", err
	}
	config := &container.Config{
		Image: c.image, User: c.d.user.name, WorkingDir: joinSlash(c.at.root, t.Dir), Env: t.Env, Hostname: "touchstone",
		Entrypoint: t.Argv[:1], Cmd: t.Argv[1:], AttachStdout: true, AttachStderr: true, Labels: c.d.labels,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}}, StopSignal: "SIGKILL",
	}
	made, err := c.d.api.ContainerCreate(ctx, config, c.d.host(t, c.volume), nil, nil, "")
	if err != nil {
		return "", c.d.explain("making a container", err)
	}
	if err := c.note(made.ID); err != nil { // closed meanwhile: the engine has made the volume again
		c.d.remove(made.ID)
		return "", errors.Join(err, c.removeVolume())
	}
	if err = c.fill(ctx, made.ID, t, files); err == nil {
		err = c.d.checkStart(ctx, made.ID, t, config.WorkingDir)
	}
	if err != nil {
		c.forget(made.ID)
		return "", err
	}
	return made.ID, nil
}

// note keeps the container that close must end. It fails once that was called.
func (c *contained) note(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	c.running = id
	return nil
}

// forget removes a container while others go on.
func (c *contained) forget(id string) {
	c.mu.Lock()
	if c.running == id {
		c.running = ""
	}
	c.mu.Unlock()
	c.removals.Go(func() { c.d.remove(id) })
}

// fill streams the state's files, the auxiliary files and an empty report in.
func (c *contained) fill(ctx context.Context, id string, t task, files bool) error {
	var paths []string
	if files {
		paths = c.delta
	}
	err := c.d.upload(ctx, id, func(w *treeWriter) error {
		if len(paths) > 0 {
			w.dir(c.at.root, 0o755, c.d.user)
		}
		for _, path := range paths {
			if err := w.entry(c.at.root, path, c.want[path]); err != nil {
				return err
			}
		}
		w.auxiliary(c.at.aux, t.Files)
		w.file(dockerReport, "", 0o600, c.d.user)
		return w.err
	})
	return c.d.explain("putting the state's files into a container", err)
}

func (c *contained) digest(ctx context.Context, paths []string) (map[string]string, error) {
	id, err := c.create(ctx, task{Argv: []string{"/"}, Dir: ".", Memory: gib, Pids: 1, Timeout: time.Minute, unstarted: true}, true)
	if err != nil {
		return nil, err
	}
	defer c.forget(id)
	digests := make(map[string]string, len(paths))
	for _, path := range paths {
		if digests[path], err = c.d.digestFile(ctx, id, c.at.root, path); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

func (c *contained) close() error {
	c.mu.Lock()
	c.closed = true
	running := c.running
	c.mu.Unlock()
	if running != "" {
		c.d.remove(running)
	}
	c.removals.Wait()
	return c.removeVolume()
}

func (c *contained) removeVolume() error {
	if c.volume == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineGrace)
	defer cancel()
	if err := c.d.api.VolumeRemove(ctx, c.volume, true); err != nil {
		return fmt.Errorf("removing the state's home: %w", err)
	}
	return nil
}
