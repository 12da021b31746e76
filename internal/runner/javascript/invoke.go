package javascript

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
	exit  gate.Exit
	words string // the last lines it printed, for people
}

// invoke asks the framework one question on the state.
func (c *call) invoke(ctx context.Context, q question) (heard, error) {
	command, shown, err := c.command(q)
	if err != nil {
		return heard{}, err
	}
	var stdout, stderr gate.Tail
	h := heard{session: newSession(c.batch.Seen)}
	h.atOnce = c.Config.Framework == Ava
	h.perFile = c.Config.Framework == Node
	report, end := console.Parsed(func(from io.Reader) error { return readRecords(from, h.take) })
	command.Stdout, command.Stderr, command.Report = &stdout, &stderr, report
	h.exit, err = c.state.Run(ctx, command)
	if broken := end(); err == nil && broken != nil {
		err = fmt.Errorf("reading the observer's records: %w", broken)
	}
	if err != nil {
		return heard{}, c.cannotRun(err)
	}
	if h.words = stderr.Lines(4); h.words == "" {
		h.words = stdout.Lines(4)
	}
	if !h.began && h.exit.Code == 126 {
		return heard{}, &MissingToolError{c.Config.Framework, gate.Message(h.words)}
	}
	if h.root != "" {
		c.reader.root = h.root
	}
	c.note(h, shown)
	return h, nil
}

func (c *call) cannotRun(err error) error {
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "executable file not found") {
		return &MissingToolError{"node", err.Error()}
	}
	return fmt.Errorf("running %s on %s: %w", c.Config.Framework, c.state.Name(), err)
}

// note keeps what every run tells, whatever became of its rows.
func (c *call) note(h heard, shown []string) {
	c.result.Wall += h.exit.Wall
	if n := len(c.result.Commands); n == 0 || !slices.Equal(c.result.Commands[n-1], shown) {
		c.result.Commands = append(c.result.Commands, shown)
	}
	c.unseen = c.unseen || h.unseen
	if h.built != "" {
		c.result.Built = h.built
	}
	c.traces = append(c.traces, h.traces...)
	c.result.Replaced = append(c.result.Replaced, h.replaced...)
	for _, loaded := range h.loaded {
		if !slices.Contains(c.result.Loaded, loaded) {
			c.result.Loaded = append(c.result.Loaded, loaded)
		}
	}
}
