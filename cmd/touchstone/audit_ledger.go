package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/audit/postgres"
)

func (a *App) auditVerifyCommand(o *auditOptions) *cobra.Command {
	var keys []string
	var tip string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Recheck a whole ledger: its chain, and every draw of a revealed key",
		Long: "Says what was lost, edited, replaced or put in, and which draw a revealed key does not give. A cut at the end shows\n" +
			"only against a tip that was written down before: give it by --tip.",
		Example: "  touchstone audit verify\n  touchstone audit verify --reveal 8f3c… --tip 1204:9be1…",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var revealed []audit.Key
			for _, text := range keys {
				key, err := audit.ParseKey(text)
				if err != nil {
					return &exit{exitUsage, fmt.Errorf("--reveal: %w", err)}
				}
				revealed = append(revealed, key)
			}
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error { return a.verify(cmd.Context(), s, revealed, tip) })
		},
	}
	cmd.Flags().StringArrayVar(&keys, "reveal", nil, "a retired key, in hexadecimal: its draws are thrown again (repeatable)")
	cmd.Flags().StringVar(&tip, "tip", "", "SEQ:HASH that the ledger must hold")
	return cmd
}

// verify rechecks a ledger. One with a chain for each repository has each
// rechecked, against the end that its database keeps.
func (a *App) verify(ctx context.Context, s ledger.Store, keys []audit.Key, tip string) error {
	many, ok := s.(*postgres.Store)
	if !ok {
		return a.verifyChain(ctx, s, keys, tip)
	}
	chains, err := many.Chains(ctx)
	if err != nil {
		return undecided(err)
	}
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(chains)) {
		fmt.Fprintf(a.Stdout, "%s: ", name)
		if err := a.verifyChain(ctx, many.Of(name), keys, chains[name]); err != nil {
			wrong = err
		}
	}
	return wrong
}

func (a *App) verifyChain(ctx context.Context, s ledger.Store, keys []audit.Key, tip string) error {
	wrong := 0
	report := func(err error) {
		if wrong++; wrong <= 50 {
			fmt.Fprintf(a.Stderr, "touchstone: %v\n", err)
		}
	}
	held := tip == ""
	see := func(r *audit.Record) { held = held || fmt.Sprintf("%d:%s", r.Seq, r.Hash) == tip }
	seq, hash, rechecked, err := ledger.Verify(ctx, s, keys, see, report)
	if err != nil {
		return undecided(err)
	}
	if !held {
		report(fmt.Errorf("the ledger does not hold the record %s: it was cut or replaced", tip))
	}
	fmt.Fprintf(a.Stdout, "%d records, tip %d:%s, %d draws rechecked, %d wrong\n", seq, seq, hash, rechecked, wrong)
	for _, key := range keys {
		fmt.Fprintf(a.Stdout, "key %s has the commitment %s: compare it with the one published before its use\n", key.ID(), key.Commitment())
	}
	if wrong > 0 {
		return &exit{code: exitFail}
	}
	return nil
}

func (a *App) auditExportCommand(o *auditOptions) *cobra.Command {
	return &cobra.Command{
		Use:     "export",
		Short:   "Print the ledger as JSON lines",
		Example: "  touchstone audit export > ledger.jsonl",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				out := bufio.NewWriter(a.Stdout)
				err := s.Lines(cmd.Context(), func(line []byte) error {
					out.Write(line)
					return out.WriteByte('\n')
				})
				if err == nil {
					err = out.Flush()
				}
				return undecided(err)
			})
		},
	}
}

// importBatch is how many records go into the ledger at a time.
const importBatch = 1000

func (a *App) auditImportCommand(o *auditOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "import [FILE]",
		Short: "Put records from JSON lines into the ledger",
		Long: "Each record gets a new place in the chain; one whose id is there already is left out, so an import that was\n" +
			"interrupted may be run again. Unknown fields are refused.",
		Example: "  touchstone audit import ledger.jsonl\n  touchstone audit --ledger git: export | touchstone audit --ledger all.jsonl import",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withLedger(cmd.Context(), o, func(s ledger.Store) error {
				return a.importLines(cmd.Context(), s, append(args, "-")[0])
			})
		},
	}
}

func (a *App) importLines(ctx context.Context, s ledger.Store, path string) error {
	in, err := a.readInput(path)
	if err != nil {
		return err
	}
	defer in.Close()
	var batch []audit.Record
	read, added := 0, 0
	flush := func() error {
		n, err := s.Append(ctx, batch)
		added += n
		batch = batch[:0]
		return err
	}
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var r audit.Record
		read++
		if err := decoder.Decode(&r); err != nil {
			return &exit{exitUsage, fmt.Errorf("record %d of %s: %w (%d were imported)", read, path, err, added)}
		}
		if r.Version == 0 {
			r.Version = audit.RecordVersion
		}
		if err := r.Check(); err != nil {
			return &exit{exitUsage, fmt.Errorf("record %d of %s: %w (%d were imported)", read, path, err, added)}
		}
		if batch = append(batch, r); len(batch) == importBatch {
			if err := flush(); err != nil {
				return undecided(err)
			}
		}
	}
	if err := flush(); err != nil {
		return undecided(err)
	}
	fmt.Fprintf(a.Stdout, "%d records read, %d added\n", read, added)
	return nil
}
