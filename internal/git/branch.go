package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// defaultNames are tried when the repository does not say what its default
// branch is.
var defaultNames = []string{"main", "master", "trunk", "develop"}

// DefaultBranch finds the branch that changes are compared with, as a full ref,
// and says how. What a remote has comes before a local branch of the same name:
// work done on the default branch itself is then compared with what was pushed.
func (r *Repo) DefaultBranch(ctx context.Context) (rev, why string, err error) {
	named, err := r.command(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD").line()
	if err == nil && r.exists(ctx, named) {
		return named, "origin's default branch", nil
	}
	names := defaultNames
	if name, err := r.command(ctx, "config", "--get", "init.defaultBranch").line(); err == nil && name != "" {
		names = slices.Compact(append([]string{name}, names...))
	}
	for _, prefix := range []string{"refs/remotes/origin/", "refs/remotes/upstream/", "refs/heads/"} {
		for _, name := range names {
			if r.exists(ctx, prefix+name) {
				return prefix + name, shown(prefix+name) + " by its name", nil
			}
		}
	}
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	return "", "", fmt.Errorf("the default branch is not known (no origin/HEAD, and no branch named %s): name what to compare with by --base", strings.Join(names, ", "))
}

// shown is a full ref the way people write it.
func shown(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/")
}

// RepositoryName guesses "owner/name" from origin's address, "" when there is
// none. It is for people and steers nothing.
func (r *Repo) RepositoryName(ctx context.Context) string {
	address, err := r.command(ctx, "config", "--get", "remote.origin.url").line()
	if err != nil {
		return ""
	}
	address = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(address), "/"), ".git")
	parts := strings.FieldsFunc(address, func(c rune) bool { return c == '/' || c == ':' })
	if len(parts) < 3 || strings.HasPrefix(address, "/") || strings.HasPrefix(address, ".") {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}
