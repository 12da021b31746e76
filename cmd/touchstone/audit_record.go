package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchstone-gate/touchstone/gate"
	"github.com/touchstone-gate/touchstone/internal/audit"
	"github.com/touchstone-gate/touchstone/internal/audit/ledger"
)

// recordOptions are the flags of audit record beyond the coin's.
type recordOptions struct {
	coinOptions
	report string
	draw   string
	from   string // outcomes of audits, in place of a report
	queue  bool
	sealed bool
	suite  float64
	quiet  bool
}

func (a *App) auditRecordCommand(o *auditOptions) *cobra.Command {
	var r recordOptions
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Put a judged head into the ledger",
		Long: "Reads a report.json, and the draw that audit coin printed before the run (or throws the coin again, with the key),\n" +
			"or the outcomes that audit batch and audit escalate leave. Recording the same head again changes nothing.",
		Example: "  touchstone audit record --report report.json --draw draw.json\n  touchstone audit record --report report.json --queue     # a merge queue's full run\n" +
			"  touchstone audit record --outcomes batch.json --draw draws.jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.auditRecord(cmd.Context(), o, r) },
	}
	r.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.report, "report", "report.json", "report of the run (- for standard input)")
	flags.StringVar(&r.draw, "draw", "", "what audit coin --format json printed (default: $"+auditDrawVariable+", else the coin is thrown again)")
	flags.StringVar(&r.from, "outcomes", "", "what audit batch or audit escalate left by --output, in place of a report; --draw then has a line for each attempt")
	flags.BoolVar(&r.queue, "queue", false, "a merge queue's run: the full suite runs always, with probability 1")
	flags.BoolVar(&r.sealed, "sealed", false, "every attempt of the group was submitted before any outcome was seen, and found flips escalate")
	flags.Float64Var(&r.suite, "suite-seconds", 0, "what the full suite takes, when this run does not tell")
	flags.BoolVarP(&r.quiet, "quiet", "q", false, "print nothing")
	return cmd
}

func (a *App) auditRecord(ctx context.Context, o *auditOptions, r recordOptions) error {
	if r.from != "" {
		return a.recordFrom(ctx, o, r)
	}
	result, err := a.readReport(r.report)
	if err != nil {
		return err
	}
	r.fill(result)
	if err := r.complete(ctx, a, o); err != nil {
		return &exit{exitUsage, err}
	}
	return a.withLedger(ctx, o, func(s ledger.Store) error {
		d, err := a.drawFor(ctx, o, r, s)
		if err != nil {
			return err
		}
		record := recordOf(result, d, r)
		added, err := s.Append(ctx, []audit.Record{record})
		if err != nil {
			return undecided(err)
		}
		if !r.quiet {
			fmt.Fprintf(a.Stdout, "%s: %s\n", record.ID, map[int]string{0: "was in the ledger already", 1: "recorded"}[added])
		}
		return nil
	})
}

// recordFrom records the outcomes of audits that another job ran.
func (a *App) recordFrom(ctx context.Context, o *auditOptions, r recordOptions) error {
	out, err := a.readOutcomes(r.from)
	if err != nil {
		return err
	}
	if want := cmp.Or(r.repository, a.Getenv("GITHUB_REPOSITORY")); want != "" && want != out.Repository {
		return &exit{exitUsage, fmt.Errorf("the outcomes %s are of the repository %s, not of %s", r.from, out.Repository, want)}
	}
	var coins draws
	if r.draw != "" {
		if coins, err = a.readDraws(r.draw); err != nil {
			return err
		}
	}
	return a.withLedger(ctx, o, func(s ledger.Store) error { return a.recordOutcomes(ctx, s, out, coins, r.sealed) })
}

// readReport reads a report as data: nothing in it is believed that the draw or
// the flags say better.
func (a *App) readReport(path string) (*gate.Report, error) {
	in, err := a.readInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	const limit = 256 << 20
	content, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && len(content) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return nil, undecided(fmt.Errorf("reading the report %s: %w", path, err))
	}
	var result gate.Report
	if err := json.Unmarshal(content, &result); err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("reading the report %s: %w", path, err)}
	}
	if result.Schema != gate.SchemaVersion {
		return nil, &exit{exitUsage, fmt.Errorf("the report %s has schema %d: this touchstone reads schema %d", path, result.Schema, gate.SchemaVersion)}
	}
	return &result, nil
}

// fill takes from the report what no flag says.
func (r *recordOptions) fill(result *gate.Report) {
	r.repository = cmp.Or(r.repository, result.Repository)
	r.pr = cmp.Or(r.pr, result.PullRequest)
	r.head = cmp.Or(r.head, result.Change.Head)
	r.agent = cmp.Or(r.agent, result.Change.Agent.Name)
	if r.group == "" && r.pr == 0 {
		r.group = result.Audit.Group
		r.member = cmp.Or(r.member, "head")
	}
	if len(r.paths) == 0 {
		for _, entry := range result.Split {
			r.paths = append(r.paths, entry.Path)
		}
	}
}

