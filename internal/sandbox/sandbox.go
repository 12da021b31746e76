package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options says which sandbox to make. Zero limits take the defaults.
type Options struct {
	Kind     string            // auto (also ""), overlay, docker, copy
	Root     string            // path of the user's work tree
	Image    string            // docker: name of the image; "" for Build's
	Build    *Build            // docker: what to build an image from
	Runtime  string            // docker: of containers, as runsc; "" for the engine's own
	Env      map[string]string // extra environment from configuration
	EnvAllow []string          // names let through besides the built-in list
	// Visible are absolute paths outside the tree that stay readable even where
	// they lie in a place that states get privately, as /tmp.
	Visible []string
	// Programs are absolute paths of programs that commands start. Each stays
	// runnable wherever it lies: with the installation or the virtual environment
	// around it, and the interpreter behind it.
	Programs []string
	Network  bool // commands may reach the network

	Memory  int64         // bytes of all processes of a run together; 4 GiB
	Disk    int64         // bytes a run may write, and a state's private home may grow to; 4 GiB each
	Pids    int           // processes of a run; 512
	Timeout time.Duration // wall clock of a run; 10 minutes
	// OutputCap is how many bytes of each stream reach the command's writer, 1
	// GiB: its beginning, a line that says how much is left out, and its end.
	// Exit.Limit is "output" then.
	OutputCap int64
}

const gib = 1 << 30

func (o Options) withDefaults() Options {
	setDefault(&o.Kind, "auto")
	setDefault(&o.Memory, 4*gib)
	setDefault(&o.Disk, 4*gib)
	setDefault(&o.Pids, 512)
	setDefault(&o.Timeout, 10*time.Minute)
	setDefault(&o.OutputCap, 1*gib)
	return o
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Sandbox makes states of one work tree. It is safe for concurrent use. Close
// removes what its states had in common.
type Sandbox struct {
	opts   Options
	kind   string
	reason string
	home   string    // real path, "" when the user has none
	stamp  time.Time // modification time of every file that any state replaces
	hidden []string  // absolute paths that no command may see
	docker *daemon   // of kind docker
	layers *layers
}

type layers struct {
	sync.Mutex
	made []*Layer
}

// New finds out which kind of sandbox works here. Kind auto takes docker when
// an image is named and an engine has it, then overlay when a trial of it
// succeeds, else copy.
func New(ctx context.Context, opts Options) (*Sandbox, error) {
	opts = opts.withDefaults()
	root, err := realDir(opts.Root)
	if err != nil {
		return nil, fmt.Errorf("sandbox for work tree %q: %w", opts.Root, err)
	}
	opts.Root = root
	home := realHome()
	s := &Sandbox{opts: opts, home: home, stamp: newStamp(time.Now()), layers: &layers{}}
	s.hidden = hiddenPaths(root, home)
	return s, s.choose(ctx)
}

func (s *Sandbox) choose(ctx context.Context) (err error) {
	s.kind = s.opts.Kind
	switch s.kind {
	case "copy":
		s.reason = "asked for; " + copyLimits
		return nil
	case "docker":
		if s.docker, err = connect(ctx, s); err != nil {
			return fmt.Errorf("docker sandbox does not work here: %w", err)
		}
		return nil
	case "auto", "overlay":
		return s.choosePlain(ctx)
	}
	return fmt.Errorf("sandbox kind %q: use auto, overlay, docker or copy", s.kind)
}

func (s *Sandbox) choosePlain(ctx context.Context) (err error) {
	if s.kind == "auto" && s.opts.Image != "" {
		if s.docker, err = connect(ctx, s); err == nil {
			s.kind = "docker"
			return nil
		}
		s.reason = fmt.Sprintf("docker does not work here: %v", err)
	}
	err = probeOverlay(ctx, s)
	switch {
	case err == nil:
		s.kind = "overlay"
	case ctx.Err() != nil:
		return ctx.Err()
	case s.kind == "overlay":
		return fmt.Errorf("overlay sandbox does not work here: %w", err)
	default:
		s.kind = "copy"
		s.reason = strings.TrimPrefix(fmt.Sprintf("%s; overlay does not work here: %v; %s", s.reason, err, copyLimits), "; ")
	}
	return nil
}

// Close removes what states had in common. They are to be closed before.
func (s *Sandbox) Close() error {
	s.layers.Lock()
	defer s.layers.Unlock()
	var errs []error
	for _, layer := range s.layers.made {
		errs = append(errs, layer.close())
	}
	s.layers.made = nil
	if s.docker != nil {
		errs = append(errs, s.docker.close())
	}
	return errors.Join(errs...)
}

// Kind is the kind in use: overlay, docker or copy.
func (s *Sandbox) Kind() string { return s.kind }

// Reason says in words why this kind is used where it is not the one asked for,
// and what copy does not keep; else "".
func (s *Sandbox) Reason() string { return s.reason }

// newStamp returns a whole second that no file of the tree has yet. Caches that
// compare modification times (make, Python's byte code) must take a replaced
// file for newer than anything made from the work tree's own version.
func newStamp(now time.Time) time.Time {
	return now.Truncate(time.Second).Add(time.Second)
}

func realDir(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("not a directory")
	}
	if real == filepath.Dir(real) {
		return "", errors.New("the root of the filesystem cannot be a work tree")
	}
	return real, nil
}

// realHome returns "" when there is no home that could be shown privately.
func realHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	real, err := realDir(home)
	if err != nil || slices.Contains([]string{"/tmp", "/var/tmp", "/dev/shm", "/run"}, real) {
		return ""
	}
	return real
}
