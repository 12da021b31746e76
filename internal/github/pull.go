package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"
)

// ErrNoPull is a commit that is the head of no open pull request (any more).
var ErrNoPull = errors.New("no open pull request has this head")

// Pull reads one pull request.
func (c *Client) Pull(ctx context.Context, number int) (*Pull, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.repo, number)
	if err != nil {
		return nil, failed(fmt.Sprintf("reading pull request %d", number), "pull-requests: read", err)
	}
	pull := pullOf(p)
	return pull, pull.complete()
}

// PullOfRun finds the pull request that a workflow ran for. What the event says
// of it is only a hint: a fork's runs name none, and a run may name one that
// has moved on. It counts only if its head is the commit that ran.
func (c *Client) PullOfRun(ctx context.Context, run Run) (*Pull, error) {
	for _, number := range run.Pulls {
		pull, err := c.Pull(ctx, number)
		if err != nil {
			return nil, err
		}
		if pull.HeadSHA == run.HeadSHA && c.owns(pull) && !pull.Closed {
			return pull, nil
		}
	}
	var found *Pull
	err := pages(func(page github.ListOptions) (*github.Response, error) {
		pulls, resp, err := c.api.PullRequests.List(ctx, c.owner, c.repo, &github.PullRequestListOptions{State: "open", Head: run.HeadOwner + ":" + run.HeadBranch, ListOptions: page})
		for _, p := range pulls {
			if pull := pullOf(p); found == nil && pull.HeadSHA == run.HeadSHA && c.owns(pull) {
				found = pull
			}
		}
		return resp, err
	})
	switch {
	case err != nil:
		return nil, failed("looking for the pull request of "+run.HeadSHA, "pull-requests: read", err)
	case found == nil:
		return nil, fmt.Errorf("%w: %s", ErrNoPull, run.HeadSHA)
	}
	return found, found.complete()
}

// owns tells whether a pull request is one of this repository.
func (c *Client) owns(p *Pull) bool {
	return p.BaseRepository == "" || strings.EqualFold(p.BaseRepository, c.owner+"/"+c.repo)
}

// pages calls one page of a list after the other.
func pages(list func(github.ListOptions) (*github.Response, error)) error {
	options := github.ListOptions{PerPage: perPage}
	for range maxPages {
		resp, err := list(options)
		if err != nil {
			return err
		}
		if resp.NextPage == 0 {
			return nil
		}
		options.Page = resp.NextPage
	}
	return fmt.Errorf("a list has more than %d pages", maxPages)
}

// Commits are those of a pull request, oldest first; GitHub lists 250 at most.
func (c *Client) Commits(ctx context.Context, number int) ([]Commit, error) {
	var commits []Commit
	err := pages(func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.PullRequests.ListCommits(ctx, c.owner, c.repo, number, &page)
		for _, item := range list {
			git := item.GetCommit()
			commits = append(commits, Commit{Author: git.GetAuthor().GetEmail(), Message: git.GetMessage()})
		}
		return resp, err
	})
	return commits, failed(fmt.Sprintf("listing the commits of pull request %d", number), "pull-requests: read", err)
}

// Comparison is what GitHub says lies between two commits.
type Comparison struct {
	MergeBase string
	Paths     []string // changed paths, a renamed file's old one too, sorted
	Complete  bool     // Paths are all that changed
}

// Compare asks for the merge base of two commits and for what changed since.
// For a pull request its own list of files, which is longer, is read where the
// comparison's is full.
func (c *Client) Compare(ctx context.Context, base, head string, number int) (Comparison, error) {
	const comparedFiles = 300
	found, _, err := c.api.Repositories.CompareCommits(ctx, c.owner, c.repo, base, head, &github.ListOptions{PerPage: 1})
	if err != nil {
		return Comparison{}, failed(fmt.Sprintf("comparing %s with %s", base, head), "contents: read", err)
	}
	files := found.Files
	result := Comparison{MergeBase: found.GetMergeBaseCommit().GetSHA(), Complete: len(files) < comparedFiles}
	if !isCommit(result.MergeBase) {
		return Comparison{}, fmt.Errorf("comparing %s with %s: GitHub names no merge base", base, head)
	}
	if !result.Complete && number > 0 {
		files = nil
		err := pages(func(page github.ListOptions) (*github.Response, error) {
			list, resp, err := c.api.PullRequests.ListFiles(ctx, c.owner, c.repo, number, &page)
			files = append(files, list...)
			return resp, err
		})
		if err != nil {
			return Comparison{}, failed(fmt.Sprintf("listing the files of pull request %d", number), "pull-requests: read", err)
		}
		result.Complete = len(files) < maxFiles
	}
	for _, file := range files {
		result.Paths = append(result.Paths, file.GetFilename())
		if file.GetStatus() == "renamed" {
			result.Paths = append(result.Paths, file.GetPreviousFilename())
		}
	}
	slices.Sort(result.Paths)
	result.Paths = slices.Compact(result.Paths)
	return result, nil
}

// File reads a small file at a commit; nil when the commit does not have it.
func (c *Client) File(ctx context.Context, path, commit string) ([]byte, error) {
	file, _, _, err := c.api.Repositories.GetContents(ctx, c.owner, c.repo, path, &github.RepositoryContentGetOptions{Ref: commit})
	what := fmt.Sprintf("reading %s at %s", path, commit)
	switch {
	case statusOf(err) == 404:
		return nil, nil
	case err != nil:
		return nil, failed(what, "contents: read", err)
	case file == nil || file.GetType() != "file" && file.GetType() != "":
		return nil, fmt.Errorf("%s: it is no plain file there", what)
	case file.GetSize() > maxConfig:
		return nil, fmt.Errorf("%s: it has %d bytes, more than %d", what, file.GetSize(), maxConfig)
	}
	text, err := file.GetContent()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return []byte(text), nil
}

// LabelledBy names who last set a label, and tells whether they may write to
// the repository. "" means that nobody is seen to have.
func (c *Client) LabelledBy(ctx context.Context, number int, label string) (login string, mayWrite bool, err error) {
	err = pages(func(page github.ListOptions) (*github.Response, error) {
		events, resp, err := c.api.Issues.ListIssueEvents(ctx, c.owner, c.repo, number, &page)
		for _, e := range events {
			if e.GetEvent() == "labeled" && e.GetLabel().GetName() == label {
				login = e.GetActor().GetLogin()
			}
		}
		return resp, err
	})
	if err != nil || login == "" {
		return "", false, failed("finding who set the label "+label, "issues: read, pull-requests: read", err)
	}
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, c.owner, c.repo, login)
	if err != nil {
		return login, false, failed("asking what "+login+" may do", "metadata: read", err)
	}
	return login, slices.Contains([]string{"admin", "maintain", "write"}, level.GetPermission()), nil
}
