package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Resolve returns the id of the commit that a revision names.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("%q is not a revision: name a commit, a branch or a tag", rev)
	}
	out, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case rev == "HEAD":
		return "", errors.New("the repository has no commit yet: commit something first")
	case r.IsShallow(ctx):
		return "", fmt.Errorf("the revision %q is not in this shallow clone: fetch it (git fetch --unshallow, or fetch-depth: 0 in actions/checkout)", rev)
	}
	return "", fmt.Errorf("unknown revision %q: it is no commit, branch or tag of this repository (fetch it first if it is a remote's)", rev)
}

// TreeOf returns the tree id of a commit.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	out, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("reading the tree of %s: %w", commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// IsShallow tells whether the clone lacks part of its history.
func (r *Repo) IsShallow(ctx context.Context) bool {
	out, err := r.output(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// MergeBase returns the best common ancestor of two commits.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.output(ctx, "merge-base", "--end-of-options", a, b)
	if err == nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return first, nil
	}
	switch {
	case status(err) != 1:
		return "", fmt.Errorf("finding the merge base of %s and %s: %w", a, b, err)
	case r.IsShallow(ctx):
		return "", fmt.Errorf("the merge base of %s and %s is not in this shallow clone: run git fetch --unshallow (fetch-depth: 0 in actions/checkout)", short(a), short(b))
	}
	return "", fmt.Errorf("%s and %s share no history: name the commit to compare with by --base", short(a), short(b))
}

func short(id string) string { return id[:min(12, len(id))] }

// defaultNames are tried when the repository does not say what its default
// branch is.
var defaultNames = []string{"main", "master", "trunk", "develop"}

// DefaultBranch finds the branch that changes are compared with, and says how.
func (r *Repo) DefaultBranch(ctx context.Context) (rev, why string, err error) {
	if out, err := r.output(ctx, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil {
		name := strings.TrimSpace(string(out))
		if r.exists(ctx, name) {
			return name, "origin's default branch", nil
		}
	}
	names := defaultNames
	if out, err := r.output(ctx, "config", "--get", "init.defaultBranch"); err == nil {
		names = append([]string{strings.TrimSpace(string(out))}, names...)
	}
	for _, prefix := range []string{"refs/remotes/origin/", "refs/remotes/upstream/", "refs/heads/"} {
		for _, name := range names {
			if r.exists(ctx, prefix+name) {
				return prefix + name, strings.TrimPrefix(strings.TrimPrefix(prefix+name, "refs/heads/"), "refs/remotes/") + " by its name", nil
			}
		}
	}
	return "", "", fmt.Errorf("the default branch is not known (no origin/HEAD, and no branch named %s): name what to compare with by --base", strings.Join(names, ", "))
}

func (r *Repo) exists(ctx context.Context, ref string) bool {
	_, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	return err == nil
}

// Subjects are the subject lines of base..head, newest first, at most 200.
func (r *Repo) Subjects(ctx context.Context, base, head string) ([]string, error) {
	out, err := r.output(ctx, "log", "-z", "--max-count=200", "--format=%s", "--no-show-signature", "--end-of-options", base+".."+head)
	if err != nil {
		return nil, fmt.Errorf("reading the commits of %s..%s: %w", short(base), short(head), err)
	}
	var subjects []string
	for _, subject := range strings.Split(string(out), "\x00") {
		if subject = strings.TrimSpace(subject); subject != "" {
			subjects = append(subjects, subject)
		}
	}
	return subjects, nil
}

// RepositoryName guesses "owner/name" from origin's address, "" when there is
// none. It is for people and steers nothing.
func (r *Repo) RepositoryName(ctx context.Context) string {
	out, err := r.output(ctx, "config", "--get", "remote.origin.url")
	if err != nil {
		return ""
	}
	address := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(string(out)), "/"), ".git")
	parts := strings.FieldsFunc(address, func(c rune) bool { return c == '/' || c == ':' })
	if len(parts) < 3 || strings.HasPrefix(address, "/") || strings.HasPrefix(address, ".") {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}

// Snapshot writes the work tree, with all that is not committed and not
// ignored, as a tree, and returns its id. The repository's index, objects and
// refs stay as they are: a copy of the index and an object directory of ours
// take the writes. Unresolved conflicts are an error unless conflicts allows
// them; then files stand in the tree as they are on disk, markers and all.
func (r *Repo) Snapshot(ctx context.Context, conflicts bool) (tree string, err error) {
	index := filepath.Join(r.scratch, "index")
	if err := r.copyIndex(ctx, index); err != nil {
		return "", err
	}
	if !conflicts {
		if err := r.refuseConflicts(ctx, index); err != nil {
			return "", err
		}
	}
	add := r.command(ctx, "add", "--all", "--ignore-errors", "--", ".")
	add.Env = append(add.Env, "GIT_INDEX_FILE="+index)
	if _, err := run(add, "add"); err != nil && ctx.Err() == nil {
		return "", fmt.Errorf("reading the work tree: %w: make the file readable, or ignore it in .gitignore", err)
	}
	write := r.command(ctx, "write-tree")
	write.Env = append(write.Env, "GIT_INDEX_FILE="+index)
	out, err := run(write, "write-tree")
	if err != nil {
		return "", fmt.Errorf("writing the work tree as a tree: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// copyIndex copies the user's index, whose stat data saves reading every file.
func (r *Repo) copyIndex(ctx context.Context, to string) error {
	out, err := r.output(ctx, "rev-parse", "--git-path", "index")
	if err != nil {
		return fmt.Errorf("finding the index: %w", err)
	}
	from := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(from) {
		from = filepath.Join(r.root, from)
	}
	content, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		return fmt.Errorf("copying the index: %w", err)
	}
	// git trusts stat data older than the index itself: keep the index's time.
	if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil {
		return fmt.Errorf("copying the index: %w", err)
	}
	return nil
}

func (r *Repo) refuseConflicts(ctx context.Context, index string) error {
	list := r.command(ctx, "ls-files", "--unmerged", "-z")
	list.Env = append(list.Env, "GIT_INDEX_FILE="+index)
	out, err := run(list, "ls-files")
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	var names []string
	for _, record := range strings.Split(string(out), "\x00") {
		if _, path, ok := strings.Cut(record, "\t"); ok && (len(names) == 0 || names[len(names)-1] != path) {
			names = append(names, path)
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if len(names) > 5 {
		more = fmt.Sprintf(" and %d more", len(names)-5)
		names = names[:5]
	}
	return fmt.Errorf("the work tree has unresolved conflicts in %q%s: resolve them, or name a commit by --head", names, more)
}
