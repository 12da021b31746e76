package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
)

// Layer is what set-up commands left behind, for states to stand on. It is of
// use until its sandbox is closed.
type Layer struct {
	key   string            // docker: names the paths that were left out of it
	image string            // docker: the image's id
	under map[string]string // overlay: directories, by the path they are shown at
	close func() error
}

// networkNames are let through to set-up commands besides what all commands see.
var networkNames = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "GOPROXY", "GONOSUMDB", "GOSUMDB",
	"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "PIP_FIND_LINKS", "NODE_EXTRA_CA_CERTS",
}

// setUpper is an engine whose runs follow one another in one tree.
type setUpper interface {
	engine
	// keep ends the runs and returns what they left, without the state's own files.
	keep(ctx context.Context) (*Layer, error)
}

// Setup runs commands one after the other, each seeing what the former wrote,
// in a state that differs from the work tree in files. They have the network.
// What they leave in the tree, the home and the caches is the layer; the paths of
// files are not part of it. A command that fails is an error with the end of its
// output.
//
// Copies have no set-up: its commands would write to this machine's own tools.
func (s *Sandbox) Setup(ctx context.Context, files []File, commands []gate.Command) (*Layer, error) {
	if err := checkFiles(files); err != nil {
		return nil, fmt.Errorf("set-up: %w", err)
	}
	if s.kind == "copy" {
		return nil, errors.New("set-up commands need the overlay or docker sandbox: in copies they would change this machine's own tools; run them yourself beforehand and take setup out")
	}
	online := *s
	online.opts.Network = true
	online.opts.EnvAllow = slices.Concat(s.opts.EnvAllow, withoutPassword(networkNames))
	open := openOverlaySetup
	if s.kind == "docker" {
		open = openDockerSetup
	}
	e, err := open(ctx, &online, files)
	if err != nil {
		return nil, fmt.Errorf("set-up: %w", err)
	}
	st := &State{sandbox: &online, engine: e}
	for _, cmd := range commands {
		if err = st.setUp(ctx, cmd); err != nil {
			break
		}
	}
	var layer *Layer
	if err == nil {
		layer, err = e.keep(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	layer.close = e.close
	s.layers.Lock()
	defer s.layers.Unlock()
	s.layers.made = append(s.layers.made, layer)
	return layer, nil
}

func (st *State) setUp(ctx context.Context, cmd gate.Command) error {
	out := &tail{limit: 2000}
	cmd.Stdout, cmd.Stderr = out, out
	exit, err := st.Run(ctx, cmd)
	switch {
	case err != nil:
		return fmt.Errorf("set-up: %w", err)
	case exit.TimedOut:
		return fmt.Errorf("set-up command %q did not end in time: %s", cmd.Argv, out.lines(endLines))
	case exit.Limit != "":
		return fmt.Errorf("set-up command %q went over the limit on %s: %s", cmd.Argv, exit.Limit, out.lines(endLines))
	case exit.Code != 0:
		return fmt.Errorf("set-up command %q failed (%s): %s", cmd.Argv, strings.TrimSpace(fmt.Sprintf("exit status %d %s", exit.Code, exit.Signal)), out.lines(endLines))
	}
	return nil
}

// withoutPassword leaves names out whose value here is a URL with a password.
func withoutPassword(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.Contains(os.Getenv(name), "@") })
}

// tail is a writer that keeps only the end of what it gets.
type tail struct {
	limit int
	buf   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	end := p[max(0, len(p)-t.limit):]
	if surplus := len(t.buf) + len(end) - t.limit; surplus > 0 { // in place: endless output must not cost memory
		t.buf = t.buf[:copy(t.buf, t.buf[surplus:])]
	}
	t.buf = append(t.buf, end...)
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.TrimSpace(t.buf)) }

// endLines is how many lines of a failed command's output stand in an error:
// tools say last what was wrong, under whatever they print on the way.
const endLines = 4

// lines are the last lines that are not blank.
func (t *tail) lines(n int) string {
	var last []string
	for line := range strings.Lines(t.String()) {
		if line = strings.TrimSpace(line); line != "" {
			last = append(last, line)
		}
	}
	return strings.Join(last[max(0, len(last)-n):], "\n")
}