// drawFor is the draw that belongs to the attempt.
func (a *App) drawFor(ctx context.Context, o *auditOptions, r recordOptions, s ledger.Store) (draw, error) {
	if r.queue {
		design := audit.MemberCoins
		if r.shared {
			design = audit.GroupCoins
		}
		coin := audit.Coin{Repository: r.repository, Group: r.group, Member: cmp.Or(r.member, audit.MemberOf(r.pr)), Window: max(0, r.window)}
		return draw{Draw: audit.Draw{Coin: coin, Probability: audit.Certain, Heads: true}, Design: design, Why: audit.ByQueue}, nil
	}
	content := []byte(a.Getenv(auditDrawVariable))
	if r.draw != "" {
		in, err := a.readInput(r.draw)
		if err != nil {
			return draw{}, err
		}
		defer in.Close()
		if content, err = io.ReadAll(io.LimitReader(in, 1<<20)); err != nil {
			return draw{}, undecided(err)
		}
	}
	if len(content) > 0 {
		d, err := parseDraw(content)
		if err != nil {
			return draw{}, &exit{exitUsage, err}
		}
		if d.Repository != r.repository || d.Group != r.group {
			return draw{}, &exit{exitUsage, fmt.Errorf("the draw is of %s %s, and the report of %s %s", d.Repository, d.Group, r.repository, r.group)}
		}
		return d, nil
	}
	key, ok, err := a.auditKey()
	if err != nil {
		return draw{}, err
	}
	if !ok {
		return draw{}, &exit{exitUsage, fmt.Errorf("no draw: give --draw what audit coin --format json printed, or set %s", auditKeyVariable)}
	}
	return a.throw(ctx, o, r.coinOptions, key, s)
}

func parseDraw(content []byte) (draw, error) {
	var d draw
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("reading the draw: %w", err)
	}
	if d.Repository == "" || d.Group == "" || !d.Probability.Valid() || d.Heads != (d.Micro < int(d.Probability)) {
		return d, fmt.Errorf("the draw is not one that audit coin prints")
	}
	return d, nil
}

// recordOf turns a report and its draw into a record.
func recordOf(result *gate.Report, d draw, r recordOptions) audit.Record {
	record := audit.Record{
		Version: audit.RecordVersion, Time: time.Now().UTC().Truncate(time.Second),
		Repository: d.Repository, PullRequest: r.pr, Base: result.Change.Base, Head: r.head,
		Group: d.Group, Member: d.Member, Window: d.Window, Design: d.Design, Sealed: r.sealed,
		KeyID: d.KeyID, Probability: d.Probability, Floor: cmp.Or(d.Floor, d.Probability), Largest: 1, Drawn: d.Heads,
		Cheap: cheapVerdict(result), Strategy: cheapStrategy(result), Agent: r.agent, Tool: result.Tool,
	}
	record.ID = fmt.Sprintf("%s %s %s", d.Repository, d.Group, r.head)
	if d.Design == audit.GroupCoins {
		record.Largest, record.Member = groupLargest, cmp.Or(r.member, audit.MemberOf(r.pr))
	}
	if r.queue {
		record.ID += " queue"
	}
	selected, all := testSeconds(result)
	record.SelectedSeconds, record.SuiteSeconds = selected, r.suite
	if result.Audit.RanFull {
		record.SpentSeconds, record.SuiteSeconds = all-selected, all
	}
	record.Full, record.Why, record.Flips = fullVerdict(result, &record, d)
	return record
}

// cheapStrategy is how the checks of the cheap verdict were chosen.
func cheapStrategy(result *gate.Report) string {
	return clipped(cmp.Or(result.Audit.Selection, result.Selection.Strategy, "touched"))
}

// clipped bounds a text that a report brings: a line of a ledger has its limit.
func clipped(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// cheapVerdict is what the gate would have said without the full suite.
func cheapVerdict(result *gate.Report) string {
	switch result.Audit.Cheap {
	case gate.Pass, gate.NotApplicable:
		return "pass"
	case gate.Fail:
		return "fail"
	}
	return "undecided"
}

// fullVerdict says what the full suite found on an attempt that passes the cheap
// check. What was drawn and gave no answer is missing, not absent.
func fullVerdict(result *gate.Report, record *audit.Record, d draw) (audit.Outcome, audit.Why, []audit.RecordedFlip) {
	why := cmp.Or(d.Why, audit.ByCoin)
	if !record.Drawn {
		why = audit.ByChoice
	}
	if record.Cheap != "pass" || !record.Drawn && !result.Audit.RanFull {
		return audit.NotRun, "", nil
	}
	flips := missedFlips(result)
	switch {
	case len(flips) > 0:
		return audit.Flipped, why, flips
	case !result.Audit.RanFull || result.Verdict.Conclusion == gate.Undecided:
		return audit.Missing, why, nil
	}
	return audit.Clean, why, nil
}

// missedFlips are the confirmed flips of rows that only the full run had chosen.
func missedFlips(result *gate.Report) []audit.RecordedFlip {
	rows := make(map[string]gate.Check)
	for _, check := range result.Checks {
		rows[check.ID] = check
	}
	var flips []audit.RecordedFlip
	for _, flip := range result.Flips {
		row, ok := rows[flip.ID]
		if flip.ConfirmedRuns < 2 || ok && !onlyFull(row) || len(flips) == 100 {
			continue
		}
		flips = append(flips, audit.RecordedFlip{ID: clipped(flip.ID), Kind: clipped(string(flip.Kind)), Dir: clipped(path.Dir(row.File)), MissedBy: cheapStrategy(result)})
	}
	return flips
}

func onlyFull(check gate.Check) bool {
	return !slices.ContainsFunc(check.SelectedBy, func(why string) bool { return why != "full" })
}

// testSeconds are the seconds that tests ran on head: those that were selected,
// and all.
func testSeconds(result *gate.Report) (selected, all float64) {
	for _, check := range result.Checks {
		cell := check.Cells[gate.Head]
		if len(cell) == 0 {
			continue
		}
		all += cell[0].Seconds
		if !onlyFull(check) {
			selected += cell[0].Seconds
		}
	}
	return selected, all
}
