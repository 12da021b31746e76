package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// copyLimits says what the copy kind does not keep, for [Sandbox.Reason].
const copyLimits = "states are copies at another path, so absolute paths (editable installs, build caches) may lead back to " +
	"the work tree; home, network and system are not closed off"

// copied is the engine that clones the work tree to another path. Its
// directory holds:
//
//	tree/NAME  the clone, under the work tree's own last name
//	tmp        the commands' TMPDIR
//	files      gate.Command.Files
type copied struct {
	dir   string
	at    places
	want  manifest
	marks map[string]mark // of the clone as it was made; nil: not made yet

	mu      sync.Mutex
	running *exec.Cmd
	closed  bool
}

func openCopy(ctx context.Context, s *Sandbox, _ *Layer, files []File) (engine, error) {
	dir, err := os.MkdirTemp("", "touchstone-copy-")
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	root := s.opts.Root
	c := &copied{dir: dir}
	c.at = places{
		root: filepath.Join(dir, "tree", filepath.Base(root)), home: userHome(),
		temp: filepath.Join(dir, "tmp"), aux: filepath.Join(dir, "files"), report: reportPath, env: s.userEnviron(),
	}
	c.at.moved = [2]string{root, c.at.root}
	c.want, err = readTree(ctx, root, dir)
	if err == nil {
		c.want.hide(root, s.hidden)
		err = c.want.apply(files, s.stamp)
	}
	if err == nil {
		err = c.fresh(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func userHome() string {
	home, _ := os.UserHomeDir()
	return home
}

func (c *copied) places() places { return c.at }

// fresh brings the clone, TMPDIR and the auxiliary directory back to how a
// command is to find them.
func (c *copied) fresh(ctx context.Context) error {
	for _, dir := range []string{c.at.temp, c.at.aux} {
		if err := forceRemove(dir); err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if c.marks != nil && c.want.clean(c.at.root, c.marks) != nil || c.marks == nil || !marksHold {
		if err := forceRemove(c.at.root); err != nil {
			return err
		}
		c.marks = make(map[string]mark)
	}
	if err := os.MkdirAll(filepath.Dir(c.at.root), 0o700); err != nil {
		return err
	}
	return c.want.write(ctx, c.at.root, c.marks)
}

func (c *copied) digest(ctx context.Context, paths []string) (map[string]string, error) {
	if err := c.fresh(ctx); err != nil {
		return nil, err
	}
	return digestFiles(c.at.root, paths)
}

func (c *copied) run(ctx context.Context, t task) (gate.Exit, error) {
	if err := c.fresh(ctx); err != nil {
		return gate.Exit{}, err
	}
	if err := writeFiles(c.at.aux, t.Files); err != nil {
		return gate.Exit{}, err
	}
	cmd, err := c.command(t)
	if err != nil {
		return gate.Exit{}, err
	}
	begin := time.Now()
	if err := c.start(cmd); err != nil {
		return gate.Exit{}, err
	}
	t.streams.started()
	why := c.await(ctx, cmd, t)
	killLeft(cmd, c.at.temp)
	t.streams.abandon(2 * time.Second)
	exit := exitOf(cmd.ProcessState)
	exit.Wall = time.Since(begin)
	exit.TimedOut = why == timedOut
	if !exit.TimedOut {
		exit.Limit = why
	}
	return exit, nil
}

func (c *copied) command(t task) (*exec.Cmd, error) {
	dir := filepath.Join(c.at.root, t.Dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("working directory: %w", errors.Join(err, errNotDir(info)))
	}
	file, err := lookPath(t.Argv[0], dir, t.Env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: file, Args: t.Argv, Env: t.Env, Dir: dir, SysProcAttr: apart()}
	cmd.Stdout, cmd.Stderr = t.streams.child[0], t.streams.child[1]
	cmd.ExtraFiles = t.streams.child[2:]
	return cmd, nil
}

func errNotDir(info os.FileInfo) error {
	if info == nil {
		return nil
	}
	return fmt.Errorf("%q is not a directory", info.Name())
}

func (c *copied) start(cmd *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.running = cmd
	return nil
}

// await waits for the command's end and names the limit that we ended it for.
func (c *copied) await(ctx context.Context, cmd *exec.Cmd, t task) (why string) {
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	timeout := time.NewTimer(t.Timeout)
	defer timeout.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return why
		case <-timeout.C:
			why = timedOut
		case <-ctx.Done():
			why = "cancelled"
		case <-look.C:
			if why == "" {
				why = leftExceeds(c.at.temp, t)
			}
		}
		if why != "" {
			killLeft(cmd, c.at.temp)
		}
	}
}

func (c *copied) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.running != nil {
		killLeft(c.running, c.at.temp)
	}
	return forceRemove(c.dir)
}

// forceRemove also removes what a command made unreadable.
func forceRemove(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	filepath.WalkDir(path, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
