package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/internal/report"
)

// ciElsewhere checks a change on another CI system: the same report, as text,
// report.json and junit.xml, and the same exit code. Nothing is posted.
func (a *App) ciElsewhere(ctx context.Context, o ciOptions, outputs []output) error {
	base, head, err := a.pairElsewhere(ctx, o.repo)
	if err != nil {
		return err
	}
	if o.outputDir, err = outputDirectory(cmp.Or(o.outputDir, "touchstone-report")); err != nil {
		return err
	}
	progress := report.NewProgress(a.Stderr, false, time.Now)
	progress.Lines()
	options := checkOptions{repo: o.repo, base: base, head: head, runOptions: o.runOptions}
	if err := a.drawCI(&options, func(draw) error { return nil }); err != nil {
		return err
	}
	result, err := a.examine(ctx, options, progress)
	progress.Close()
	if err != nil {
		return err
	}
	findSecrets(a.Getenv).scrub(result)
	outputs = append(outputs, output{"json", filepath.Join(o.outputDir, "report.json")}, output{"junit", filepath.Join(o.outputDir, "junit.xml")})
	if err := a.print(result, o.runOptions, outputs); err != nil {
		return err
	}
	return byVerdict(result)
}

// pairElsewhere reads base and head from what the CI system says. A target
// branch is taken from origin, and base is its merge base with head.
func (a *App) pairElsewhere(ctx context.Context, dir string) (base, head string, err error) {
	head = cmp.Or(a.Getenv("TOUCHSTONE_HEAD"), a.Getenv("CI_COMMIT_SHA"), a.Getenv("BUILDKITE_COMMIT"), "HEAD")
	if base = cmp.Or(a.Getenv("TOUCHSTONE_BASE"), a.Getenv("CI_MERGE_REQUEST_DIFF_BASE_SHA")); base != "" {
		return base, head, nil
	}
	branch := cmp.Or(a.Getenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"), a.Getenv("BUILDKITE_PULL_REQUEST_BASE_BRANCH"))
	if branch == "" {
		return "", "", &exit{exitUsage, errors.New("no change is named: set TOUCHSTONE_BASE (and TOUCHSTONE_HEAD), or run in a GitHub, GitLab merge request or Buildkite pull request pipeline; for the work tree use 'touchstone check'")}
	}
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return "", "", &exit{exitUsage, err}
	}
	defer repo.Close()
	var ids [2]string
	for i, rev := range []string{"refs/remotes/origin/" + branch, head} {
		if ids[i], err = repo.Resolve(ctx, rev); err != nil {
			return "", "", &exit{exitUsage, fmt.Errorf("%w: fetch it in the pipeline (git fetch origin %s)", err, branch)}
		}
	}
	base, err = repo.MergeBase(ctx, ids[0], ids[1])
	return base, ids[1], undecided(err)
}
