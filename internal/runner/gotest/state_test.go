package gotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/plainstate"
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

// plain is a plain state that counts its runs.
type plain struct {
	*plainstate.State
	runs int
}

func newPlain(t *testing.T, tree files) *plain {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not in PATH: nothing can be run")
	}
	var all []txtar.File
	for name, text := range tree {
		all = append(all, txtar.File{Name: name, Data: []byte(text)})
	}
	s := &plain{State: plainstate.At(t, plainstate.Write(t, all))}
	s.Env, s.Keep = []string{"GOTOOLCHAIN=local"}, true
	return s
}

func (s *plain) Run(ctx context.Context, c gate.Command) (gate.Exit, error) {
	s.runs++
	return s.State.Run(ctx, c)
}

// unread is the state of a tree in which nothing can be run.
type unread struct{ files }

func (unread) Name() gate.StateName { return gate.Head }
func (s unread) Tree() gate.Tree    { return s.files }

func (unread) Digest(context.Context, []string) (map[string]string, error) { return nil, nil }

func (unread) Run(context.Context, gate.Command) (gate.Exit, error) {
	return gate.Exit{}, errors.New("nothing can be run in it")
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
