package gotest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
)

// What a run may take beyond its tests' own limits: for the builds, and for the
// go command to kill a test binary that does not obey its limit.
const (
	buildTime = 5 * time.Minute
	killTime  = time.Minute
)

// invoke runs one job and returns what it said.
func (s *session) invoke(ctx context.Context, j job) (*stream, gate.Exit, error) {
	argv, pasteable := s.command(j)
	files, err := s.left.overlay(s.layout, j.books, s.canaries(j.books))
	if err != nil {
		return nil, gate.Exit{}, err
	}
	said := newStream()
	if s.batch.Seen != nil {
		said.ended = func(id, action string) { s.batch.Seen(steady(id), outcomes[action]) }
	}
	var places strings.Builder
	limit := time.Duration(len(j.books))*(s.timeout+killTime) + buildTime
	cmd := gate.Command{Dir: s.Dir, Env: s.environment(), Files: files, Timeout: limit, Stderr: &said.stderr, Argv: argv}
	if !s.asked && s.asksPlaces() {
		s.asked = true
		cmd.Report, cmd.Argv = &places, s.besideList(j, argv)
	}
	if s.mark != "" {
		cmd.Report, cmd.Argv = &said.marks, append([]string{"sh", "-c", besideMark, "sh", s.mark}, argv...)
	}
	exit, err := s.stream(ctx, cmd, said)
	if err != nil {
		return nil, gate.Exit{}, err
	}
	s.result.Wall += exit.Wall
	if s.Dir != "." {
		pasteable = slices.Concat([]string{"env", "-C", s.Dir}, pasteable)
	}
	s.result.Commands = append(s.result.Commands, pasteable)
	s.result.Loaded = append(s.result.Loaded, s.loaded(places.String())...)
	return said, exit, nil
}

var outcomes = map[string]gate.Outcome{"pass": gate.Passed, "fail": gate.Failed, "skip": gate.Skipped}

// stream runs a command and reads its events while it runs.
func (s *session) stream(ctx context.Context, cmd gate.Command, said *stream) (gate.Exit, error) {
	events, end := console.Parsed(said.read)
	cmd.Stdout = events
	exit, err := s.state.Run(ctx, cmd)
	broken := end()
	switch {
	case err != nil && strings.Contains(err.Error(), "executable file not found"): // os/exec is the sandbox's
		return exit, &MissingToolError{s.Command[0], err.Error()}
	case err != nil:
		return exit, fmt.Errorf("running %s in %q: %w", s.Command[0], s.Dir, err)
	case broken != nil:
		return exit, fmt.Errorf("reading the events of %s: %w", s.Command[0], broken)
	case exit.Code == 127 && len(said.packages) == 0:
		return exit, &MissingToolError{s.Command[0], gate.Message(said.words())}
	}
	return exit, ctx.Err()
}

// command is the go test call of a job, and the same as a person would paste it.
func (s *session) command(j job) (argv, pasteable []string) {
	pasteable = slices.Clone(s.Command)
	if j.run != "" {
		pasteable = append(pasteable, "-run", j.run)
	}
	if j.skip != "" {
		pasteable = append(pasteable, "-skip", j.skip)
	}
	argv = append(slices.Clone(pasteable), "-json", "-count=1", "-vet=off", "-timeout="+s.timeout.String())
	if s.left.any(j.books) || s.canary != "" {
		argv = append(argv, "-overlay={aux}/overlay.json")
	}
	if slices.ContainsFunc(j.books, func(b *book) bool { return b.builds > 0 }) && !s.settings.gcflags {
		argv = append(argv, "-gcflags=-e") // every error, not the first ten; not at first, to keep the user's cache
	}
	targets := s.targets(j)
	return append(argv, targets...), append(pasteable, targets...)
}

func (s *session) targets(j job) []string {
	var list []string
	for _, b := range j.books {
		list = append(list, s.target(b.dir))
	}
	return list
}

// environment keeps the go command off the network, so that a missing module
// says so at once, and from writing go.mod and go.sum.
func (s *session) environment() map[string]string {
	env := map[string]string{"GOPROXY": "off"}
	if s.alone {
		env["GOWORK"] = "off"
	}
	maps.Copy(env, s.Env)
	env["GOFLAGS"] = s.settings.goflags
	return env
}

// excuse asks the go command about tests that never ran although their package
// ended well: files that the build leaves out for reasons that the sources do
// not show, such as its version or a missing C compiler, are no test files here.
func (s *session) excuse(ctx context.Context) error {
	var j job
	for _, b := range s.books {
		silent := slices.ContainsFunc(b.expected(), func(row gate.Row) bool {
			_, out := s.left.row(row)
			return !out && !b.seen[row.Name]
		})
		if silent && b.failed == nil && isGo(s.Command[0]) {
			j.books = append(j.books, b)
		}
	}
	if len(j.books) == 0 {
		return nil
	}
	argv := append([]string{s.Command[0], "list", "-e", "-f", `{{.ImportPath}}{{"\t"}}{{join .TestGoFiles ","}},{{join .XTestGoFiles ","}}`}, s.settings.list...)
	var out strings.Builder
	exit, err := s.state.Run(ctx, gate.Command{Dir: s.Dir, Env: s.environment(), Argv: append(argv, s.targets(j)...), Stdout: &out, Timeout: buildTime})
	if err != nil || exit.Code != 0 {
		return ctx.Err() // nothing is excused
	}
	for line := range strings.Lines(out.String()) {
		name, files, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for _, b := range j.books {
			if b.importPath == name {
				b.excuse(strings.Split(files, ","))
			}
		}
	}
	return nil
}

// excuse takes the tests of files that the build does not take off what is
// expected.
func (b *book) excuse(taken []string) {
	b.absent = make(map[string]bool)
	for _, file := range b.files {
		if !slices.Contains(taken, path.Base(file)) {
			b.absent[file] = true
		}
	}
}

// isGo tells whether a program is the go command, so that its other
// subcommands can be asked.
func isGo(program string) bool {
	return strings.TrimRight(strings.TrimPrefix(path.Base(program), "go"), ".0123456789rc") == ""
}
