package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Config says whom to talk to, and how long to wait for it.
type Config struct {
	APIURL     string // https://api.github.com, or https://HOST/api/v3
	Token      string // "" reads public repositories only
	Repository string // owner/name
	UserAgent  string

	// Budget bounds the time spent waiting for limits in all; 0 means five minutes.
	Budget time.Duration
	// Now and Sleep are the clock; nil means the real one.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Client is one repository on GitHub. It is not safe for use by several
// goroutines: requests go out one after the other, as GitHub asks for.
type Client struct {
	api         *github.Client
	owner, repo string
}

// New makes a client. No request is sent.
func New(c Config) (*Client, error) {
	owner, repo, ok := strings.Cut(c.Repository, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") {
		return nil, fmt.Errorf("%q is not a repository's owner/name: set GITHUB_REPOSITORY", c.Repository)
	}
	base, err := url.Parse(strings.TrimSuffix(c.APIURL, "/") + "/")
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("%q is not the address of a GitHub API: set GITHUB_API_URL, as https://api.github.com or https://HOST/api/v3", c.APIURL)
	}
	api := github.NewClient(&http.Client{Transport: newTransport(c, base), Timeout: 0})
	api.BaseURL, api.UserAgent = base, c.UserAgent
	return &Client{api: api, owner: owner, repo: repo}, nil
}
