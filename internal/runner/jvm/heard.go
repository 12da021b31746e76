package jvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
	"github.com/touchstone-gate/touchstone/internal/runner/junit"
)

// heard is what one call of the build tool came to.
type heard struct {
	root      string
	errors    []compileError
	open      bool // details of the last error follow
	compiling bool
	keep      bool               // the build is to be kept
	found     bool               // it had been built before
	built     bool               // the sources were built; what follows is of the tests
	running   []string           // classes that began and did not end
	tests     []string           // tests that did so, as class#name, where the tool tells
	named     map[shown][]string // names of tests that reports show by other ones, in order
	exact     bool
	died      bool   // a process that runs tests ended early
	verdict   string // SUCCESS or FAILURE, "" when it never came to one
	words     []string
	cases     []junit.Case
	broken    error // a report that is not whole
	exit      gate.Exit
	tail      string
	session   *session
}

func (h *heard) begin(class string) { h.running = append(h.running, class) }

func (h *heard) end(class string) {
	h.running = slices.DeleteFunc(h.running, func(one string) bool { return one == class })
}

func (h *heard) endLast() {
	if n := len(h.running); n > 0 {
		h.running = h.running[:n-1]
	}
}

func (h *heard) say(words string) {
	if len(h.words) < 3 && words != "" {
		h.words = append(h.words, words)
	}
}

// error takes a compiler's error, once: tools print them twice.
func (h *heard) error(file, line, col, text string) {
	e := compileError{file: h.session.sourceAt(file, h.root), line: number(line), col: number(col), text: strings.TrimSpace(text)}
	known := slices.ContainsFunc(h.errors, func(o compileError) bool {
		return o.file == e.file && o.line == e.line && o.col == e.col && o.text == e.text
	})
	h.open = !known
	if !known && h.compiling && len(h.errors) < 2000 {
		h.errors = append(h.errors, e)
	}
}

func (h *heard) detail(line string) {
	if h.open && len(h.errors) > 0 && line != "" {
		if last := &h.errors[len(h.errors)-1]; len(last.more) < 4 {
			last.more = append(last.more, line)
		}
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// lost takes the tests that never ended for the death of their process, whatever
// its exit status was.
func (h *heard) lost() {
	for _, test := range h.tests {
		h.died = true
		if class, _, _ := strings.Cut(test, "#"); !slices.Contains(h.running, class) {
			h.begin(class)
		}
	}
}

// script runs the tool without what was built before, and hands its reports on.
func (s *session) script(argv []string, keep bool) (string, map[string]string) {
	files := make(map[string]string)
	var script, patterns strings.Builder
	script.WriteString("root=$(pwd -P); echo \"touchstone-root $root\"\nexec 9>\"$TOUCHSTONE_REPORT\"; unset TOUCHSTONE_REPORT\n")
	script.WriteString(s.left.Put(files))
	for _, module := range s.project.modules {
		fmt.Fprintf(&script, "rm -rf \"$root\"/%s || exit 1\n", console.Quote(s.tool.output(module)))
		for _, pattern := range s.tool.reports() {
			fmt.Fprintf(&patterns, " %s/%s", console.Quote(module), pattern)
		}
	}
	if keep {
		script.WriteString(s.keeping())
	}
	fmt.Fprintf(&script, "(cd \"$root\"/%s && %s) 9>&-%s\ncode=$?\n", console.Quote(s.Dir), console.Shell(argv), s.tool.redirect())
	fmt.Fprintf(&script, "cd \"$root\" && for f in%s; do [ -f \"$f\" ] && { %s; cat \"$f\"; echo; }; done >&9\nexit $code\n", patterns.String(), junit.Mark)
	return script.String(), files
}

// invoke calls the build tool for a selection.
func (s *session) invoke(ctx context.Context, asked []ask) (*heard, error) {
	keep := s.keeps(asked)
	h, err := s.call(ctx, asked, keep)
	if err == nil && keep && h.doubtful() {
		s.left.Known.off = true
		return s.call(ctx, asked, false)
	}
	return h, err
}

func (s *session) call(ctx context.Context, asked []ask, keep bool) (*heard, error) {
	argv := s.tool.argv(s, asked)
	h := &heard{session: s, keep: keep}
	script, files := s.script(argv, keep)
	files["run.sh"] = script
	maps.Copy(files, s.tool.files())
	report, ended := console.Parsed(func(from io.Reader) error {
		return junit.Read(from, func(c junit.Case) { h.cases = append(h.cases, c) })
	})
	var tail gate.Tail
	lines := &console.Lines{Take: func(line string) {
		if !h.ours(line) {
			s.tool.take(h, line)
		}
	}}
	command := gate.Command{
		Argv: []string{"sh", "{aux}/run.sh"}, Env: s.Env, Files: files, Timeout: s.Timeout,
		Stdout: io.MultiWriter(lines, &tail), Stderr: &tail, Report: report,
	}
	if s.batch.Timeout > 0 {
		command.Timeout = s.batch.Timeout
	}
	exit, err := s.state.Run(ctx, command)
	h.broken = ended()
	lines.End()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("running %s on %s: %w", s.Command[0], s.state.Name(), err)
	}
	h.exit, h.tail = exit, tail.Lines(3)
	h.rename()
	h.lost()
	if exit.Code == 127 && h.verdict == "" {
		return nil, fmt.Errorf("%s does not run (%s): install it, or name another program in runners: command: of .github/touchstone.yml", s.Command[0], h.tail)
	}
	if h.exact {
		s.learnExact()
	}
	if keep && s.left.Known.saved && h.built && !h.found {
		s.forgetful.Store(true)
	}
	s.left.Known.saved = s.left.Known.saved || h.built
	s.result.Wall += exit.Wall
	s.result.Commands = append(s.result.Commands, s.shown(argv))
	return h, nil
}

// ours takes the lines of the script itself.
func (h *heard) ours(line string) bool {
	root, ok := strings.CutPrefix(line, "touchstone-root ")
	switch {
	case h.built:
		return false
	case ok && h.root == "":
		h.root = root
	case !h.keep:
		return false
	case line == "touchstone-kept":
		h.found = true
	case line == "touchstone-built":
		h.built, h.verdict, h.words, h.compiling = true, "", nil, false
	default:
		return false
	}
	return true
}

func (s *session) shown(argv []string) []string {
	if at := slices.Index(argv, "{aux}/init.gradle"); at > 0 {
		argv = slices.Delete(slices.Clone(argv), at-1, at+1)
	}
	if s.Dir != "." {
		return slices.Concat([]string{"env", "-C", s.Dir}, argv)
	}
	return argv
}

// death is the observation of whatever was going on when the run ended early.
func (h *heard) death() gate.Observation {
	if h.exit.TimedOut {
		return gate.Observation{Outcome: gate.TimedOut, Reason: gate.Timeout, Duration: h.exit.Wall, Message: "still running at the time limit"}
	}
	return gate.Observation{Outcome: gate.Crashed, Reason: gate.Crash, Duration: h.exit.Wall, Message: gate.Message("its process ended in the middle of it: " + strings.Join(append(slices.Clone(h.words), h.tail), " "))}
}

func (h *heard) cutShort() bool {
	return h.exit.TimedOut || h.exit.Limit != "" || h.exit.Signal != "" || h.died
}
