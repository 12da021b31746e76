package cargo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
)

// plainState runs commands in a directory, with nothing isolated; the files are
// afterwards what they were.
type plainState struct {
	t   *testing.T
	dir string
	env []string
}

func (s *plainState) Name() gate.StateName { return gate.Head }
func (s *plainState) Tree() gate.Tree      { return dirTree(s.dir) }

func (s *plainState) Digest(context.Context, []string) (map[string]string, error) {
	return nil, errors.New("not needed here")
}

func (s *plainState) Run(ctx context.Context, cmd gate.Command) (gate.Exit, error) {
	defer s.restore(s.Tree().Paths())()
	aux := s.t.TempDir()
	expand := func(text string) string { return strings.ReplaceAll(text, "{aux}", aux) }
	for name, content := range cmd.Files {
		if err := os.WriteFile(filepath.Join(aux, name), []byte(expand(content)), 0o644); err != nil {
			return gate.Exit{}, err
		}
	}
	if cmd.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmd.Timeout)
		defer cancel()
	}
	run := exec.CommandContext(ctx, expand(cmd.Argv[0]))
	for _, arg := range cmd.Argv[1:] {
		run.Args = append(run.Args, expand(arg))
	}
	run.Dir = filepath.Join(s.dir, cmd.Dir)
	run.Env = append(os.Environ(), "TOUCHSTONE_REPORT=/dev/fd/3")
	run.Env = append(run.Env, s.env...)
	for name, value := range cmd.Env {
		run.Env = append(run.Env, name+"="+expand(value))
	}
	run.Stdout, run.Stderr = cmd.Stdout, cmd.Stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
	read, write, err := os.Pipe()
	if err != nil {
		return gate.Exit{}, err
	}
	run.ExtraFiles = []*os.File{write}
	start := time.Now()
	if err := run.Start(); err != nil {
		return gate.Exit{}, err
	}
	write.Close()
	copied := make(chan error, 1)
	go func() { _, err := io.Copy(cmd.Report, read); copied <- err }()
	err = run.Wait()
	if broken := <-copied; broken != nil {
		return gate.Exit{}, broken
	}
	exit := gate.Exit{Wall: time.Since(start), Code: run.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if status, ok := run.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return gate.Exit{}, err
	}
	return exit, nil
}

// restore returns what puts changed files back, with their times.
func (s *plainState) restore(paths []string) func() {
	type saved struct {
		content []byte
		at      time.Time
	}
	files := make(map[string]saved)
	for _, path := range paths {
		content, err := s.Tree().ReadFile(path)
		info, missing := os.Stat(filepath.Join(s.dir, path))
		if err != nil || missing != nil {
			s.t.Fatal(err, missing)
		}
		files[path] = saved{content, info.ModTime()}
	}
	return func() {
		for path, was := range files {
			full := filepath.Join(s.dir, path)
			if now, err := os.ReadFile(full); err == nil && bytes.Equal(now, was.content) {
				continue
			}
			if err := errors.Join(os.WriteFile(full, was.content, 0o644), os.Chtimes(full, was.at, was.at)); err != nil {
				s.t.Error(err)
			}
		}
	}
}

// dirTree is a directory as a tree.
type dirTree string

func (d dirTree) ReadFile(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), path))
}

func (d dirTree) Paths() []string {
	var paths []string
	fs.WalkDir(os.DirFS(string(d)), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(path, "target/") {
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	return paths
}

// write puts an archive's files into a directory that stands for a work tree.
func write(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	for _, file := range files {
		path := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func stateOf(t *testing.T, archive string) *plainState {
	t.Helper()
	return &plainState{t: t, dir: write(t, txtar.Parse([]byte(archive)).Files)}
}
