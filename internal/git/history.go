package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/lazyregexp"
)

// MaxSubjects is how many commits Subjects reads.
const MaxSubjects = 200

// IsShallow tells whether the clone lacks part of its history.
func (r *Repo) IsShallow(ctx context.Context) bool {
	out, err := r.command(ctx, "rev-parse", "--is-shallow-repository").line()
	return err == nil && out == "true"
}

// MergeBase returns the best common ancestor of two commits. That there is none
// and that this clone does not reach it are errors of different words.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := r.command(ctx, "merge-base", "--end-of-options", a, b).line()
	switch {
	case err == nil:
		return out, nil
	case status(err) != 1:
		return "", fmt.Errorf("finding the merge base of %s and %s: %w", a, b, err)
	case r.IsShallow(ctx):
		return "", fmt.Errorf("the merge base of %s and %s is not in this shallow clone, which holds %s and %s of their commits: run git fetch --unshallow (fetch-depth: 0 in actions/checkout)",
			short(a), short(b), r.depth(ctx, a), r.depth(ctx, b))
	}
	return "", fmt.Errorf("%s and %s share no history: name the commit to compare with by --base", short(a), short(b))
}

// depth is how many commits of a history the clone holds, for people.
func (r *Repo) depth(ctx context.Context, commit string) string {
	count, err := r.command(ctx, "rev-list", "--count", "--end-of-options", commit).line()
	if err != nil {
		return "an unknown number"
	}
	return count
}

// Subjects are the subject lines of base..head, newest first, at most MaxSubjects.
func (r *Repo) Subjects(ctx context.Context, base, head string) ([]string, error) {
	var subjects []string
	err := r.command(ctx, "log", "-z", fmt.Sprintf("--max-count=%d", MaxSubjects), "--format=%<(1000,trunc)%s", "--encoding=UTF-8", "--no-color", "--no-show-signature",
		"--end-of-options", base+".."+head).records(func(subject string) error {
		if subject = strings.TrimSpace(subject); subject != "" {
			subjects = append(subjects, subject)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the commits of %s..%s: %w", short(base), short(head), err)
	}
	return subjects, nil
}

var reverts = lazyregexp.New(`(?m)^This reverts commit ([0-9a-f]{7,64})\b`)

// Reverted are the commits, all of them ancestors of base, that the messages of
// base..head say they take back.
func (r *Repo) Reverted(ctx context.Context, base, head string) ([]string, error) {
	var commits []string
	err := r.command(ctx, "log", "-z", fmt.Sprintf("--max-count=%d", MaxSubjects), "--format=%B", "--encoding=UTF-8", "--no-color", "--no-show-signature",
		"--end-of-options", base+".."+head).records(func(message string) error {
		for _, match := range reverts.FindAllStringSubmatch(message, -1) {
			if id, err := r.Resolve(ctx, match[1]); err == nil && r.isAncestor(ctx, id, base) {
				commits = append(commits, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the messages of %s..%s: %w", short(base), short(head), err)
	}
	return commits, nil
}

func (r *Repo) isAncestor(ctx context.Context, commit, of string) bool {
	_, err := r.command(ctx, "merge-base", "--is-ancestor", "--end-of-options", commit, of).output(1)
	return err == nil
}
