package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoCommit says that nothing was ever committed.
var ErrNoCommit = errors.New("the repository has no commit yet: commit something first")

// Resolve returns the id of the commit that a revision names; a tag stands for
// the commit it is on. A short name that two refs have is an error, since
// whoever can push a tag could make it mean another commit.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("%q is not a revision: name a commit, a branch or a tag", rev)
	}
	call := r.command(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	id, err := call.line()
	said := call.said.text.String()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case strings.Contains(said, "is ambiguous") && !strings.Contains(said, "refname 'HEAD' is") && !strings.HasPrefix(rev, "refs/") && id != rev:
		return "", fmt.Errorf("the revision %q is ambiguous: it fits several commits or refs; write it in full (refs/heads/…, refs/remotes/…, refs/tags/…), or more of the commit id", rev)
	case err == nil:
		return id, nil
	}
	return "", r.unresolved(ctx, rev, said)
}

func (r *Repo) unresolved(ctx context.Context, rev, said string) error {
	switch {
	case strings.Contains(said, "expected commit type"):
		return fmt.Errorf("%q names no commit but another object: name a commit, a branch or a tag", rev)
	case rev == "HEAD":
		return ErrNoCommit
	case r.IsShallow(ctx):
		return fmt.Errorf("the revision %q is not in this shallow clone: fetch it (git fetch --unshallow, or fetch-depth: 0 in actions/checkout)", rev)
	}
	return fmt.Errorf("unknown revision %q: it is no commit, branch or tag of this repository (fetch it first if it is a remote's)", rev)
}

// TreeOf returns the tree id of a commit.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	id, err := r.command(ctx, "rev-parse", "--verify", "--end-of-options", commit+"^{tree}").line()
	if err != nil {
		return "", fmt.Errorf("reading the tree of %s: %w", commit, err)
	}
	return id, nil
}

// exists tells whether a ref names a commit.
func (r *Repo) exists(ctx context.Context, ref string) bool {
	_, err := r.command(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}").line()
	return err == nil
}

// isID tells whether a text is a whole SHA-1 or SHA-256 object id.
func isID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

func short(id string) string { return id[:min(12, len(id))] }
