package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/github"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// lastWords is how long a run that was cancelled may still talk: a runner kills
// 7.5 seconds after it has asked.
const lastWords = 6 * time.Second

// remarksInLog is how many remarks stand in the log when they cannot stand
// beside the code: ten errors are shown, and one says why.
const remarksInLog = 9

// begin shows that the check runs. That it could not be shown is no reason not
// to run it: the posting of the result says what is wrong.
func (w *workflow) begin(ctx context.Context, s *subject) {
	if err := w.client.PutCheck(ctx, w.check(s, "", "Replaying the tests on base and on head", "Touchstone runs.")); err != nil {
		w.step.Notice("touchstone: " + w.secrets.hide(err.Error()))
	}
}

func (w *workflow) check(s *subject, conclusion, title, summary string) github.Check {
	check := github.Check{Name: w.name, HeadSHA: s.head, Conclusion: conclusion, Title: w.secrets.hide(title), Summary: w.secrets.hide(summary)}
	if w.context.RunID > 0 {
		check.DetailsURL = fmt.Sprintf("%s/%s/actions/runs/%d", w.context.ServerURL, w.context.Repository, w.context.RunID)
	}
	return check
}

// post publishes a result: the check run, then the comment. What cannot be
// posted changes no verdict.
func (w *workflow) post(ctx context.Context, s *subject, result *gate.Report) {
	remarks, omitted := report.Remarks(result, int(s.settings.GitHub.Annotations))
	text := report.Check(result, omitted)
	check := w.check(s, conclusion(result), text.Title, text.Summary)
	check.Text = text.Text
	for _, remark := range remarks {
		check.Annotations = append(check.Annotations, github.Annotation{Path: remark.Path, Line: remark.Line, Level: remark.Level, Title: remark.Title, Message: remark.Message})
	}
	if err := w.client.PutCheck(ctx, check); err != nil {
		w.step.Error("", 0, "touchstone: the check could not be posted, so this job's own result stands for it: "+w.secrets.hide(err.Error()))
		for _, remark := range remarks[:min(len(remarks), remarksInLog)] {
			w.step.Error(remark.Path, remark.Line, remark.Message)
		}
	}
	if err := w.comment(ctx, s, result); err != nil {
		w.step.Notice("touchstone: the comment could not be posted; the verdict stands: " + w.secrets.hide(err.Error()))
	}
}

// comment brings the pull request's comment up to date, unless a newer push has
// taken this run's place.
func (w *workflow) comment(ctx context.Context, s *subject, result *gate.Report) error {
	if s.pull == nil || s.settings.GitHub.Comment == "off" {
		return nil
	}
	now, err := w.client.Pull(ctx, s.pull.Number)
	if err != nil {
		return err
	}
	if now.HeadSHA != s.head {
		w.step.Notice(fmt.Sprintf("touchstone: the pull request has moved on from %.12s to %.12s; its comment is left to the newer run", s.head, now.HeadSHA))
		return nil
	}
	body, short := report.Comment(result, w.name)
	author := w.app.Getenv("TOUCHSTONE_COMMENT_AUTHOR")
	if author == "" {
		author = "github-actions[bot]"
	}
	bad := result.Verdict.Conclusion == gate.Fail || result.Verdict.Conclusion == gate.Undecided
	return w.client.PutComment(ctx, s.pull.Number, github.Comment{
		Marker: report.CommentMarker(w.name), Author: author, Body: body, Short: short,
		Create: s.settings.GitHub.Comment == "always" || bad,
	})
}

// conclusion is the verdict in GitHub's words. Not knowing is a failure: neutral
// and skipped count as green there.
func conclusion(result *gate.Report) string {
	switch {
	case result.Verdict.Conclusion == gate.Pass || result.Verdict.Conclusion == gate.NotApplicable:
		return "success"
	case result.Advisory:
		return "neutral"
	}
	return "failure"
}

// broken says that no verdict could be reached at all, in a check that fails in
// every mode, or that was cancelled; and returns the cause with its exit code.
func (w *workflow) broken(ctx context.Context, s *subject, post bool, cause error) error {
	words := w.secrets.hide(cause.Error())
	check := w.check(s, "failure", "Undecided: the check could not be carried out", "**UNDECIDED**: the check could not be carried out\n\n"+report.Prose(words, 3000)+"\n")
	if ctx.Err() != nil {
		check.Conclusion, check.Title, check.Summary = "cancelled", "Cancelled before there was a verdict", "The run was cancelled."
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer stop()
		ctx = last
	}
	if post && w.name != w.context.Job {
		if err := w.client.PutCheck(ctx, check); err != nil {
			w.step.Error("", 0, "touchstone: the check could not be posted: "+w.secrets.hide(err.Error()))
		}
	}
	err := errors.Join(w.step.Summary("## "+w.name+"\n\n"+check.Summary), w.step.Output("verdict", gate.Undecided.String()))
	if err != nil {
		w.step.Notice(err.Error())
	}
	var e *exit
	if errors.As(cause, &e) && e.cause != nil {
		return &exit{e.code, errors.New(words)}
	}
	return undecided(errors.New(words))
}
