package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/actions"
	"github.com/touchstone-gate/touchstone/internal/config"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/github"
)

// workflow is a run on GitHub: its surroundings, read once.
type workflow struct {
	app     *App
	step    *actions.Step
	context *actions.Context
	event   github.Event
	client  *github.Client
	token   string
	secrets secrets
	name    string // of the check
	notes   []string
}

// subject is what is judged: a pair of commits, and the pull request that it
// comes from. pull is nil in a merge queue.
type subject struct {
	pull       *github.Pull
	base, head string // base is the merge base once it is known
	baseWhy    string
	content    []byte // base's configuration file, nil when it has none
	settings   config.Config

	commits     []github.Commit
	commitsRead bool
	commitsErr  error
}

// number is the pull request's, 0 for none.
func (s *subject) number() int {
	if s.pull == nil {
		return 0
	}
	return s.pull.Number
}

// openWorkflow reads the environment and the event. Nothing is sent.
func (a *App) openWorkflow() (*workflow, error) {
	w := &workflow{app: a, step: actions.New(a.Stdout, a.Getenv), name: cmp.Or(a.Getenv("TOUCHSTONE_CHECK_NAME"), "touchstone")}
	var err error
	if w.context, err = w.step.Context(); err != nil {
		return nil, &exit{exitUsage, err}
	}
	if w.context.EventPath == "" {
		return nil, &exit{exitUsage, errors.New("GITHUB_EVENT_PATH is not set: this command reads the event of a GitHub workflow and runs inside one; here, use 'touchstone check'")}
	}
	payload, err := readLimited(w.context.EventPath, maxEvent)
	if err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("reading the event (GITHUB_EVENT_PATH): %w", err)}
	}
	if w.event, err = github.ReadEvent(w.context.EventName, payload); err != nil {
		return nil, &exit{exitUsage, err}
	}
	w.token = cmp.Or(a.Getenv("GITHUB_TOKEN"), a.Getenv("GH_TOKEN"))
	w.secrets = findSecrets(a.Getenv)
	w.client, err = github.New(github.Config{
		APIURL: w.context.APIURL, Token: w.token, Repository: w.context.Repository, UserAgent: "touchstone/" + version,
		Now: a.now, Sleep: a.sleep,
	})
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	return w, nil
}

// maxEvent and maxReport bound what is read from files that others wrote.
const (
	maxEvent  = 4 << 20
	maxReport = 64 << 20
)

func readLimited(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s has more than %d bytes: refused", path, limit)
	}
	return content, err
}

func (w *workflow) note(format string, args ...any) {
	w.notes = append(w.notes, w.secrets.hide(fmt.Sprintf(format, args...)))
}

// subject finds what an event asks to be judged; nil when it asks for nothing.
func (w *workflow) subject(ctx context.Context, noPublish bool) (*subject, error) {
	e := w.event
	switch e.Kind {
	case github.PullRequest:
		if e.Name == "pull_request_target" && !noPublish {
			return nil, &exit{exitUsage, errors.New("a pull_request_target workflow gives this job a token that can write, and the change's code would run beside it: run 'touchstone ci --no-publish' in a job with contents: read only, and 'touchstone publish' in a second one")}
		}
		return w.open(e.Pull), nil
	case github.MergeGroup:
		return &subject{base: e.Base, head: e.Head, baseWhy: "base of the merge group"}, nil
	case github.Dispatch:
		number, err := w.dispatched()
		if err != nil {
			return nil, err
		}
		pull, err := w.client.Pull(ctx, number)
		if err != nil {
			return nil, undecided(err)
		}
		return w.open(pull), nil
	case github.Refresh:
		w.step.Notice(fmt.Sprintf("touchstone: the event %s brings no change to judge; nothing was checked", e.Name))
		return nil, nil
	case github.WorkflowRun:
		return nil, &exit{exitUsage, errors.New("a workflow_run workflow must not run a change's code, since its token can write: use 'touchstone publish' there, and 'touchstone ci --no-publish' in the workflow that it waits for")}
	}
	return nil, &exit{exitUsage, fmt.Errorf("the event %q is none of pull_request, pull_request_target, merge_group, workflow_dispatch, push and schedule", e.Name)}
}

// dispatched is the pull request that a person named.
func (w *workflow) dispatched() (int, error) {
	if w.event.Number > 0 {
		return w.event.Number, nil
	}
	text := strings.TrimPrefix(w.app.Getenv("TOUCHSTONE_PR"), "#")
	if number, err := strconv.Atoi(text); err == nil && number > 0 {
		return number, nil
	}
	return 0, &exit{exitUsage, fmt.Errorf("no pull request is named (input pr is %q): start the workflow with its number, as: gh workflow run touchstone.yml -f pr=12", text)}
}

