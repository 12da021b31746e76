package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/touchstone-gate/touchstone/gate"
)

// overlay is the engine that shows a state at the work tree's own path. Its
// namespace is made anew when a former run had to be killed as a whole.
type overlay struct {
	world   setup
	at      places
	keeping bool // runs follow one another in one tree

	mu     sync.Mutex // guards ns and closed, not held while a command runs
	ns     *namespace
	closed bool
}

func probeOverlay(ctx context.Context, s *Sandbox) error {
	e, err := openOverlay(ctx, s, nil, nil)
	if err != nil {
		return err
	}
	return e.close()
}

func openOverlay(ctx context.Context, s *Sandbox, layer *Layer, files []File) (engine, error) {
	o := newOverlay(s, layer, files)
	if _, err := o.ready(ctx); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

func newOverlay(s *Sandbox, layer *Layer, files []File) *overlay {
	o := &overlay{
		world: setup{
			Root: s.opts.Root, Home: s.home, Caches: cacheDirs(s), Visible: s.visible(), Hidden: s.hidden,
			Files: files, Stamp: s.stamp, Disk: s.opts.Disk, Network: s.opts.Network,
		},
		at: places{root: s.opts.Root, home: os.Getenv("HOME"), temp: "/tmp", aux: auxDir, report: reportPath, env: s.userEnviron()},
	}
	if s.home == "" {
		o.at.home = bareHome
	}
	if layer != nil {
		o.world.Under = layer.under
	}
	return o
}

// cacheDirs returns the tools' own directories that lie outside the home.
func cacheDirs(s *Sandbox) []string {
	var dirs []string
	for _, name := range caches {
		for _, dir := range filepath.SplitList(os.Getenv(name)) {
			real, err := realDir(dir)
			if err == nil && filepath.IsAbs(dir) && (s.home == "" || !under(real, s.home)) && !under(real, s.opts.Root) {
				dirs = append(dirs, real)
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// visible is what must stay in sight of the places that states get privately:
// what the caller asked for, the user's tools, and name resolution, which may
// live in /run.
func (s *Sandbox) visible() []string {
	paths := slices.Concat(s.opts.Visible, s.toolPaths(), []string{"/run/current-system", "/run/wrappers"})
	if s.opts.Network {
		if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
			paths = append(paths, real)
		}
	}
	return paths
}

// ready returns the running namespace, or makes one.
func (o *overlay) ready(ctx context.Context) (*namespace, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, os.ErrClosed
	}
	if o.ns != nil {
		return o.ns, nil
	}
	ns, answer, err := startNamespace(ctx, o.world)
	if err != nil && answer.NeedScratch {
		ns, err = o.startOnDisk(ctx)
	}
	o.ns = ns
	return ns, err
}

// startOnDisk is for kernels before 6.6, whose tmpfs cannot be an upper layer.
func (o *overlay) startOnDisk(ctx context.Context) (*namespace, error) {
	o.removeScratch()
	dir, err := os.MkdirTemp("", "touchstone-overlay-")
	if err != nil {
		return nil, err
	}
	o.world.Scratch = dir
	ns, _, err := startNamespace(ctx, o.world)
	return ns, err
}

func (o *overlay) places() places { return o.at }

func (o *overlay) run(ctx context.Context, t task) (gate.Exit, error) {
	ns, err := o.ready(ctx)
	if err != nil {
		return gate.Exit{}, err
	}
	limited, cancel := context.WithTimeout(ctx, t.Timeout+answerGrace)
	defer cancel()
	ns.group.limit(t.Memory+o.world.Disk+slack, t.Pids*threadsPerProcess+slackThreads)
	killed := ns.group.killed()
	answer, err := o.call(limited, ns, request{Task: t, Keep: o.keeping}, t.streams)
	if answer.Exit.Limit == "" && !answer.Exit.TimedOut && ns.group.killed() > killed {
		answer.Exit.Limit = "memory"
	}
	if ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("no answer %v after the limit of %v: what runs cannot be killed", answerGrace, t.Timeout)
	}
	return answer.Exit, err
}

func (o *overlay) digest(ctx context.Context, paths []string) (map[string]string, error) {
	ns, err := o.ready(ctx)
	if err != nil || len(paths) == 0 {
		return map[string]string{}, err
	}
	answer, err := o.call(ctx, ns, request{Digest: paths}, &streams{})
	return answer.Digests, err
}

func (o *overlay) call(ctx context.Context, ns *namespace, r request, s *streams) (reply, error) {
	answer, err := ns.call(ctx, r, s.child...)
	if ctx.Err() != nil || (err != nil && answer.Error == "") {
		o.mu.Lock()
		defer o.mu.Unlock()
		ns.kill()
		o.ns = nil
	}
	return answer, err
}

func (o *overlay) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.ns != nil {
		o.ns.kill()
		o.ns = nil
	}
	return o.removeScratch()
}

func (o *overlay) removeScratch() error {
	if o.world.Scratch == "" {
		return nil
	}
	dir := o.world.Scratch
	o.world.Scratch = ""
	return os.RemoveAll(dir)
}
