package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// draws are coins by whose they are.
type draws map[[2]string]draw

// readDraws reads the lines that audit coin --format json printed.
func (a *App) readDraws(path string) (draws, error) {
	in, err := a.readInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, maxEvent))
	if err != nil {
		return nil, undecided(fmt.Errorf("reading the draws %s: %w", path, err))
	}
	list := make(draws)
	for n, line := range bytes.Split(content, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		d, err := parseDraw(line)
		if err != nil {
			return nil, &exit{exitUsage, fmt.Errorf("%s, line %d: %w", path, n+1, err)}
		}
		list[[2]string{d.Group, d.Member}] = d
	}
	return list, nil
}

// of is the draw of an attempt: its own, or its group's.
func (d draws) of(a outcome) (draw, bool) {
	for _, member := range []string{a.Member, ""} {
		if found, ok := d[[2]string{a.Group, member}]; ok {
			return found, true
		}
	}
	return draw{}, false
}

// queued is the draw of what runs anyway.
func queued(repository string, a outcome) draw {
	return draw{
		Draw:   audit.Draw{Coin: audit.Coin{Repository: repository, Group: a.Group, Member: a.Member}, Probability: audit.Certain, Heads: true},
		Design: audit.MemberCoins, Why: audit.ByQueue,
	}
}

// recordOutcomes puts outcomes into the ledger. What is known of coins comes from
// the draws, or from the records that are amended: never from the job that ran the
// attempts' code.
func (a *App) recordOutcomes(ctx context.Context, s ledger.Store, o *outcomes, d draws, sealed bool) error {
	amended, err := amendedBy(ctx, s, o)
	if err != nil {
		return err
	}
	var records []audit.Record
	for _, attempt := range o.Attempts {
		record, err := o.record(attempt, d, amended, sealed)
		if err != nil {
			return &exit{exitUsage, err}
		}
		records = append(records, record)
	}
	added, err := s.Append(ctx, records)
	if err != nil {
		return undecided(err)
	}
	fmt.Fprintf(a.Stdout, "%d recorded, %d were in the ledger already\n", added, len(records)-added)
	return nil
}

// amendedBy reads the records that the outcomes amend.
func amendedBy(ctx context.Context, s ledger.Store, o *outcomes) (map[string]audit.Record, error) {
	wanted := make(map[string]bool)
	for _, attempt := range o.Attempts {
		wanted[attempt.Amends] = attempt.Amends != ""
	}
	amended := make(map[string]audit.Record)
	if len(wanted) == 0 || len(wanted) == 1 && !wanted[o.Attempts[0].Amends] {
		return amended, nil
	}
	err := ledger.Records(ctx, s, func(r *audit.Record) error {
		if wanted[r.ID] {
			amended[r.ID] = *r
		}
		return nil
	}, nil)
	return amended, undecided(err)
}

// record is an outcome's record.
func (o *outcomes) record(a outcome, d draws, amended map[string]audit.Record, sealed bool) (audit.Record, error) {
	now := time.Now().UTC().Truncate(time.Second)
	if a.Amends != "" {
		r, ok := amended[a.Amends]
		if !ok {
			return r, fmt.Errorf("the ledger has no record %q for the escalation to amend", a.Amends)
		}
		if r.Head != a.Head || r.Repository != o.Repository {
			return r, fmt.Errorf("the record %q is of %.12s, and the escalation ran %.12s", a.Amends, r.Head, a.Head)
		}
		r.ID, r.Amends, r.Why, r.Time, r.Tool = a.Amends+" escalation", a.Amends, audit.ByEscalation, now, o.Tool
		r.Full, r.Flips, r.SelectedSeconds, r.SpentSeconds = a.Full, a.Flips, 0, a.SpentSeconds
		r.SuiteSeconds = cmp.Or(a.SuiteSeconds, r.SuiteSeconds)
		return r, nil
	}
	coin := queued(o.Repository, a)
	if d != nil {
		var ok bool
		if coin, ok = d.of(a); !ok {
			return audit.Record{}, fmt.Errorf("there is no draw for %s %s: throw its coin with audit coin, or leave --draws out for a queue in which everything runs", a.Group, a.Member)
		}
		if coin.Repository != o.Repository {
			return audit.Record{}, fmt.Errorf("the draw of %s is of the repository %s, and the outcomes are of %s", a.Group, coin.Repository, o.Repository)
		}
	}
	r := audit.Record{
		Version: audit.RecordVersion, Time: now, ID: fmt.Sprintf("%s %s %s", o.Repository, a.Group, a.Head),
		Repository: o.Repository, PullRequest: a.PullRequest, Base: o.Base, Head: a.Head, Agent: a.Agent, Tool: o.Tool, Strategy: a.Strategy,
		Group: a.Group, Member: a.Member, Window: coin.Window, Design: coin.Design, Sealed: sealed && d != nil, KeyID: coin.KeyID,
		Probability: coin.Probability, Floor: cmp.Or(coin.Floor, coin.Probability), Largest: 1, Drawn: coin.Heads,
		Cheap: "pass", SelectedSeconds: a.SelectedSeconds, SpentSeconds: a.SpentSeconds, SuiteSeconds: a.SuiteSeconds, Full: a.Full, Flips: a.Flips,
	}
	if coin.Design == audit.GroupCoins {
		r.Largest = groupLargest
	}
	if coin.Why == audit.ByQueue {
		r.ID += " queue"
	}
	switch {
	case coin.Heads && a.Full == audit.NotRun:
		r.Full, r.Why = audit.Missing, cmp.Or(coin.Why, audit.ByCoin)
	case coin.Heads:
		r.Why = cmp.Or(coin.Why, audit.ByCoin)
	case a.Full != audit.NotRun:
		r.Why = audit.ByChoice
	}
	return r, r.Check()
}

// groupLargest is the most attempts that records of one shared coin declare.
const groupLargest = 16