// open is the subject of an open pull request, nil of a closed one.
func (w *workflow) open(pull *github.Pull) *subject {
	if pull.Closed {
		w.step.Notice(fmt.Sprintf("touchstone: pull request %d is closed; nothing was checked", pull.Number))
		return nil
	}
	return &subject{pull: pull, base: pull.BaseSHA, head: pull.HeadSHA}
}

// pair makes sure that the clone holds both commits, takes their merge base
// and reads its configuration.
func (w *workflow) pair(ctx context.Context, dir string, s *subject) error {
	credentials := git.Credentials{Server: w.context.ServerURL, Token: w.token}
	if err := git.Deepen(ctx, dir, credentials, s.base, s.head); err != nil {
		return err
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer repo.Close()
	if s.pull != nil {
		if s.base, err = repo.MergeBase(ctx, s.base, s.head); err != nil {
			return err
		}
		s.baseWhy = "merge base of the pull request's head and " + s.pull.BaseRef
	}
	treeID, err := repo.TreeOf(ctx, s.base)
	if err != nil {
		return err
	}
	tree, err := repo.Tree(ctx, treeID)
	if err != nil {
		return err
	}
	if s.content, err = tree.ReadFile(config.Path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// configure reads base's configuration, and lets the action's inputs make it
// stricter, or say where and how loudly to publish.
func (w *workflow) configure(s *subject) error {
	var err error
	if s.settings, err = config.Parse(config.Path, s.content); err != nil {
		return err
	}
	if text := w.app.Getenv("TOUCHSTONE_CHECK_NAME"); text != "" {
		if s.settings.GitHub.CheckName, err = config.ParseCheckName(text); err != nil {
			return fmt.Errorf("input check-name: %w", err)
		}
	}
	if text := w.app.Getenv("TOUCHSTONE_COMMENT"); text != "" {
		if s.settings.GitHub.Comment, err = config.ParseComment(text); err != nil {
			return fmt.Errorf("input comment: %w", err)
		}
	}
	w.name = string(s.settings.GitHub.CheckName)
	return w.configureMode(s)
}

func (w *workflow) configureMode(s *subject) error {
	switch text := w.app.Getenv("TOUCHSTONE_MODE"); text {
	case "":
	case "enforce":
		s.settings.Mode = "enforce"
	case "advisory":
		if s.settings.Mode != "advisory" {
			w.note("the input mode: advisory is less strict than %s of the base commit, which counts", config.Path)
		}
	default:
		return fmt.Errorf("input mode: %q is not enforce or advisory", text)
	}
	return nil
}

// ownName refuses a check that would stand in place of the job it runs in.
func (w *workflow) ownName(s *subject, post bool) error {
	if post && w.name == w.context.Job {
		return &exit{exitUsage, fmt.Errorf("%w: both are %q", github.ErrJobName, w.name)}
	}
	return nil
}

// exempted is the report of a change that base's rules do not ask about, nil
// for any other.
func (w *workflow) exempted(ctx context.Context, s *subject) *gate.Report {
	reason := w.exemption(ctx, s)
	if reason == "" {
		return nil
	}
	return &gate.Report{
		Schema: gate.SchemaVersion, Tool: "touchstone " + version,
		Change:  gate.ChangeInfo{Base: s.base, Head: s.head, Kind: "unknown", BaseWhy: s.baseWhy},
		Verdict: gate.Verdict{Conclusion: gate.NotApplicable, Reasons: []string{reason}},
	}
}

// skipLabel takes a pull request out, when somebody who may write sets it.
const skipLabel = "touchstone:skip"

func (w *workflow) exemption(ctx context.Context, s *subject) string {
	if s.pull == nil {
		return ""
	}
	for _, label := range s.pull.Labels {
		if label != skipLabel {
			continue
		}
		login, mayWrite, err := w.client.LabelledBy(ctx, s.pull.Number, skipLabel)
		switch {
		case err != nil:
			w.note("the label %s does not count, since nobody could be found who may set it: %v", skipLabel, err)
		case mayWrite:
			return fmt.Sprintf("%s set the label %s", login, skipLabel)
		default:
			w.note("the label %s does not count: %s cannot write to the repository", skipLabel, cmp.Or(login, "whoever set it"))
		}
	}
	return w.outOfScope(ctx, s)
}

// outOfScope says why applies_to leaves the change out. Where that could not be
// found out, it is in.
func (w *workflow) outOfScope(ctx context.Context, s *subject) string {
	scope := string(s.settings.AppliesTo)
	if name, ok := strings.CutPrefix(scope, "label:"); ok {
		for _, label := range s.pull.Labels {
			if label == name {
				return ""
			}
		}
		return fmt.Sprintf("applies_to is %s, and the pull request does not have the label", scope)
	}
	if scope != "agents" || w.agent(ctx, s).Likely || s.commitsErr != nil {
		return ""
	}
	return "applies_to is agents, and nothing says that an agent made this pull request"
}
