package pytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/runner/console"
)

// heard is everything that one invocation left behind.
type heard struct {
	*session
	framework string
	exit      gate.Exit
	words     string // the last lines it printed, for people
}

// invoke asks pytest one question on the state.
func (c *call) invoke(ctx context.Context, q question) (heard, error) {
	q.ahead = c.ahead()
	command, shown, err := c.command(q, c.batch, c.patterns)
	if err != nil {
		return heard{}, err
	}
	var stdout, stderr gate.Tail
	h := heard{session: newSession(c.Name(), c.batch.Seen), framework: c.Config.Framework}
	report, end := console.Parsed(func(from io.Reader) error { return readRecords(from, h.take) })
	command.Stdout, command.Stderr, command.Report = &stdout, &stderr, report
	h.exit, err = c.state.Run(ctx, command)
	if broken := end(); err == nil && broken != nil {
		err = fmt.Errorf("reading the observer's records: %w", broken)
	}
	if err != nil {
		return heard{}, c.cannotRun(command.Argv[0], err)
	}
	if h.words = stderr.Lines(4); h.words == "" {
		h.words = stdout.Lines(4)
	}
	if err := h.missingTool(); err != nil {
		return heard{}, err
	}
	if h.interpreter != "" {
		c.found(h.interpreter)
		shown[0] = h.interpreter
	}
	c.note(h, shown)
	if q.trace {
		c.traces = append(c.traces, h)
	}
	return h, nil
}

func (c *call) cannotRun(program string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "executable file not found") {
		return &MissingToolError{program, err.Error()}
	}
	return fmt.Errorf("running %s on %s: %w", c.Config.Framework, c.state.Name(), err)
}

// missingTool recognises a run that ended before there was a pytest to load the
// observer into.
func (h heard) missingTool() error {
	switch {
	case h.began:
		return nil
	case h.exit.Code == 127:
		return &MissingToolError{"python", clean(h.words)}
	case h.exit.Code == 126 && strings.HasPrefix(h.words, "asked "):
		return &MissingToolError{h.framework, clean(h.words)}
	case strings.HasSuffix(h.words, "No module named "+h.framework), h.framework == Django && strings.Contains(h.words, "No module named 'django'"):
		return &MissingToolError{h.framework, clean(h.words)}
	}
	return nil
}

// note keeps what every run tells, whatever became of its rows.
func (c *call) note(h heard, shown []string) {
	c.result.Wall += h.exit.Wall
	if c.Dir != "." {
		shown = slices.Concat([]string{"env", "-C", c.Dir}, shown)
	}
	if n := len(c.result.Commands); n == 0 || !slices.Equal(c.result.Commands[n-1], shown) {
		c.result.Commands = append(c.result.Commands, shown)
	}
	c.result.Forged = append(c.result.Forged, h.forged...)
	c.result.Replaced = append(c.result.Replaced, h.replaced...)
	for _, loaded := range h.loaded {
		if !slices.Contains(c.result.Loaded, loaded) {
			c.result.Loaded = append(c.result.Loaded, loaded)
		}
	}
}
