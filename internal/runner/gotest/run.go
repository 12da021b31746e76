package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
)

// maxRounds bounds how often a run is repeated without what stopped it.
const maxRounds = 20

// grace is what a build may take beyond the tests' own limit.
const grace = 5 * time.Minute

// Run runs the units' rows, again and again without what did not compile or
// brought its binary down, until every row has an answer.
func (r *Runner) Run(ctx context.Context, state gate.State, batch gate.Batch) (gate.Result, error) {
	s := r.session(state, batch)
	queue := []job{s.begin()}
	for round := 0; len(queue) > 0; round++ {
		next := queue[0]
		queue = queue[1:]
		switch {
		case len(next.packages) == 0:
			continue
		case round >= maxRounds:
			s.giveUp(next)
			continue
		}
		stream, exit, err := s.invoke(ctx, next, round == 0)
		if err != nil {
			return gate.Result{}, err
		}
		queue = append(queue, s.absorb(stream, exit, next)...)
	}
	return s.finish(), nil
}

// session is one call of Run.
type session struct {
	*Runner
	state    gate.State
	batch    gate.Batch
	timeout  time.Duration
	packages []*testPackage
	wanted   map[string]map[string]bool // tests by import path; nil wants all
	left     *leftOut
	seen     map[string]map[string]gate.Observation // by import path and test name
	order    []seenTest
	answered map[string]bool // import paths with a unit failure
	result   gate.Result
}

type seenTest struct {
	p    *testPackage
	name string
}

// job is one invocation of go test.
type job struct {
	packages []*testPackage
	names    []string // top-level tests; nil means all
	skip     []string // tests that brought their binary down
}

func (r *Runner) session(state gate.State, batch gate.Batch) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left[state.Name()] == nil {
		r.left[state.Name()] = newLeftOut()
	}
	s := &session{
		Runner: r, state: state, batch: batch, timeout: r.Timeout, left: r.left[state.Name()],
		seen: make(map[string]map[string]gate.Observation), answered: make(map[string]bool),
	}
	if batch.Timeout > 0 {
		s.timeout = batch.Timeout
	}
	return s
}

// begin finds the packages and tests that were asked for.
func (s *session) begin() job {
	mods := modules(s.state.Tree())
	for _, unit := range s.batch.Units {
		p := s.parse(s.state.Tree(), mods, unit)
		if len(p.files) > 0 {
			s.packages = append(s.packages, p)
			s.seen[p.importPath] = make(map[string]gate.Observation)
		}
	}
	next := job{packages: s.packages}
	if len(s.batch.Rows) == 0 {
		return next
	}
	s.wanted = make(map[string]map[string]bool)
	for _, p := range s.packages {
		s.wanted[p.importPath] = make(map[string]bool)
		for _, id := range s.batch.Rows {
			if name, ok := strings.CutPrefix(id, p.importPath+"."); ok {
				s.wanted[p.importPath][topOf(name)] = true
				next.names = append(next.names, topOf(name))
			}
		}
	}
	next.packages = slices.DeleteFunc(slices.Clone(s.packages), func(p *testPackage) bool { return len(s.wanted[p.importPath]) == 0 })
	return next
}

// wants tells whether a test was asked for.
func (s *session) wants(p *testPackage, test string) bool {
	return s.wanted == nil || s.wanted[p.importPath][topOf(test)]
}

// command is the go test call of a job, and the same as a person would paste it.
func (s *session) command(j job) (argv, pasteable []string) {
	pasteable = slices.Clone(s.Command)
	if len(j.names) > 0 {
		pasteable = append(pasteable, "-run", alternatives(j.names))
	}
	if len(j.skip) > 0 {
		pasteable = append(pasteable, "-skip", alternatives(j.skip))
	}
	argv = append(slices.Clone(pasteable), "-json", "-count=1", "-vet=off", "-timeout="+s.timeout.String())
	if len(s.left.sources) > 0 {
		argv = append(argv, "-gcflags=-e", "-overlay={aux}/overlay.json")
	}
	for _, p := range j.packages {
		target := "./" + relative(s.Dir, p.dir)
		argv, pasteable = append(argv, target), append(pasteable, target)
	}
	return argv, pasteable
}

// alternatives is a -run pattern for exactly these tests. Parts of a name are
// matched one by one; names of several parts need a pattern of equal depth.
func alternatives(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	whole := make([]string, len(names))
	for i, name := range names {
		parts := strings.Split(name, "/")
		for k, part := range parts {
			parts[k] = "^" + regexp.QuoteMeta(part) + "$"
		}
		whole[i] = strings.Join(parts, "/")
	}
	if len(names) > 1 && !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "/") }) {
		for i, name := range names {
			whole[i] = regexp.QuoteMeta(name)
		}
		return "^(" + strings.Join(whole, "|") + ")$"
	}
	return strings.Join(whole, "|")
}

func relative(dir, name string) string {
	if dir == "." {
		return name
	}
	if name == dir {
		return "."
	}
	return strings.TrimPrefix(name, dir+"/")
}

// rewritten names the replacement of the i-th test file, in order of path. The
// compiler speaks of a replaced file by this name.
const rewritten = "touchstone_%d_test.go"

