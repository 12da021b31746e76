package sandbox

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/touchstone-gate/touchstone/gate"
)

// hostNames are the names of the user's environment that also hold in a container.
var hostNames = []string{"LANG", "LANGUAGE", "LC_*", "TZ", "CI"}

// enginePath is what engines give a container whose image sets no PATH.
const enginePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environ is the image's own environment, and what of the user's holds anywhere.
func (d *daemon) environ(s *Sandbox) []string {
	return slices.Concat([]string{enginePath}, d.env, letThrough(s.userEnviron(), hostNames, s.opts.EnvAllow))
}

// checkStart finds out beforehand what would keep the command from starting: the
// container's init could only say so in the command's own output.
func (d *daemon) checkStart(ctx context.Context, id string, t task, dir string) error {
	if t.unstarted {
		return nil
	}
	name := t.Argv[0]
	if strings.Contains(name, "/") {
		return d.checkProgram(ctx, id, joinUnlessAbs(dir, name))
	}
	for _, entry := range t.Env {
		if list, ok := strings.CutPrefix(entry, "PATH="); ok {
			for _, in := range strings.Split(list, ":") {
				if d.checkProgram(ctx, id, path.Join(joinUnlessAbs(dir, in), name)) == nil {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("program %q: %w in the image's PATH", name, exec.ErrNotFound)
}

func joinUnlessAbs(dir, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(dir, name)
}

func (d *daemon) checkProgram(ctx context.Context, id, file string) error {
	stat, err := d.api.ContainerStatPath(ctx, id, file)
	switch {
	case err != nil:
		return fmt.Errorf("program %q: %w", file, err)
	case stat.Mode.IsRegular() && stat.Mode.Perm()&0o111 == 0, stat.Mode.IsDir():
		return fmt.Errorf("program %q: %w", file, fs.ErrPermission)
	}
	return nil
}

// execute starts the container's command and waits for its end, and so for that
// of everything in the container.
func (c *contained) execute(ctx context.Context, id string, t task) (gate.Exit, error) {
	stream, err := c.d.api.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return gate.Exit{}, c.d.explain("reading a container's output", err)
	}
	defer stream.Close()
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended, failed := c.d.api.ContainerWait(background, id, container.WaitConditionNextExit)
	begin := time.Now()
	if err := c.d.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return gate.Exit{}, c.d.explain("starting a container", err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		stdcopy.StdCopy(t.streams.child[0], t.streams.child[1], stream.Reader)
	}()
	w := c.d.watch(ctx, id, t)
	var answer container.WaitResponse
	select {
	case answer = <-ended:
	case err = <-failed:
	case <-w.stuck:
		err = fmt.Errorf("the container did not end %v after it was killed", answerGrace)
	}
	wall := time.Since(begin)
	w.end()
	if err != nil {
		return gate.Exit{}, c.d.explain("waiting for a container", err)
	}
	waitFor(copied, 5*time.Second)
	exit := w.result(answer.StatusCode)
	exit.Wall = wall
	if exit.Limit == "" && !exit.TimedOut && c.d.outOfMemory(ctx, id, exit) {
		exit.Limit = "memory"
	}
	return exit, c.report(ctx, id, t)
}

func waitFor(done <-chan struct{}, limit time.Duration) {
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// exitOfContainer reads the status as an init passes it on: a signal's number
// beyond 128.
func exitOfContainer(status int64) gate.Exit {
	if signal := linuxSignals[status-128]; signal != "" {
		return gate.Exit{Code: -1, Signal: signal}
	}
	return gate.Exit{Code: int(status)}
}

// outOfMemory asks whether the kernel killed anything in the container for its
// memory. The engine may learn of that a little later than of the end.
func (d *daemon) outOfMemory(ctx context.Context, id string, exit gate.Exit) bool {
	for range 10 {
		info, err := d.api.ContainerInspect(ctx, id)
		if err != nil || info.State == nil {
			return false
		}
		if info.State.OOMKilled {
			return true
		}
		if exit.Signal != "SIGKILL" {
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

// report hands on what the command wrote to its report, where a regular file is
// still in its place.
func (c *contained) report(ctx context.Context, id string, t task) error {
	if len(t.streams.child) < 3 || ctx.Err() != nil {
		return nil
	}
	stream, _, err := c.d.api.CopyFromContainer(ctx, id, dockerReport)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return c.d.explain("reading the report out of a container", err)
	}
	defer stream.Close()
	in := tar.NewReader(stream)
	h, err := in.Next()
	if err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	_, err = io.Copy(t.streams.child[2], in)
	return err
}

// digestFile is the like of the function of that name, for a container. Links on
// the way to the path are not followed: the state has nothing there.
func (d *daemon) digestFile(ctx context.Context, id, root, name string) (string, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		stat, err := d.api.ContainerStatPath(ctx, id, path.Join(root, dir))
		if err != nil || !stat.Mode.IsDir() {
			return "", missing(err)
		}
	}
	stream, _, err := d.api.CopyFromContainer(ctx, id, path.Join(root, filepath.ToSlash(name)))
	if err != nil {
		return "", missing(err)
	}
	defer stream.Close()
	in := tar.NewReader(stream)
	h, err := in.Next()
	if err != nil {
		return "", err
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		return "link:" + h.Linkname, nil
	case tar.TypeReg:
	default:
		return "", nil
	}
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// missing takes "not there" for no error.
func missing(err error) error {
	if cerrdefs.IsNotFound(err) || cerrdefs.IsInvalidArgument(err) {
		return nil
	}
	return err
}

// linuxSignals are the numbers that Linux gives them, wherever this program runs.
var linuxSignals = map[int64]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}
