// Package plainstate is a gate.State for the tests of runners: it runs commands
// in a directory of the test, with nothing isolated. Afterwards the directory's
// files are what they were, with their times; what a command adds stays.
package plainstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// State implements gate.State.
type State struct {
	Env  []string // added to the environment, as NAME=VALUE
	Keep bool     // files stay as commands leave them
	t    testing.TB
	dir  string
}

// New lays an archive's files out in a directory of their own.
func New(t testing.TB, archive string) *State {
	t.Helper()
	return At(t, Write(t, txtar.Parse([]byte(archive)).Files))
}

// At is the state of a directory that the test has made.
func At(t testing.TB, dir string) *State { return &State{t: t, dir: dir} }

// Write lays files out in a directory of their own.
func Write(t testing.TB, files []txtar.File) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, file.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Name is head's.
func (s *State) Name() gate.StateName { return gate.Head }

// Tree is the directory as it is now.
func (s *State) Tree() gate.Tree { return tree(s.dir) }

// Dir is where the files lie.
func (s *State) Dir() string { return s.dir }

// Digest is not needed by runners.
func (s *State) Digest(context.Context, []string) (map[string]string, error) {
	return nil, errors.New("a plain state has no digests")
}

// Run runs a command in the directory.
func (s *State) Run(ctx context.Context, cmd gate.Command) (gate.Exit, error) {
	if !s.Keep {
		defer s.restore()()
	}
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
	run.Env = append(os.Environ(), "TMPDIR="+s.t.TempDir(), "PYTHONDONTWRITEBYTECODE=1") // byte code is told from its source by the second
	run.Env = append(run.Env, s.Env...)
	for name, value := range cmd.Env {
		run.Env = append(run.Env, name+"="+expand(value))
	}
	run.Stdout, run.Stderr = cmd.Stdout, cmd.Stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
	run.WaitDelay = 10 * time.Second
	return s.wait(ctx, run, cmd.Report)
}

func (s *State) wait(ctx context.Context, run *exec.Cmd, report io.Writer) (gate.Exit, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return gate.Exit{}, err
	}
	defer read.Close()
	// By this path also processes that inherit nothing can write.
	if report == nil {
		report = io.Discard
	} else {
		run.Env = append(run.Env, fmt.Sprintf("TOUCHSTONE_REPORT=/proc/%d/fd/%d", os.Getpid(), write.Fd()))
	}
	copied := make(chan error, 1)
	go func() { _, err := io.Copy(report, read); copied <- err }()
	start := time.Now()
	if err = run.Start(); err == nil {
		err = run.Wait()
	} else {
		err = fmt.Errorf("starting it: %w", err)
	}
	write.Close()
	if broken := <-copied; broken != nil {
		return gate.Exit{}, broken
	}
	if run.ProcessState == nil {
		return gate.Exit{}, err
	}
	exit := gate.Exit{Wall: time.Since(start), Code: run.ProcessState.ExitCode(), TimedOut: ctx.Err() != nil}
	if status, ok := run.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && !errors.Is(err, exec.ErrWaitDelay) {
		return gate.Exit{}, err
	}
	return exit, nil
}

// restore returns what puts changed and removed files back.
func (s *State) restore() func() {
	type saved struct {
		content []byte
		at      time.Time
	}
	files := make(map[string]saved)
	for _, path := range s.Tree().Paths() {
		full := filepath.Join(s.dir, path)
		info, missing := os.Lstat(full)
		if missing != nil {
			s.t.Fatal(missing)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(full)
		if err != nil {
			s.t.Fatal(err)
		}
		files[full] = saved{content, info.ModTime()}
	}
	return func() {
		for full, was := range files {
			if now, err := os.ReadFile(full); err == nil && bytes.Equal(now, was.content) {
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, was.content, 0o644), os.Chtimes(full, was.at, was.at)); err != nil {
				s.t.Error(err)
			}
		}
	}
}

// tree is a directory as a gate.Tree, without what builds leave.
type tree string

func (d tree) ReadFile(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), path))
}

func (d tree) Paths() []string {
	var paths []string
	_ = fs.WalkDir(os.DirFS(string(d)), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case entry.IsDir() && (entry.Name() == "target" || entry.Name() == ".gradle" || entry.Name() == ".git"):
			return fs.SkipDir
		case !entry.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	return paths
}

// FromDir copies a directory of files into one of the test's own.
func FromDir(t testing.TB, from string) *State {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	for _, path := range tree(from).Paths() {
		content, err := tree(from).ReadFile(path)
		to := filepath.Join(dir, path)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return At(t, dir)
}
