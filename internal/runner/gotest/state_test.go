package gotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// files is a tree of a few files.
type files map[string]string

func (f files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

func (f files) ReadFile(name string) ([]byte, error) {
	if text, ok := f[name]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("%q: %w", name, fs.ErrNotExist)
}

// plain is a state without any isolation: files in a directory, and commands
// that run there.
type plain struct {
	files
	dir  string
	runs int
}

func newPlain(t *testing.T, tree files) *plain {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not in PATH: nothing can be run")
	}
	s := &plain{files: tree, dir: t.TempDir()}
	for name, text := range tree {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *plain) Name() gate.StateName { return gate.Head }
func (s *plain) Tree() gate.Tree      { return s.files }

func (s *plain) Digest(context.Context, []string) (map[string]string, error) { return nil, nil }

func (s *plain) Run(ctx context.Context, c gate.Command) (gate.Exit, error) {
	s.runs++
	aux, err := os.MkdirTemp("", "aux")
	if err != nil {
		return gate.Exit{}, err
	}
	defer os.RemoveAll(aux)
	for name, text := range c.Files {
		if err := os.WriteFile(filepath.Join(aux, name), []byte(strings.ReplaceAll(text, "{aux}", aux)), 0o644); err != nil {
			return gate.Exit{}, err
		}
	}
	argv := slices.Clone(c.Argv)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "{aux}", aux)
	}
	report := filepath.Join(aux, "report")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(s.dir, c.Dir), c.Stdout, c.Stderr
	cmd.Env = append(os.Environ(), "TOUCHSTONE_REPORT="+report, "GOTOOLCHAIN=local")
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	start := time.Now()
	err = cmd.Run()
	if c.Report != nil {
		content, _ := os.ReadFile(report)
		c.Report.Write(content)
	}
	exit := gate.Exit{Wall: time.Since(start)}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit.Code = failed.ExitCode()
		return exit, nil
	}
	return exit, err
}

// run runs a batch and fails the test when that cannot be done.
func run(t *testing.T, r *Runner, s gate.State, batch gate.Batch) gate.Result {
	t.Helper()
	result, err := r.Run(t.Context(), s, batch)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// said is what was observed of each row: "outcome reason".
func said(result gate.Result) map[string]string {
	found := make(map[string]string)
	for _, observed := range result.Rows {
		text := "listed"
		if len(observed.Observations) > 0 {
			o := observed.Observations[0]
			text = strings.TrimSpace(o.Outcome.String() + " " + string(o.Reason))
		}
		if _, twice := found[observed.Row.ID]; twice {
			text = "twice"
		}
		found[observed.Row.ID] = text
	}
	return found
}

func observation(result gate.Result, id string) gate.Observation {
	for _, observed := range result.Rows {
		if observed.Row.ID == id && len(observed.Observations) > 0 {
			return observed.Observations[0]
		}
	}
	return gate.Observation{}
}

// expect compares what was observed with what is wanted, in both directions.
func expect(t *testing.T, got, want map[string]string) {
	t.Helper()
	var report bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] {
			fmt.Fprintf(&report, "%s: %q, want %q\n", id, got[id], want[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[id]; !ok {
			fmt.Fprintf(&report, "%s: %q, not wanted\n", id, got[id])
		}
	}
	if report.Len() > 0 {
		t.Error("\n" + report.String())
	}
}
