// Package actions is the runner's side of a GitHub workflow step: the
// environment it sets, the files it reads outputs and the summary from, and the
// commands it finds in the log.
//
// Text that comes from a report reaches the log only as the message of a command,
// where line ends are escaped. Outputs are written with a delimiter that nobody
// can guess, which go-githubactions, whose fixed one a value could hold, does
// not do.
package actions

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// maxSummary is what a step may write into the job summary, in bytes: "Job
// summaries are isolated between steps and each step is restricted to a maximum
// size of 1MiB".
const maxSummary = 1 << 20

// maxErrors is how many error commands of one step GitHub shows.
const maxErrors = 10

// Step is the step that runs. The zero value is not usable.
type Step struct {
	action *githubactions.Action
	out    io.Writer
	getenv func(string) string
	errors int
}

// Context is where a step runs: repository, event, addresses.
type Context = githubactions.GitHubContext

// New reads nothing yet. out is where the runner looks for commands.
func New(out io.Writer, getenv func(string) string) *Step {
	return &Step{action: githubactions.New(githubactions.WithWriter(out), githubactions.WithGetenv(getenv)), out: out, getenv: getenv}
}

// Context reads the runner's variables, without the event's payload.
func (s *Step) Context() (*Context, error) {
	withoutEvent := githubactions.WithGetenv(func(name string) string {
		if name == "GITHUB_EVENT_PATH" {
			return ""
		}
		return s.getenv(name)
	})
	c, err := githubactions.New(withoutEvent).Context()
	if err != nil {
		return nil, fmt.Errorf("reading the runner's environment: %w", err)
	}
	c.EventPath = s.getenv("GITHUB_EVENT_PATH")
	return c, nil
}

// Group opens a fold of the log; EndGroup closes it.
func (s *Step) Group(title string) { s.action.Group(title) }
func (s *Step) EndGroup()          { s.action.EndGroup() }

// Notice and Error put a message above the run's log. Of errors the first ten are
// shown, so more are not written.
func (s *Step) Notice(message string) { s.action.Noticef("%s", message) }

func (s *Step) Error(path string, line int, message string) {
	if s.errors++; s.errors > maxErrors {
		return
	}
	at := s.action
	if path != "" {
		at = at.WithFieldsMap(map[string]string{"file": path, "line": fmt.Sprint(max(line, 1))})
	}
	at.Errorf("%s", message)
}

// Mask keeps a value out of the log from here on.
func (s *Step) Mask(value string) {
	if value != "" {
		s.action.AddMask(value)
	}
}

// Output sets an output of the step. Outside a workflow it does nothing.
func (s *Step) Output(name, value string) error {
	path := s.getenv("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return fmt.Errorf("setting the output %s: %w", name, err)
	}
	delimiter := "end-" + hex.EncodeToString(token)
	return appendTo(path, name+"<<"+delimiter+"\n"+value+"\n"+delimiter+"\n")
}

// Summary adds Markdown to the job summary. Outside a workflow it does nothing.
// What does not fit is cut at the end of a line.
func (s *Step) Summary(markdown string) error {
	path := s.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	room := maxSummary
	if info, err := os.Stat(path); err == nil {
		room -= int(info.Size())
	}
	if len(markdown)+1 > room {
		const rest = "\n*Cut here: a job summary holds 1 MiB.*\n"
		if room < len(rest)+2 {
			return nil
		}
		markdown = markdown[:strings.LastIndexByte(markdown[:room-len(rest)], '\n')+1] + rest
	}
	return appendTo(path, markdown+"\n")
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing for the runner: %w", err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing for the runner to %s: %w", path, err)
	}
	return nil
}
