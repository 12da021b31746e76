package main

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// memory keeps what runners said of base and base+tests, in files of the user's
// cache directory, each named by a digest of all that the answer may hang on: the
// tree, ignored files of the work tree, the runner with its tools, the sandbox and
// the environment, this program, and the question itself. A push that leaves the
// tests as they are then costs head's side only.
type memory struct {
	dir      string
	states   *states
	settings config.Config
	added    []string
	common   func() (string, error) // what all questions have in common

	forget sync.Once // answers that no longer stand

	mu    sync.Mutex
	tools map[string]string // by runner
	given map[string]bool   // answers, by file, that are in this run's matrix
}

// memoryAge is how long an answer stands: what nobody thinks of (time zones, a
// patched library) changes too.
const memoryAge = 7 * 24 * time.Hour

// memory returns nil where nothing is to be kept: without a directory, with
// --fresh, for an audit, and where code under test could write there (copy) or runs
// in an image that nobody knows by its content here (docker).
func (o *checkOptions) memory(ctx context.Context, columns *states, settings config.Config, added []string) gate.Memory {
	if o.cache == "" || o.fresh || o.audit.Drawn || columns.sandbox.Kind() != "overlay" {
		return nil
	}
	m := &memory{dir: filepath.Join(o.cache, "touchstone", "observations"), states: columns, settings: settings, added: added, tools: make(map[string]string), given: make(map[string]bool)}
	m.common = sync.OnceValues(func() (string, error) { return m.surroundings(ctx) })
	return m
}

// answer is what is kept: what was asked, and what was said.
type answer struct {
	Units, Rows []string
	Result      gate.Result
}

// maxAnswers is how many answers are kept of one tree under one set of conditions.
const maxAnswers = 16

// Recall returns the first answer to the question that was not given yet in this
// run, if there is one.
func (m *memory) Recall(ctx context.Context, q gate.Question) (gate.Result, bool) {
	dir, err := m.place(ctx, q)
	if err != nil {
		return gate.Result{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range maxAnswers {
		file := answerFile(dir, i)
		var a answer
		if m.given[file] || readAnswer(file, &a) != nil || !a.covers(q.Batch) {
			continue
		}
		m.given[file] = true
		return a.about(q.Batch), true
	}
	return gate.Result{}, false
}

// Keep stores an answer. What cannot be stored is asked again next time.
func (m *memory) Keep(ctx context.Context, q gate.Question, said gate.Result) {
	dir, err := m.place(ctx, q)
	if err != nil {
		return
	}
	m.forget.Do(m.forgetOld)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range maxAnswers {
		file := answerFile(dir, i)
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			m.given[file] = true // it is in this run's matrix already
			writeAnswer(file, answer{q.Batch.Units, q.Batch.Rows, said})
			return
		}
	}
}

func answerFile(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("%02d.json.gz", i)) }

// covers tells whether an answer holds the one to a batch.
func (a *answer) covers(b gate.Batch) bool {
	if len(a.Rows) > 0 && (len(b.Rows) == 0 || !holds(a.Rows, b.Rows)) {
		return false
	}
	return holds(a.Units, b.Units)
}

func holds(all, some []string) bool {
	known := setOf(all)
	return !slices.ContainsFunc(some, func(s string) bool { return !known[s] })
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// about is the part of an answer that a batch asks for: its rows with their parts.
func (a *answer) about(b gate.Batch) gate.Result {
	said, units, rows, parents := a.Result, setOf(b.Units), setOf(b.Rows), make(map[string]string)
	for _, row := range said.Rows {
		parents[row.Row.ID] = row.Row.Parent
	}
	asked := func(id string) bool {
		for id != "" && !rows[id] {
			id = parents[id]
		}
		return id != ""
	}
	said.Rows = slices.DeleteFunc(slices.Clone(said.Rows), func(row gate.Observed) bool {
		return !units[row.Row.Unit] || len(rows) > 0 && !asked(row.Row.ID)
	})
	said.Units = slices.DeleteFunc(slices.Clone(said.Units), func(u gate.UnitFailure) bool { return !units[u.Unit] })
	return said
}

func readAnswer(file string, a *answer) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if time.Since(info.ModTime()) > memoryAge {
		return fs.ErrNotExist
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(z).Decode(a); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, z) // to its checksum
	return err
}

