package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

var pullNumber = lazyregexp.New(`^#?([1-9][0-9]{0,7})$`)

// PullNumber reads "#12" and "12" as the number of a pull request; ok is false
// for any other name, and for a bare number that is a branch or a tag here.
func (r *Repo) PullNumber(ctx context.Context, name string) (number string, ok bool) {
	m := pullNumber.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	if !strings.HasPrefix(name, "#") && (r.exists(ctx, "refs/heads/"+name) || r.exists(ctx, "refs/tags/"+name)) {
		return "", false
	}
	return m[1], true
}

// Pull returns the head commit of a pull request as the remote origin has it
// (refs/pull/N/head). What is missing of it is fetched into a directory of our
// own, which Close removes: no ref of the repository moves, and nothing is
// written to it. It is the only function of Repo that talks to a remote.
func (r *Repo) Pull(ctx context.Context, number string) (commit string, err error) {
	if _, err := r.command(ctx, "config", "--get", "remote.origin.url").line(); err != nil {
		return "", fmt.Errorf("pull request %s: this repository has no remote named origin to ask: add it, or give a branch or a commit instead", number)
	}
	ref := "refs/pull/" + number + "/head"
	said, err := r.remotely(ctx, "ls-remote", "--", "origin", ref).line()
	if err != nil {
		return "", fmt.Errorf("pull request %s: asking origin for %s: %w: fetch it yourself (git fetch origin pull/%s/head) and give the commit", number, ref, err, number)
	}
	commit, _, _ = strings.Cut(said, "\t")
	if !isID(commit) {
		return "", fmt.Errorf("pull request %s: origin has no %s: is that the number, and is origin where it was opened?", number, ref)
	}
	if r.exists(ctx, commit) {
		return commit, nil
	}
	_, err = r.remotely(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--", "origin", ref).output(1 << 20)
	if err != nil {
		return "", fmt.Errorf("pull request %s: fetching %s from origin: %w", number, ref, err)
	}
	if !r.exists(ctx, commit) {
		return "", fmt.Errorf("pull request %s: it moved while it was fetched: try again", number)
	}
	return commit, nil
}

// remotely is a call that may talk to a remote.
func (r *Repo) remotely(ctx context.Context, args ...string) *call {
	c := r.command(ctx, args...)
	c.Env = append(c.Env, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	return c
}
