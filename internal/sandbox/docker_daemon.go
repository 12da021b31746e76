package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
)

// engineGrace bounds calls that clean up.
const engineGrace = time.Minute

// daemon is a Docker engine and what one sandbox made there.
type daemon struct {
	api      *client.Client
	labels   map[string]string
	image    string // id of the repository's image
	env      []string
	user     account
	opts     Options
	stamp    time.Time
	security []string // what the engine itself adds: seccomp, apparmor, ...

	mu     sync.Mutex
	base   manifest          // the work tree, read once
	images map[string]string // ids of images made here, by what is in them
	order  []string          // the same ids as they were made: children after parents
}

// connect finds the engine that the user's environment names and readies the
// image that states start from.
func connect(ctx context.Context, s *Sandbox) (*daemon, error) {
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("DOCKER_HOST %q: %w", os.Getenv("DOCKER_HOST"), err)
	}
	d := &daemon{api: api, opts: s.opts, stamp: s.stamp, images: make(map[string]string)}
	d.labels = map[string]string{label: ownLabel()}
	err = d.inspectEngine(ctx)
	if err == nil {
		d.sweep(ctx)
		err = d.readyImage(ctx)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *daemon) inspectEngine(ctx context.Context) error {
	info, err := d.api.Info(ctx)
	if err != nil {
		return d.explain("asking the engine", err)
	}
	if info.OSType != "linux" {
		return fmt.Errorf("the Docker engine at %s runs %s containers: touchstone needs Linux ones", d.api.DaemonHost(), info.OSType)
	}
	if _, known := info.Runtimes[d.opts.Runtime]; d.opts.Runtime != "" && !known {
		return fmt.Errorf("sandbox.runtime %q: the Docker engine at %s has only %s; install it there and name it in daemon.json",
			d.opts.Runtime, d.api.DaemonHost(), strings.Join(slices.Sorted(maps.Keys(info.Runtimes)), ", "))
	}
	for _, option := range info.SecurityOptions {
		name, _, _ := strings.Cut(strings.TrimPrefix(option, "name="), ",")
		d.security = append(d.security, name)
	}
	return nil
}

// explain adds to an engine's error what the user can do about it.
func (d *daemon) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	host := d.api.DaemonHost()
	text := strings.ToLower(err.Error())
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case strings.Contains(text, "permission denied") && strings.Contains(text, "connect"):
		return fmt.Errorf("%s: this user may not use the Docker engine at %s: join the group docker, or set DOCKER_HOST to a rootless engine: %w", doing, host, err)
	case client.IsErrConnectionFailed(err), strings.Contains(text, "cannot connect"):
		return fmt.Errorf("%s: no Docker engine answers at %s: start one, or set DOCKER_HOST to where one is: %w", doing, host, err)
	case strings.Contains(text, "no space left on device"):
		return fmt.Errorf("%s: the disk of the Docker engine at %s is full; `docker system df` shows with what, `docker system prune` makes room: %w", doing, host, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// host is how a container is held. Nothing of the machine is mounted in it.
func (d *daemon) host(t task, home string) *container.HostConfig {
	yes, pids := true, int64(t.Pids)*threadsPerProcess
	h := &container.HostConfig{
		NetworkMode: "none", IpcMode: "private", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		LogConfig: container.LogConfig{Type: "none"}, RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		Init: &yes, Runtime: d.opts.Runtime, ShmSize: d.opts.Disk, OomScoreAdj: 1000,
		Resources: container.Resources{
			Memory: t.Memory, MemorySwap: t.Memory, PidsLimit: &pids,
			Ulimits: []*container.Ulimit{{Name: "core"}, {Name: "fsize", Soft: d.opts.Disk, Hard: d.opts.Disk}},
		},
	}
	if t.network || d.opts.Network {
		h.NetworkMode = "bridge"
	}
	if home != "" {
		h.Mounts = []mount.Mount{{Type: mount.TypeVolume, Source: home, Target: dockerHome}}
	}
	return h
}

// remove ends a container and takes it away.
func (d *daemon) remove(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), engineGrace)
	defer cancel()
	for range 5 {
		err := d.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || cerrdefs.IsNotFound(err) || ctx.Err() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond) // "removal already in progress", or a dying container's busy mount
	}
}

// close removes the images that this sandbox made.
func (d *daemon) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), engineGrace)
	defer cancel()
	var errs []error
	for _, id := range slices.Backward(d.order) {
		_, err := d.api.ImageRemove(ctx, id, image.RemoveOptions{Force: true, PruneChildren: true})
		if err != nil && !cerrdefs.IsNotFound(err) {
			errs = append(errs, d.explain("removing an image", err))
		}
	}
	d.images, d.order = nil, nil
	return errors.Join(append(errs, d.api.Close())...)
}
