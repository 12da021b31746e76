// Package git reads a repository by object id through the git command: commits,
// trees, blobs, differences, and the work tree as a tree of its own.
//
// The repository is hostile ground: its configuration may name programs, its
// trees may hold names that leave it, and the code under test may have written
// to its directory. So every call carries settings that take the programs away,
// nothing of the caller's own GIT_ variables reaches git, and nothing in the
// repository is ever written: objects made on the way go to a directory of our
// own.
//
// It is not a general git library: no fetch, no commit, no refs written.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Repo is one repository with a work tree. Close it when done.
type Repo struct {
	root    string // real path of the work tree
	gitDir  string
	objects string // its object directory
	scratch string // ours: temporary index and objects, removed by Close

	mu     sync.Mutex
	blobs  *batch
	closed bool
}

// ErrNotRepository says that there is no repository at a directory.
var ErrNotRepository = errors.New("not a git repository")

// Open finds the repository that dir is in.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git is not installed: install it and have it in PATH")
	}
	probe := &Repo{root: dir}
	out, err := probe.output(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-path", "objects")
	if err != nil {
		return nil, explainOpen(dir, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("opening %q: its path holds a line break, which git cannot report: move the repository", dir)
	}
	root, err := filepath.EvalSymlinks(lines[0])
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", dir, err)
	}
	objects := lines[2]
	if !filepath.IsAbs(objects) {
		base, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("opening %q: %w", dir, err)
		}
		objects = filepath.Join(base, objects)
	}
	scratch, err := os.MkdirTemp("", "touchstone-git-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for temporary objects: %w", err)
	}
	if err := os.Mkdir(filepath.Join(scratch, "objects"), 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for temporary objects: %w", err)
	}
	return &Repo{root: root, gitDir: lines[1], objects: objects, scratch: scratch}, nil
}

func explainOpen(dir string, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "dubious ownership"):
		return fmt.Errorf("the repository at %q belongs to another user: if you trust it, run: git config --global --add safe.directory %q", dir, dir)
	case strings.Contains(text, "must be run in a work tree"):
		return fmt.Errorf("the repository at %q is bare and has no work tree: make one with git worktree add, or clone it", dir)
	case strings.Contains(text, "not a git repository"):
		return fmt.Errorf("%w: %q: run inside one, or name one with --repo", ErrNotRepository, dir)
	case strings.Contains(text, "no such file or directory"):
		return fmt.Errorf("the directory %q does not exist", dir)
	}
	return fmt.Errorf("opening the repository at %q: %w", dir, err)
}

// Root is the real path of the work tree.
func (r *Repo) Root() string { return r.root }

// Close ends the processes and removes the temporary objects.
func (r *Repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.blobs != nil {
		r.blobs.close()
	}
	return os.RemoveAll(r.scratch)
}

// hardened are settings that outrank the repository's own: no hooks, no file
// monitor, no external programs for diffs, no configured presentation.
var hardened = []string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.attributesFile=/dev/null",
	"core.pager=cat",
	"core.quotePath=true",
	"core.precomposeUnicode=false",
	"diff.external=",
	"diff.renames=true",
	"diff.orderFile=/dev/null",
	"diff.suppressBlankEmpty=false",
	"diff.algorithm=myers",
	"diff.indentHeuristic=true",
	"diff.context=3",
	"diff.interHunkContext=0",
	"diff.submodule=short",
	"diff.ignoreSubmodules=none",
	"submodule.recurse=false",
	"protocol.ext.allow=never",
	"gc.auto=0",
	"log.showSignature=false",
	"advice.addEmbeddedRepo=false",
}

func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	full := []string{"--no-pager", "--literal-pathspecs"}
	for _, setting := range hardened {
		full = append(full, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(full, args...)...)
	cmd.Dir = r.root
	cmd.Env = r.environment()
	return cmd
}

// environment is ours without any GIT_ variable, plus what hides our temporary
// objects from the repository and the repository's prompts from us.
func (r *Repo) environment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GIT_") && !strings.HasPrefix(pair, "LC_ALL=") {
			env = append(env, pair)
		}
	}
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1")
	if r.scratch != "" {
		env = append(env,
			"GIT_OBJECT_DIRECTORY="+filepath.Join(r.scratch, "objects"),
			"GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoteAlternate(r.objects),
		)
	}
	return env
}

// quoteAlternate writes a path so that git does not split it at a colon.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, ":\"\\\n") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// output runs git and returns what it printed. An error holds git's own words.
func (r *Repo) output(ctx context.Context, args ...string) ([]byte, error) {
	return run(r.command(ctx, args...), args[0])
}

func run(cmd *exec.Cmd, what string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), &commandError{what: what, err: err, words: tail(stderr.String())}
	}
	return stdout.Bytes(), nil
}

// commandError is a failed git call.
type commandError struct {
	what  string
	err   error
	words string
}

func (e *commandError) Error() string {
	if e.words == "" {
		return fmt.Sprintf("git %s: %v", e.what, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.what, e.words)
}

func (e *commandError) Unwrap() error { return e.err }

// status is git's exit status, -1 when it did not exit by itself.
func status(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

func tail(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 500 {
		text = "… " + text[len(text)-500:]
	}
	return strings.TrimPrefix(text, "fatal: ")
}
