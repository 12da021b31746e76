package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/audit/postgres"
	"github.com/touchstone-gate/touchstone/internal/git"
)

// The environment's part in audits. The key is a secret: it is no flag, so that no
// process list or log shows it.
const (
	auditKeyVariable    = "TOUCHSTONE_AUDIT_KEY"
	auditDrawVariable   = "TOUCHSTONE_AUDIT_DRAW"
	auditLedgerVariable = "TOUCHSTONE_AUDIT_LEDGER"
)

// auditOptions are the flags that every audit command has.
type auditOptions struct {
	repo   string
	ledger string
}

func (a *App) auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Know the rate of what selection misses, from random full-suite audits",
		Long: "Some changes that pass are drawn by a coin for a full run. The ledger keeps every draw and outcome; from it\n" +
			"come estimates, bounds that hold whenever they are looked at, and the rates to use next.",
		Example: "  touchstone audit coin --pr 12 --explain\n  touchstone audit record --report report.json\n  touchstone audit report --format markdown",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&o.repo, "repo", ".", "directory of the repository")
	cmd.PersistentFlags().StringVar(&o.ledger, "ledger", "", "where the ledger is: a FILE, git: (a ref of this repository), git:REMOTE (its name or address), or postgres://…\n(default: $"+auditLedgerVariable+", else git:origin in GitHub Actions and git: elsewhere)")
	cmd.AddCommand(a.auditCoinCommand(&o), a.auditRecordCommand(&o), a.auditReportCommand(&o), a.auditVerifyCommand(&o),
		a.auditRatesCommand(&o), a.auditRewardsCommand(&o), a.auditExportCommand(&o), a.auditImportCommand(&o), a.auditSimulateCommand(&o), a.auditBatchCommand(&o), a.auditEscalateCommand(&o))
	return cmd
}

// openLedger opens the store that the flags or the environment name. Close the
// store when done.
func (a *App) openLedger(ctx context.Context, o *auditOptions) (ledger.Store, error) {
	name := o.ledger
	if name == "" {
		name = a.Getenv(auditLedgerVariable)
	}
	if name == "" {
		name = "git:"
		if a.Getenv("GITHUB_ACTIONS") == "true" {
			name = "git:origin"
		}
	}
	switch remote, onRef := strings.CutPrefix(name, "git:"); {
	case onRef:
		return a.openRefLedger(ctx, o.repo, remote)
	case strings.HasPrefix(name, "postgres://"), strings.HasPrefix(name, "postgresql://"):
		store, err := postgres.Open(ctx, name, "")
		if err != nil {
			return nil, undecided(err)
		}
		return store, nil
	}
	return ledger.OpenFile(name), nil
}

// refLedger is a ledger on a ref that closes its repository.
type refLedger struct {
	*ledger.Ref
	repo *git.Repo
}

func (l *refLedger) Close() error { return l.repo.Close() }

// openRefLedger opens the ledger on a ref. A remote's needs no clone: where there is
// none, an empty repository stands in, and origin is the workflow's own repository.
func (a *App) openRefLedger(ctx context.Context, dir, remote string) (ledger.Store, error) {
	repo, err := git.Open(ctx, dir)
	server, name := a.Getenv("GITHUB_SERVER_URL"), a.Getenv("GITHUB_REPOSITORY")
	if errors.Is(err, git.ErrNotRepository) && remote == "origin" && server != "" && name != "" {
		remote = server + "/" + name
	}
	if strings.Contains(remote, "://") {
		if err == nil {
			repo.Close()
		}
		repo, err = git.Blank(ctx)
	}
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	ref, err := repo.Ref(ledger.RefName, remote, git.Credentials{Server: server, Token: cmp.Or(a.Getenv("GITHUB_TOKEN"), a.Getenv("GH_TOKEN"))})
	if err != nil {
		repo.Close()
		return nil, &exit{exitUsage, fmt.Errorf("--ledger: %w", err)}
	}
	return &refLedger{ledger.NewRef(ref), repo}, nil
}

// withLedger runs f on the open ledger.
func (a *App) withLedger(ctx context.Context, o *auditOptions, f func(ledger.Store) error) (err error) {
	store, err := a.openLedger(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		if closing := store.Close(); err == nil {
			err = undecided(closing)
		}
	}()
	return f(store)
}

// auditKey reads the key that is in use from the environment; ok is false
// without one.
func (a *App) auditKey() (key audit.Key, ok bool, err error) {
	text := a.Getenv(auditKeyVariable)
	if text == "" {
		return audit.Key{}, false, nil
	}
	if key, err = audit.ParseKey(text); err != nil {
		return audit.Key{}, false, &exit{exitUsage, fmt.Errorf("%s: %w", auditKeyVariable, err)}
	}
	return key, true, nil
}

// readInput opens a file, or standard input for "-".
func (a *App) readInput(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.Stdin), nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	return file, nil
}

// printJSON writes one value on one line.
func (a *App) printJSON(v any) error {
	return undecided(json.NewEncoder(a.Stdout).Encode(v))
}
