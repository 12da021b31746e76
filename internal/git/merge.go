package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// ConflictError says that two commits do not merge, and in which paths.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	const shown = 5
	list := strings.Join(e.Paths[:min(len(e.Paths), shown)], ", ")
	if more := len(e.Paths) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "they conflict in " + list
}

// merging are the settings under which a merge is the same for everybody: no
// guessed renames of directories, no rewriting of line ends.
var merging = []string{"-c", "merge.directoryRenames=false", "-c", "merge.renormalize=false", "-c", "merge.renames=true"}

// Merge merges a commit into another and returns the commit that comes of it,
// which lives among our own objects until Close: no ref, no index and no file of
// the user's changes. Commits that do not merge are a *ConflictError. It needs git
// 2.38 or newer.
func (r *Repo) Merge(ctx context.Context, into, commit string) (merged string, err error) {
	if _, err := r.MergeBase(ctx, into, commit); err != nil {
		return "", err
	}
	drivers, err := r.mergeDrivers(ctx)
	if err != nil {
		return "", err
	}
	c := r.command(ctx, append(slices.Clone(merging), "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", into, commit)...)
	c.name = "merge-tree"
	c.Env = append(c.Env, drivers...)
	var said []string
	err = c.records(func(record string) error {
		said = append(said, record)
		return nil
	})
	switch {
	case status(err) == 1 && len(said) > 0:
		paths := slices.Compact(slices.Sorted(slices.Values(said[1:])))
		return "", &ConflictError{slices.DeleteFunc(paths, func(path string) bool { return path == "" })}
	case err != nil && strings.Contains(err.Error(), "usage: git merge-tree"):
		return "", fmt.Errorf("merging %s into %s: this git is too old: 2.38 or newer is needed", short(commit), short(into))
	case err != nil || len(said) == 0 || !isID(said[0]):
		return "", fmt.Errorf("merging %s into %s: git merge-tree gave no tree: %w", short(commit), short(into), err)
	}
	return r.commitTree(ctx, said[0], into, commit)
}

// commitTree writes a commit among our own objects.
func (r *Repo) commitTree(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", "merged", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	c := r.command(ctx, args...)
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.Env = append(c.Env, "GIT_"+who+"_NAME=Touchstone", "GIT_"+who+"_EMAIL=touchstone@localhost", "GIT_"+who+"_DATE=1000000000 +0000")
	}
	id, err := c.line()
	if err != nil {
		return "", fmt.Errorf("writing a merged commit: %w", err)
	}
	return id, nil
}

// mergeDrivers are environment settings that take away the programs which merge
// files of one kind: a change's .gitattributes, or what lies in .git, may choose
// one. Such a file then counts as a conflict.
func (r *Repo) mergeDrivers(ctx context.Context) ([]string, error) {
	names := make(map[string]bool)
	err := r.command(ctx, "config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`).records(func(key string) error {
		names[key] = true
		return nil
	})
	if err != nil && status(err) != 1 {
		return nil, fmt.Errorf("reading the configured merge drivers: %w", err)
	}
	settings := [][2]string{{"core.attributesFile", os.DevNull}}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		settings = append(settings, [2]string{key, "false"})
	}
	return configured(settings), nil
}
