package github

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v62/github"
)

// Failure is a request that GitHub did not grant, in words that say what to do.
type Failure struct {
	What   string // "posting the check run"
	Status int    // 0 when there was no answer
	Advice string
	cause  error
}

func (f *Failure) Error() string {
	words := fmt.Sprintf("%s: %v", f.What, f.cause)
	if f.Advice != "" {
		words += ": " + f.Advice
	}
	return words
}

func (f *Failure) Unwrap() error { return f.cause }

// failed wraps an error of a request. permission is what the request needs, as
// a workflow writes it ("checks: write").
func failed(what, permission string, err error) error {
	if err == nil {
		return nil
	}
	f := &Failure{What: what, Status: statusOf(err), cause: err}
	var refused *github.ErrorResponse
	message := ""
	if errors.As(err, &refused) {
		message = refused.Message
		f.cause = fmt.Errorf("GitHub answers %d %s", f.Status, brief(refused))
		if header := refused.Response.Header.Get("X-Accepted-GitHub-Permissions"); header != "" && f.Status == http.StatusForbidden {
			permission = strings.NewReplacer("=", ": ", ";", " or", "_", "-").Replace(clip(header, 200))
		}
	}
	switch {
	case strings.Contains(message, "authenticate via a GitHub App"):
		f.Advice = "only a GitHub App can write check runs: use the workflow's own GITHUB_TOKEN, not a personal access token"
	case f.Status == http.StatusUnauthorized:
		f.Advice = "the token is not valid here: pass the workflow's own GITHUB_TOKEN"
	case f.Status == http.StatusForbidden:
		f.Advice = fmt.Sprintf("give the job permissions: {%s}; a pull request from a fork gets a token that cannot write, whatever the workflow says: publish in a second workflow (docs/github.md)", permission)
	case f.Status == http.StatusNotFound:
		f.Advice = fmt.Sprintf("it is not there, or the token cannot see it: give the job permissions: {%s}", permission)
	}
	return f
}

// statusOf is the HTTP status of an error, 0 when there was no answer.
func statusOf(err error) int {
	var refused *github.ErrorResponse
	if errors.As(err, &refused) && refused.Response != nil {
		return refused.Response.StatusCode
	}
	return 0
}

// unsure tells whether a request may have landed although it failed.
func unsure(err error) bool {
	status := statusOf(err)
	return err != nil && !errors.Is(err, errBudget) && (status == 0 || status >= 500)
}

func brief(refused *github.ErrorResponse) string {
	words := clip(strings.Join(strings.Fields(refused.Message), " "), 300)
	for _, e := range refused.Errors {
		if e.Message != "" {
			words += " (" + clip(strings.Join(strings.Fields(e.Message), " "), 200) + ")"
			break
		}
	}
	return words
}
