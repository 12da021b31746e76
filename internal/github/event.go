package github

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Kind is what an event is to the gate. The zero value is one that it does not
// know.
type Kind uint8

const (
	Unknown     Kind = iota
	PullRequest      // pull_request, pull_request_target
	MergeGroup       // merge_group
	WorkflowRun      // workflow_run: another workflow, which ran the tests, has ended
	Dispatch         // workflow_dispatch
	Refresh          // push, schedule: no change to judge
)

// Event is what started the workflow, as far as the gate reads it.
type Event struct {
	Kind   Kind
	Name   string // GITHUB_EVENT_NAME
	Action string
	Pull   *Pull // of PullRequest
	Base   string
	Head   string // with Base of MergeGroup
	Number int    // the pull request that a Dispatch names, 0 for none
	Run    Run    // of WorkflowRun
	// Aside is the ref of a Refresh that is not the default branch's, else "".
	Aside string
}

// Run is the workflow run that a workflow_run event is about.
type Run struct {
	Event      string // the event that started it
	HeadSHA    string
	HeadBranch string
	HeadOwner  string
	Pulls      []int // empty for pull requests from forks
}

// Pull is a pull request as GitHub describes it.
type Pull struct {
	Number           int
	Title, Body      string
	Author           string
	AuthorID         int64
	HeadSHA, HeadRef string
	HeadRepository   string // "" when the fork is gone
	BaseSHA, BaseRef string
	BaseRepository   string
	Closed, Draft    bool
	Labels           []string
}

// ReadEvent reads an event's payload. An event that the gate has no use for is
// no error: its Kind is Unknown.
func ReadEvent(name string, payload []byte) (Event, error) {
	e := Event{Name: name}
	if len(payload) > maxEventBytes {
		return e, fmt.Errorf("the event's payload has %d bytes: more than %d are not read", len(payload), maxEventBytes)
	}
	var err error
	switch name {
	case "pull_request", "pull_request_target":
		err = e.readPull(payload)
	case "merge_group":
		err = e.readMergeGroup(payload)
	case "workflow_run":
		err = e.readRun(payload)
	case "workflow_dispatch":
		err = e.readDispatch(payload)
	case "push":
		err = e.readPush(payload)
	case "schedule": // always of the default branch
		e.Kind = Refresh
	}
	if err != nil {
		return e, fmt.Errorf("reading the event %s: %w", name, err)
	}
	return e, nil
}

func (e *Event) readPull(payload []byte) error {
	var p github.PullRequestEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	e.Kind, e.Action = PullRequest, p.GetAction()
	e.Pull = pullOf(p.PullRequest)
	return e.Pull.complete()
}

func (e *Event) readMergeGroup(payload []byte) error {
	var p github.MergeGroupEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	e.Kind, e.Action = MergeGroup, p.GetAction()
	e.Base, e.Head = p.MergeGroup.GetBaseSHA(), p.MergeGroup.GetHeadSHA()
	if !isCommit(e.Base) || !isCommit(e.Head) {
		return fmt.Errorf("its base %q and head %q are not two commit ids", e.Base, e.Head)
	}
	return nil
}

func (e *Event) readRun(payload []byte) error {
	var p github.WorkflowRunEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	run := p.GetWorkflowRun()
	e.Kind, e.Action = WorkflowRun, p.GetAction()
	e.Run = Run{
		Event: run.GetEvent(), HeadSHA: run.GetHeadSHA(), HeadBranch: run.GetHeadBranch(),
		HeadOwner: run.GetHeadRepository().GetOwner().GetLogin(),
	}
	if run != nil {
		for _, pull := range run.PullRequests {
			e.Run.Pulls = append(e.Run.Pulls, pull.GetNumber())
		}
	}
	if !isCommit(e.Run.HeadSHA) {
		return fmt.Errorf("its run's head %q is no commit id", e.Run.HeadSHA)
	}
	return nil
}

// readPush tells the default branch from others.
func (e *Event) readPush(payload []byte) error {
	e.Kind = Refresh
	var p github.PushEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	if branch := p.GetRepo().GetDefaultBranch(); branch == "" || p.GetRef() != "refs/heads/"+branch {
		e.Aside = p.GetRef()
	}
	return nil
}

// readDispatch takes the input named pr, or pull_request.
func (e *Event) readDispatch(payload []byte) error {
	e.Kind = Dispatch
	var p struct {
		Inputs map[string]any `json:"inputs"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return err
	}
	for _, name := range []string{"pr", "pull_request"} {
		if text := strings.TrimPrefix(fmt.Sprint(p.Inputs[name]), "#"); p.Inputs[name] != nil && text != "" {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 {
				return fmt.Errorf("its input %s is %q, not the number of a pull request", name, text)
			}
			e.Number = number
			return nil
		}
	}
	return nil
}

func pullOf(p *github.PullRequest) *Pull {
	pull := &Pull{
		Number: p.GetNumber(), Title: p.GetTitle(), Body: p.GetBody(), Author: p.GetUser().GetLogin(), AuthorID: p.GetUser().GetID(),
		HeadSHA: p.GetHead().GetSHA(), HeadRef: p.GetHead().GetRef(), HeadRepository: p.GetHead().GetRepo().GetFullName(),
		BaseSHA: p.GetBase().GetSHA(), BaseRef: p.GetBase().GetRef(), BaseRepository: p.GetBase().GetRepo().GetFullName(),
		Closed: p.GetState() == "closed", Draft: p.GetDraft(),
	}
	if p != nil {
		for _, label := range p.Labels {
			pull.Labels = append(pull.Labels, label.GetName())
		}
	}
	return pull
}

// complete refuses a pull request that names no pair of commits.
func (p *Pull) complete() error {
	if p.Number < 1 || !isCommit(p.HeadSHA) || !isCommit(p.BaseSHA) {
		return fmt.Errorf("pull request %d has the head %q and the base %q: a number and two commit ids are needed", p.Number, p.HeadSHA, p.BaseSHA)
	}
	return nil
}

// isCommit tells whether a text is a whole commit id.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
