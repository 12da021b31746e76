package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Check is one check run as it should stand on a commit.
type Check struct {
	Name       string
	HeadSHA    string
	DetailsURL string
	// Conclusion is success, failure, neutral or cancelled; "" while it runs.
	Conclusion  string
	Title       string
	Summary     string // Markdown
	Text        string // Markdown
	Annotations []Annotation
}

// Annotation is a remark on lines of a file.
type Annotation struct {
	Path    string // repository-relative, with slashes
	Line    int    // from 1
	End     int    // last line, 0 for Line
	Level   string // failure, warning, notice
	Title   string
	Message string
	Details string
}

// ErrJobName is a check name that a workflow's job has: GitHub would show one in
// the other's place, and a job's own run is not ours to write.
var ErrJobName = errors.New("a job of a workflow has the check's name: set check-name, or rename the job")

// externalID marks our check run of a commit.
func externalID(sha string) string { return "touchstone:" + sha }

// PutCheck makes the commit's check run be the one given: by editing it where
// it exists, else by creating it. It writes nothing when nothing would change.
// The conclusion comes with the last annotations, never before.
func (c *Client) PutCheck(ctx context.Context, check Check) error {
	check = check.fitted()
	found, err := c.findCheck(ctx, check)
	if err != nil {
		return err
	}
	if found != nil && check.stands(found) {
		return nil
	}
	if found == nil {
		run, left, err := c.createCheck(ctx, check)
		if err != nil || len(left) == 0 {
			return failed("creating the check run", "checks: write", err)
		}
		return c.finish(ctx, check, run, left, true)
	}
	pending := check.Annotations
	if found.GetOutput().GetAnnotationsCount() > 0 {
		if pending, err = c.missing(ctx, found, pending); err != nil {
			return failed("listing the check run's annotations", "checks: read", err)
		}
	}
	return c.finish(ctx, check, found, pending, true)
}

// finish sends the annotations that are left, the last of them with the
// conclusion. mayRenew allows one new run where the old one belongs to another
// app.
func (c *Client) finish(ctx context.Context, check Check, found *github.CheckRun, pending []Annotation, mayRenew bool) error {
	for tries := 0; ; {
		chunk, rest := pending[:min(perRequest, len(pending))], pending[min(perRequest, len(pending)):]
		err := c.updateCheck(ctx, found, check, chunk, len(rest) == 0)
		switch {
		case err == nil && len(rest) == 0:
			return nil
		case err == nil:
			pending = rest
		case mayRenew && strings.Contains(err.Error(), "Invalid app_id"):
			run, left, err := c.createCheck(ctx, check)
			if err != nil || len(left) == 0 {
				return failed("creating the check run anew", "checks: write", err)
			}
			return c.finish(ctx, check, run, left, false)
		case unsure(err) && tries < 2:
			tries++
			if pending, err = c.missing(ctx, found, pending); err != nil {
				return failed("listing the check run's annotations", "checks: read", err)
			}
		default:
			return failed("updating the check run", "checks: write", err)
		}
	}
}

// findCheck looks for our run of the commit, the oldest where there are several.
func (c *Client) findCheck(ctx context.Context, check Check) (*github.CheckRun, error) {
	var found, job *github.CheckRun
	err := pages(func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, c.owner, c.repo, check.HeadSHA, &github.ListCheckRunsOptions{CheckName: &check.Name, Filter: github.String("all"), ListOptions: page})
		if err != nil {
			return resp, err
		}
		for _, run := range list.CheckRuns {
			switch {
			case run.GetExternalID() == externalID(check.HeadSHA):
				if found == nil || run.GetID() < found.GetID() {
					found = run
				}
			case run.GetApp().GetSlug() == "github-actions":
				job = run
			}
		}
		return resp, nil
	})
	if err != nil {
		return nil, failed("looking for the check run", "checks: write", err)
	}
	if job != nil {
		return nil, fmt.Errorf("%w (%q)", ErrJobName, check.Name)
	}
	return found, nil
}

