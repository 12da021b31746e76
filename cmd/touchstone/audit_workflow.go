package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
	"github.com/touchstone-gate/touchstone/internal/github"
)

// eventCoin throws the coin of a workflow's pull request, in a job that runs nothing
// of it and checks nothing out.
func (a *App) eventCoin(ctx context.Context, o *auditOptions, key audit.Key, format string, explain bool) error {
	w, err := a.openWorkflow()
	if err != nil {
		return err
	}
	s, err := w.subject(ctx, true)
	if err != nil || s == nil {
		return err
	}
	if s.pull == nil {
		w.step.Notice("touchstone: a merge queue runs the whole suite on everything; there is no coin to throw")
		return undecided(w.step.Output("draw", ""))
	}
	changed, err := w.remotePair(ctx, s)
	if err != nil {
		return undecided(err)
	}
	if err := w.configure(s); err != nil {
		return &exit{exitUsage, err}
	}
	return a.withLedger(ctx, o, func(store ledger.Store) error {
		d, err := a.throw(ctx, o, w.coin(ctx, s, changed), key, store)
		if err != nil {
			return err
		}
		line, err := json.Marshal(d)
		if err == nil {
			err = w.step.Output("draw", string(line))
		}
		if err != nil {
			return undecided(err)
		}
		return a.printDraw(d, key, format, explain)
	})
}

// coin is what the coin of a pull request is thrown for, by GitHub's own word.
func (w *workflow) coin(ctx context.Context, s *subject, changed github.Comparison) coinOptions {
	return coinOptions{
		repository: w.context.Repository, pr: s.pull.Number, head: s.head, text: s.pull.Title + "\n\n" + s.pull.Body,
		agent: w.agent(ctx, s).Name, paths: changed.Paths, window: -1, rate: -1, settings: &s.settings,
	}
}

// audits tells whether this job is to record what it publishes.
func (w *workflow) audits() bool {
	for _, name := range []string{auditLedgerVariable, auditDrawVariable, auditKeyVariable} {
		if w.app.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// recordAudit puts the published head into the ledger. Coin, group, agent and pair of
// commits are GitHub's word; only what ran and what came out is the report's.
func (w *workflow) recordAudit(ctx context.Context, s *subject, result *gate.Report, changed github.Comparison) error {
	o := &auditOptions{repo: "."}
	r := recordOptions{coinOptions: coinOptions{repository: w.context.Repository, head: s.head, window: -1, rate: -1}}
	if s.pull == nil {
		r.queue, r.group, r.member = true, "queue/"+s.head, "queue"
	} else {
		r.coinOptions = w.coin(ctx, s, changed)
		if text := w.app.Getenv(auditDrawVariable); text != "" {
			d, err := parseDraw([]byte(text))
			if err == nil {
				err = d.belongs(w.context.Repository, s.pull.Number)
			}
			if err != nil {
				return &exit{exitUsage, fmt.Errorf("%s: %w", auditDrawVariable, err)}
			}
			r.group = d.Group // the text may have been edited since
		}
	}
	if err := r.complete(ctx, w.app, o); err != nil {
		return &exit{exitUsage, err}
	}
	return w.app.withLedger(ctx, o, func(store ledger.Store) error {
		d, err := w.app.drawFor(ctx, o, r, store)
		if err != nil {
			return err
		}
		added, err := store.Append(ctx, []audit.Record{recordOf(result, d, r)})
		if err == nil && added == 0 {
			w.step.Notice("touchstone: the audit ledger has this head already")
		}
		return undecided(err)
	})
}