func writeAnswer(file string, a answer) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "new-")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	err = errors.Join(json.NewEncoder(z).Encode(a), z.Close(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// forgetOld removes answers that no longer stand.
func (m *memory) forgetOld() {
	entries, _ := os.ReadDir(m.dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > memoryAge {
			os.RemoveAll(filepath.Join(m.dir, entry.Name()))
		}
	}
}

// place names the directory of the answers about one state that were given under
// equal conditions.
func (m *memory) place(ctx context.Context, q gate.Question) (string, error) {
	common, err := m.common()
	if err != nil {
		return "", err
	}
	tools, err := m.toolsOf(ctx, q.Runner)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%q %q %q\n", common, q.Runner.Name(), q.Runner.Framework(), tools)
	fmt.Fprintf(sum, "%q %v %v\n", q.Batch.Subjects, q.Batch.Timeout, q.List)
	m.tree(sum, q.State.Name())
	return filepath.Join(m.dir, hex.EncodeToString(sum.Sum(nil))), nil
}

// tree writes how a state differs from base.
func (m *memory) tree(to io.Writer, name gate.StateName) {
	base, tree := m.states.trees[gate.Base], m.states.trees[name]
	fmt.Fprintln(to, m.states.change.baseTree)
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if tree[path] != base[path] {
			fmt.Fprintf(to, "%q %o %s\n", path, tree[path].Mode, tree[path].ID)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(base)) {
		if _, there := tree[path]; !there {
			fmt.Fprintf(to, "%q gone\n", path)
		}
	}
}

// toolsOf asks a runner once which tools it runs. A runner that cannot say is
// asked everything anew.
func (m *memory) toolsOf(ctx context.Context, r gate.Runner) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if tools, ok := m.tools[r.Name()]; ok {
		return tools, nil
	}
	t, ok := r.(equipped)
	if !ok {
		return "", fmt.Errorf("the runner %s cannot name its tools", r.Name())
	}
	state, err := m.states.Open(ctx, gate.Base)
	if err != nil {
		return "", err
	}
	tools, err := t.Environment(ctx, state)
	if err == nil {
		m.tools[r.Name()] = tools
	}
	return tools, err
}

// surroundings is what an answer hangs on beside its state and its runner.
func (m *memory) surroundings(ctx context.Context) (string, error) {
	for _, path := range m.states.change.base.Paths() {
		if entry, _ := m.states.change.base.Entry(path); entry.Mode == git.ModeSubmodule {
			return "", fmt.Errorf("%s is a submodule, whose files nobody here knows by their content", path)
		}
	}
	sum := sha256.New()
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	system, _ := os.ReadFile("/etc/os-release")
	fmt.Fprintf(sum, "%s %q %d %d\n", version, program, info.Size(), info.ModTime().UnixNano())
	fmt.Fprintf(sum, "%s %s %q %d\n", runtime.GOOS, runtime.GOARCH, system, os.Getuid())
	fmt.Fprintf(sum, "%q %q\n%q\n", m.states.change.repo.Root(), m.added, m.states.sandbox.Surroundings())
	if err := json.NewEncoder(sum).Encode(m.settings.Runners); err != nil {
		return "", err
	}
	if err := m.ignored(ctx, sum); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// maxIgnored bounds how many ignored files are looked at: beyond, looking costs
// more than asking.
const maxIgnored = 300_000

// ignored writes names, sizes and times of the ignored files, which states show:
// environments, packages, build products. What interpreters and test frameworks
// keep for themselves is left out.
func (m *memory) ignored(ctx context.Context, to io.Writer) error {
	paths, err := m.states.change.repo.Ignored(ctx)
	n := 0
	for _, path := range paths {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(m.states.change.repo.Root(), path), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && slices.Contains(keptForThemselves, d.Name()) {
					return fs.SkipDir
				}
				return err
			}
			if n++; n > maxIgnored {
				return fmt.Errorf("more than %d ignored files", maxIgnored)
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(to, "%q %d %d %o\n", file, info.Size(), info.ModTime().UnixNano(), info.Mode())
			return err
		}))
	}
	return err
}

var keptForThemselves = []string{"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
