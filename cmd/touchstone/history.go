package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/git"
	"github.com/touchstone-gate/touchstone/rts"
)

// maxPast is how many earlier changes that broke something a ranking looks at.
const maxPast = 200

// history is what the ledger knows of earlier changes that broke rows, for the
// ranking of the present one. Without a ledger that was named, by the flag or the
// environment, it is empty. Which files an earlier change touched is read from its
// commits, where the repository has them.
func (a *App) history(ctx context.Context, named string, c *change) (h rts.History, err error) {
	for _, file := range c.files {
		h.Changed = append(h.Changed, file.Path)
	}
	if named == "" && a.Getenv(auditLedgerVariable) == "" {
		return h, nil
	}
	own := c.repo.RepositoryName(ctx)
	var broke []audit.Record
	err = a.withLedger(ctx, &auditOptions{repo: c.repo.Root(), ledger: named}, func(s ledger.Store) error {
		return ledger.Records(ctx, s, func(r *audit.Record) error {
			if len(r.Flips) > 0 && (own == "" || r.Repository == own) && r.Head != c.headCommit {
				broke = append(broke, *r)
			}
			return nil
		}, nil)
	})
	if err != nil {
		return h, fmt.Errorf("reading the ledger for what failed before: %w", err)
	}
	slices.Reverse(broke)
	for _, r := range broke[:min(len(broke), maxPast)] {
		past := rts.Past{Files: touchedBy(ctx, c.repo, r.Base, r.Head)}
		for _, flip := range r.Flips {
			past.Failed = append(past.Failed, rts.PastFailure{ID: flip.ID, Dir: flip.Dir})
		}
		h.Past = append(h.Past, past)
	}
	return h, nil
}

// touchedBy lists the files between two commits, none where the repository does
// not have both.
func touchedBy(ctx context.Context, repo *git.Repo, base, head string) (files []string) {
	from, err := repo.TreeOf(ctx, base)
	if err != nil {
		return nil
	}
	to, err := repo.TreeOf(ctx, head)
	if err != nil {
		return nil
	}
	changes, err := repo.Differences(ctx, from, to)
	if err != nil {
		return nil
	}
	for _, change := range changes {
		files = append(files, change.Path)
	}
	return files
}
