package sandbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// engine is one kind of sandbox for one state. Its methods are not called
// concurrently, but close may come at any time.
type engine interface {
	// run starts the task's command in a fresh copy of the state and waits until
	// it and everything it started are gone.
	run(ctx context.Context, t task) (gate.Exit, error)
	digest(ctx context.Context, paths []string) (map[string]string, error)
	// places says what the command finds where.
	places() places
	close() error
}

// task is a command whose choices are all made.
type task struct {
	Argv    []string
	Dir     string // relative to the root, "." for the root
	Env     []string
	Files   map[string]string
	Timeout time.Duration
	Memory  int64
	Pids    int
	streams *streams

	network   bool // docker: beyond what the sandbox's options say
	unstarted bool // docker: only to read files
}

// timedOut is the name of the time limit among the reasons for ending a command;
// the others are the words of gate.Exit.Limit.
const timedOut = "time"

// auxDir is where gate.Command.Files are, in kinds that can choose.
const auxDir = "/run/touchstone/files"

// answerGrace is how long after a command's own limit it may take to end it.
const answerGrace = 30 * time.Second

// threadsPerProcess relates limits of the kernel, which count threads, to ours.
const threadsPerProcess = 16

// places are the absolute paths a command of a state is told.
type places struct {
	root, home, temp, aux, report string
	moved                         [2]string // old and new path of the tree, when they differ
	env                           []string  // the environment before the sandbox's own and configuration's
}

// State is one column of the matrix made ready. Its commands run one at a time.
type State struct {
	sandbox  *Sandbox
	engine   engine
	prepared time.Duration

	mu sync.Mutex // held while a command runs
}

// State makes a state of the work tree that differs from it in files.
// The blobs must stay in place until the state is closed.
func (s *Sandbox) State(ctx context.Context, files []File) (*State, error) {
	return s.StateOn(ctx, nil, files)
}

// StateOn is State on top of what set-up commands left; layer nil for nothing.
func (s *Sandbox) StateOn(ctx context.Context, layer *Layer, files []File) (*State, error) {
	begin := time.Now()
	if err := checkFiles(files); err != nil {
		return nil, fmt.Errorf("making a state: %w", err)
	}
	open := map[string]func(context.Context, *Sandbox, *Layer, []File) (engine, error){
		"overlay": openOverlay, "copy": openCopy, "docker": openDocker,
	}[s.kind]
	e, err := open(ctx, s, layer, files)
	if err != nil {
		return nil, fmt.Errorf("making a state: %w", err)
	}
	return &State{sandbox: s, engine: e, prepared: time.Since(begin)}, nil
}

// Prepared is how long it took to make the state.
func (st *State) Prepared() time.Duration { return st.prepared }

// Close ends what runs in the state and removes all of it.
func (st *State) Close() error { return st.engine.close() }

// Digest returns the hex SHA-256 of each regular file's content as a process
// in the fresh state reads it at the work tree's path: "" for a missing path
// and for what is neither file nor symlink, "link:" and the target for a symlink.
func (st *State) Digest(ctx context.Context, paths []string) (map[string]string, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	digests, err := st.engine.digest(ctx, paths)
	if err != nil {
		return nil, fmt.Errorf("reading files inside a state: %w", err)
	}
	return digests, nil
}

// Run implements the method of gate.State.
func (st *State) Run(ctx context.Context, cmd gate.Command) (gate.Exit, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return gate.Exit{}, err
	}
	t, err := st.task(cmd)
	if err != nil {
		return gate.Exit{}, fmt.Errorf("running %q: %w", cmd.Argv, err)
	}
	exit, err := st.runTask(ctx, cmd, t)
	if ctx.Err() != nil {
		return exit, ctx.Err()
	}
	if err != nil {
		return exit, fmt.Errorf("running %q: %w", cmd.Argv, err)
	}
	return exit, nil
}

func (st *State) runTask(ctx context.Context, cmd gate.Command, t task) (gate.Exit, error) {
	var err error
	t.streams, err = openStreams(cmd, st.sandbox.opts.OutputCap)
	if err != nil {
		return gate.Exit{}, err
	}
	exit, err := st.engine.run(ctx, t)
	capped, streamErr := t.streams.wait()
	if capped && exit.Limit == "" {
		exit.Limit = "output"
	}
	return exit, errors.Join(err, streamErr)
}

func (st *State) task(cmd gate.Command) (task, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return task{}, errors.New("no command given")
	}
	dir := filepath.FromSlash(cmd.Dir)
	if dir == "" {
		dir = "."
	}
	if !filepath.IsLocal(dir) {
		return task{}, fmt.Errorf("working directory %q is outside the work tree", cmd.Dir)
	}
	for name := range cmd.Files {
		if !filepath.IsLocal(name) || name == "." {
			return task{}, fmt.Errorf("auxiliary file %q: not a relative path", name)
		}
	}
	p := st.engine.places()
	t := task{Dir: dir, Files: make(map[string]string), Timeout: cmd.Timeout, Memory: st.sandbox.opts.Memory, Pids: st.sandbox.opts.Pids}
	for name, content := range cmd.Files {
		t.Files[name] = strings.ReplaceAll(content, auxMark, p.aux)
	}
	setDefault(&t.Timeout, st.sandbox.opts.Timeout)
	for _, arg := range cmd.Argv {
		t.Argv = append(t.Argv, p.substitute(arg))
	}
	t.Env = st.sandbox.environ(p, dir, cmd)
	for _, word := range append(t.Argv, t.Env...) {
		if strings.ContainsRune(word, 0) {
			return task{}, fmt.Errorf("argument or variable %q holds a NUL byte", word)
		}
	}
	return t, nil
}
