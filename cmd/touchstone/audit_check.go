package main

import (
	"context"
	"fmt"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// drawAudit turns --full coin into an audit or auto by this change's draw: the one
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
	o.take(d)
	return nil
}

// take makes a draw decide.
func (o *checkOptions) take(d draw) {
	o.audit = gate.Audit{Probability: d.Probability.Float(), Drawn: d.Heads, Group: d.Group}
	o.full = "auto"
	if d.Heads {
		o.full = "audit"
	}
}

// drawCI is drawAudit for a job of a CI system: the coin was thrown in a job before
// it, and belongs holds the draw to what is judged here.
func (a *App) drawCI(o *checkOptions, belongs func(draw) error) error {
	switch {
	case o.full != "coin":
		return nil
	case a.Getenv(auditKeyVariable) != "":
		return &exit{exitUsage, fmt.Errorf("%s is set in the job that runs the change's code: give it to the job that throws the coin (touchstone audit coin --event), and this one what that printed in %s", auditKeyVariable, auditDrawVariable)}
	case a.Getenv(auditDrawVariable) == "":
		return &exit{exitUsage, fmt.Errorf("--full coin: %s is empty: set it to what touchstone audit coin --format json printed in a job before this one (on GitHub, to the output draw of touchstone audit coin --event)", auditDrawVariable)}
	}
	d, err := parseDraw([]byte(a.Getenv(auditDrawVariable)))
	if err == nil {
		err = belongs(d)
	}
	if err != nil {
		return &exit{exitUsage, fmt.Errorf("%s: %w", auditDrawVariable, err)}
	}
	o.take(d)
	return nil
}

// belongs refuses a draw of something else.
func (d draw) belongs(repository string, pull int) error {
	if d.Repository != repository || d.Design != audit.GroupCoins && d.Member != audit.MemberOf(pull) {
		return fmt.Errorf("the draw is of %s %s %s, and this is %s %s", d.Repository, d.Group, d.Member, repository, audit.MemberOf(pull))
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
	if a.Getenv("GITHUB_ACTIONS") == "true" {
		return d, &exit{exitUsage, fmt.Errorf("--full coin: %s is empty: this job runs the change's code, so the coin is thrown in one before it (touchstone audit coin)", auditDrawVariable)}
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