var rewrittenName = regexp.MustCompile(`touchstone_(\d+)_test\.go$`)

// original gives a compiler's file name back the path of the file that was
// replaced.
func (l *leftOut) original(file string) string {
	found := rewrittenName.FindStringSubmatch(file)
	if found == nil {
		return file
	}
	files := slices.Sorted(maps.Keys(l.sources))
	if i, err := strconv.Atoi(found[1]); err == nil && i < len(files) {
		return files[i]
	}
	return file
}

// overlay hands the rewritten sources to the go command.
func (s *session) overlay() (map[string]string, error) {
	if len(s.left.sources) == 0 {
		return nil, nil
	}
	files := make(map[string]string)
	replace := make(map[string]string)
	for i, file := range slices.Sorted(maps.Keys(s.left.sources)) {
		name := fmt.Sprintf(rewritten, i)
		files[name] = string(s.left.sources[file])
		replace["./"+relative(s.Dir, file)] = "{aux}/" + name
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	files["overlay.json"] = string(text)
	return files, err
}

// whence prints, beside the tests, where the go command finds every package.
const whence = `tool=$1; shift; n=$1; shift
{ pwd -P; "$tool" list -deps -test -f '{{if not .Standard}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{end}}' $n; } >"$TOUCHSTONE_REPORT" 2>/dev/null &
"$@"; code=$?; wait; exit $code`

func (s *session) invoke(ctx context.Context, j job, first bool) (*stream, gate.Exit, error) {
	argv, pasteable := s.command(j)
	files, err := s.overlay()
	if err != nil {
		return nil, gate.Exit{}, err
	}
	st := newStream()
	if s.batch.Seen != nil {
		st.ended = func(pkg, test, action string) {
			s.batch.Seen(pkg+"."+test, map[string]gate.Outcome{"pass": gate.Passed, "fail": gate.Failed, "skip": gate.Skipped}[action])
		}
	}
	var places strings.Builder
	cmd := gate.Command{Dir: s.Dir, Env: s.environment(), Files: files, Timeout: s.timeout + grace, Stderr: writerTo{&st.stderr}}
	if first && len(s.batch.Subjects) > 0 && path.Base(s.Command[0]) == "go" {
		var targets []string
		for _, p := range j.packages {
			targets = append(targets, "./"+relative(s.Dir, p.dir))
		}
		cmd.Report = &places
		argv = append([]string{"sh", "-c", whence, "sh", s.Command[0], strings.Join(targets, " ")}, argv...)
	}
	cmd.Argv = argv
	reader, writer := io.Pipe()
	cmd.Stdout = writer
	parsed := make(chan error, 1)
	go func() {
		err := st.read(reader)
		reader.CloseWithError(err)
		parsed <- err
	}()
	exit, err := s.state.Run(ctx, cmd)
	writer.Close()
	if broken := <-parsed; err == nil && broken != nil && !errors.Is(broken, io.EOF) {
		err = fmt.Errorf("reading the events of go test: %w", broken)
	}
	if err != nil {
		if ctx.Err() == nil {
			err = &MissingToolError{s.Command[0], err.Error()}
		}
		return nil, gate.Exit{}, err
	}
	if exit.Code == 127 && len(st.packages) == 0 {
		return nil, gate.Exit{}, &MissingToolError{s.Command[0], clean(st.words())}
	}
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, pasteable)
	s.result.Loaded = append(s.result.Loaded, s.loaded(places.String())...)
	return st, exit, nil
}

// environment keeps the go command off the network: a missing module is to say
// so at once.
func (s *session) environment() map[string]string {
	env := map[string]string{"GOPROXY": "off", "GOFLAGS": strings.TrimSpace("-buildvcs=false " + s.Env["GOFLAGS"])}
	for name, value := range s.Env {
		if name != "GOFLAGS" {
			env[name] = value
		}
	}
	return env
}

// writerTo lets a capture take what a process prints.
type writerTo struct{ *capture }

func (w writerTo) Write(p []byte) (int, error) {
	w.add(string(p))
	return len(p), nil
}

// loaded says, for the subjects that are in a package of the build, from which
// directory that package comes.
func (s *session) loaded(places string) []gate.Loaded {
	lines := strings.Split(strings.TrimSpace(places), "\n")
	if len(lines) < 2 {
		return nil
	}
	root := strings.TrimSuffix(lines[0], "/"+s.Dir)
	dirs := make(map[string]string)
	for _, line := range lines[1:] {
		if name, dir, ok := strings.Cut(line, "\t"); ok {
			name, _, _ = strings.Cut(name, " ")
			dirs[name] = dir
		}
	}
	mods := modules(s.state.Tree())
	var found []gate.Loaded
	for _, subject := range s.batch.Subjects {
		if !strings.HasSuffix(subject, ".go") || strings.HasSuffix(subject, "_test.go") {
			continue
		}
		at := path.Dir(subject)
		if dir, ok := dirs[importPath(mods, at)]; ok {
			found = append(found, gate.Loaded{Subject: subject, File: path.Join(dir, path.Base(subject)), InTree: dir == path.Join(root, at)})
		}
	}
	return found
}
