package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Comment is the one comment of a check on a pull request.
type Comment struct {
	// Marker is how the body begins on every run of the same check, hidden in an
	// HTML comment.
	Marker string
	// Author is the login that comments with our token. Others can write the
	// marker too.
	Author string
	Body   string // begins with Marker
	Short  string // in Body's place, should GitHub find it too long
	// Create is set when the comment is to be made where there is none. Without
	// it only one that stands there is brought up to date.
	Create bool
}

// PutComment makes the pull request have this comment, once. It writes nothing
// when nothing would change, and never deletes what says something: only its own
// second copy, when two jobs have commented at the same time.
func (c *Client) PutComment(ctx context.Context, number int, comment Comment) error {
	ours, err := c.comments(ctx, number, comment)
	if err != nil {
		return failed("listing the comments", "pull-requests: write", err)
	}
	switch {
	case len(ours) > 0:
		return failed("editing the comment", "pull-requests: write", c.edit(ctx, ours[0], comment))
	case !comment.Create:
		return nil
	}
	made, err := c.create(ctx, number, comment)
	if err != nil {
		return failed("commenting", "pull-requests: write", err)
	}
	return failed("leaving one comment of several", "pull-requests: write", c.settle(ctx, number, comment, made))
}

// comments are those of ours, oldest first, on whatever page they stand.
func (c *Client) comments(ctx context.Context, number int, comment Comment) (ours []*github.IssueComment, err error) {
	err = pages(func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.Issues.ListComments(ctx, c.owner, c.repo, number, &github.IssueListCommentsOptions{ListOptions: page})
		for _, item := range list {
			if item.GetUser().GetLogin() == comment.Author && strings.HasPrefix(item.GetBody(), comment.Marker) {
				ours = append(ours, item)
			}
		}
		return resp, err
	})
	return ours, err
}

func (c *Client) edit(ctx context.Context, old *github.IssueComment, comment Comment) error {
	if same(old.GetBody(), comment.Body) || same(old.GetBody(), comment.Short) {
		return nil
	}
	return c.withinLimit(comment, func(body string) error {
		_, _, err := c.api.Issues.EditComment(ctx, c.owner, c.repo, old.GetID(), &github.IssueComment{Body: &body})
		return err
	})
}

func (c *Client) create(ctx context.Context, number int, comment Comment) (made *github.IssueComment, err error) {
	post := func(body string) error {
		made, _, err = c.api.Issues.CreateComment(ctx, c.owner, c.repo, number, &github.IssueComment{Body: &body})
		return err
	}
	err = c.withinLimit(comment, post)
	if !unsure(err) {
		return made, err
	}
	ours, looked := c.comments(ctx, number, comment)
	switch {
	case looked != nil:
		return nil, err
	case len(ours) > 0:
		return ours[0], nil
	}
	return made, c.withinLimit(comment, post)
}

// withinLimit sends the body, and its short form once if GitHub finds it too
// long.
func (c *Client) withinLimit(comment Comment, send func(body string) error) error {
	err := send(clipLines(comment.Body, maxComment))
	if statusOf(err) == http.StatusUnprocessableEntity && comment.Short != "" {
		return send(comment.Short)
	}
	return err
}

// settle looks again after a comment was made: of several that jobs made side by
// side the oldest stays, with this run's text, and ours goes.
func (c *Client) settle(ctx context.Context, number int, comment Comment, made *github.IssueComment) error {
	ours, err := c.comments(ctx, number, comment)
	if err != nil || len(ours) == 0 || ours[0].GetID() == made.GetID() {
		return err
	}
	if err := c.edit(ctx, ours[0], comment); err != nil {
		return err
	}
	if _, err := c.api.Issues.DeleteComment(ctx, c.owner, c.repo, made.GetID()); err != nil && statusOf(err) != http.StatusNotFound {
		return fmt.Errorf("removing our second comment %d: %w", made.GetID(), err)
	}
	return nil
}

// same compares bodies as GitHub keeps them.
func same(a, b string) bool {
	clean := func(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
	return b != "" && clean(a) == clean(b)
}