// createCheck posts a new run with the first annotations, and returns those
// that are left; nil when the run is as it should be. A POST that may have
// landed is looked for before it is sent again.
func (c *Client) createCheck(ctx context.Context, check Check) (*github.CheckRun, []Annotation, error) {
	chunk, rest := check.Annotations[:min(perRequest, len(check.Annotations))], check.Annotations[min(perRequest, len(check.Annotations)):]
	options := github.CreateCheckRunOptions{
		Name: check.Name, HeadSHA: check.HeadSHA, ExternalID: github.String(externalID(check.HeadSHA)), DetailsURL: optional(check.DetailsURL),
		Status: github.String("in_progress"), Output: check.output(chunk),
	}
	if len(rest) == 0 && check.Conclusion != "" {
		options.Status, options.Conclusion = github.String("completed"), github.String(check.Conclusion)
	}
	run, _, err := c.api.Checks.CreateCheckRun(ctx, c.owner, c.repo, options)
	if unsure(err) {
		landed, looked := c.findCheck(ctx, check)
		if looked != nil {
			return nil, nil, err
		}
		if landed != nil {
			return landed, rest, nil
		}
		run, _, err = c.api.Checks.CreateCheckRun(ctx, c.owner, c.repo, options)
	}
	return run, rest, err
}

// updateCheck edits a run. Title, summary and text stand in each request: what is
// left out is emptied.
func (c *Client) updateCheck(ctx context.Context, run *github.CheckRun, check Check, chunk []Annotation, last bool) error {
	options := github.UpdateCheckRunOptions{
		Name: check.Name, ExternalID: github.String(externalID(check.HeadSHA)), DetailsURL: optional(check.DetailsURL),
		Status: github.String("in_progress"), Output: check.output(chunk),
	}
	if last && check.Conclusion != "" {
		options.Status, options.Conclusion = github.String("completed"), github.String(check.Conclusion)
	}
	if len(chunk) > 0 {
		ctx = once(ctx)
	}
	_, _, err := c.api.Checks.UpdateCheckRun(ctx, c.owner, c.repo, run.GetID(), options)
	return err
}

// missing are the annotations that a run does not have yet: GitHub adds those
// of an edit to those that stand there.
func (c *Client) missing(ctx context.Context, run *github.CheckRun, wanted []Annotation) ([]Annotation, error) {
	if len(wanted) == 0 {
		return wanted, nil
	}
	type key struct {
		path, message string
		line          int
	}
	there := make(map[key]bool)
	err := pages(func(page github.ListOptions) (*github.Response, error) {
		list, resp, err := c.api.Checks.ListCheckRunAnnotations(ctx, c.owner, c.repo, run.GetID(), &page)
		for _, a := range list {
			there[key{a.GetPath(), a.GetMessage(), a.GetStartLine()}] = true
		}
		return resp, err
	})
	var left []Annotation
	for _, a := range wanted {
		if !there[key{a.Path, a.Message, a.Line}] {
			left = append(left, a)
		}
	}
	return left, err
}

// stands tells whether a run says what it should already.
func (check Check) stands(run *github.CheckRun) bool {
	return check.Conclusion != "" && run.GetConclusion() == check.Conclusion && run.GetOutput().GetTitle() == check.Title &&
		run.GetOutput().GetSummary() == check.Summary && run.GetOutput().GetText() == check.Text
}

// fitted is the check within GitHub's limits.
func (check Check) fitted() Check {
	check.Title = clip(check.Title, maxTitle)
	check.Summary, check.Text = clipLines(check.Summary, maxText), clipLines(check.Text, maxText)
	fitted := make([]Annotation, 0, len(check.Annotations))
	for _, a := range check.Annotations {
		a.Line = max(a.Line, 1)
		a.End = max(a.End, a.Line)
		a.Title, a.Message, a.Details = clip(a.Title, maxTitle), clip(a.Message, maxMessage), clip(a.Details, maxMessage)
		if a.Path != "" && a.Message != "" {
			fitted = append(fitted, a)
		}
	}
	check.Annotations = fitted
	return check
}

func (check Check) output(chunk []Annotation) *github.CheckRunOutput {
	output := &github.CheckRunOutput{Title: &check.Title, Summary: &check.Summary, Text: &check.Text}
	for _, a := range chunk {
		output.Annotations = append(output.Annotations, &github.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.Line, EndLine: &a.End, AnnotationLevel: &a.Level, Message: &a.Message,
			Title: optional(a.Title), RawDetails: optional(a.Details),
		})
	}
	return output
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
