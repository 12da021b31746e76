package main

import (
	"context"
	"fmt"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// drawAudit turns --full coin into always or never by this change's draw: the one
// that a trusted job made (audit coin --format json), or, where there is no other
// job, one thrown here for the group in the environment.
func (a *App) drawAudit(ctx context.Context, o *checkOptions) error {
	if o.full != "coin" {
		return nil
	}
	d, err := a.checkDraw(ctx, o)
	if err != nil {
		return err
	}
	o.audit = gate.Audit{Probability: d.Probability.Float(), Drawn: d.Heads, Group: d.Group}
	o.full = "never"
	if d.Heads {
		o.full = "always"
	}
	return nil
}

func (a *App) checkDraw(ctx context.Context, o *checkOptions) (d draw, err error) {
	if text := a.Getenv(auditDrawVariable); text != "" {
		if d, err = parseDraw([]byte(text)); err != nil {
			return d, &exit{exitUsage, fmt.Errorf("%s: %w", auditDrawVariable, err)}
		}
		return d, nil
	}
	key, ok, err := a.auditKey()
	if err != nil {
		return d, err
	}
	group := a.Getenv("TOUCHSTONE_AUDIT_GROUP")
	if !ok || group == "" {
		return d, &exit{exitUsage, fmt.Errorf("--full coin: set %s to what audit coin --format json printed in a trusted job, or %s and TOUCHSTONE_AUDIT_GROUP (the issue or pull request, such as issue/42)", auditDrawVariable, auditKeyVariable)}
	}
	options := auditOptions{repo: o.repo}
	err = a.withLedger(ctx, &options, func(s ledger.Store) error {
		d, err = a.throw(ctx, &options, coinOptions{group: group, member: "head", head: o.head, window: -1, rate: -1, config: o.config}, key, s)
		return err
	})
	return d, err
}
