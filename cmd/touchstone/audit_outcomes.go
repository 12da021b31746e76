package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/touchstone-gate/touchstone/internal/audit"
)

// outcomes are what the audited runs of several attempts came to, as the job that
// runs them leaves them for the one that records. Schema 1.
type outcomes struct {
	Schema     int       `json:"schema"`
	Tool       string    `json:"tool"`
	Repository string    `json:"repository"`
	Base       string    `json:"base"`
	Attempts   []outcome `json:"attempts"`
	Together   []company `json:"together"` // what no attempt breaks alone
	FullRuns   int       `json:"full_runs"`
	FewRuns    int       `json:"runs_of_a_few_tests"`
	Seconds    float64   `json:"seconds"`
	Notes      []string  `json:"notes,omitempty"`
}

// outcome is one attempt's.
type outcome struct {
	PullRequest int    `json:"pull_request"`
	Group       string `json:"group"`
	Member      string `json:"member"`
	Head        string `json:"head"`
	Agent       string `json:"agent,omitempty"`
	Strategy    string `json:"strategy,omitempty"`
	Amends      string `json:"amends,omitempty"` // id of the record that this is the escalation of

	SelectedSeconds float64 `json:"selected_s"`
	SpentSeconds    float64 `json:"spent_s"`
	SuiteSeconds    float64 `json:"suite_s"`

	Full  audit.Outcome        `json:"full"` // empty: nothing was run
	Flips []audit.RecordedFlip `json:"flips"`
	Words []string             `json:"messages,omitempty"` // of the flips, in order
	Why   string               `json:"why_missing,omitempty"`
}

// company are tests that fail only on a merge.
type company struct {
	PullRequests []int    `json:"pull_requests"`
	Tests        []string `json:"tests"`
}

// conclude takes what an audit says of change i. One whose runs could not be made has
// a missing outcome: that is an outcome too.
func (a *outcome) conclude(s *suites, i int, result audit.BatchAudit, err error) {
	for _, flip := range result.Flips[i] {
		t := s.tests[flip.Test]
		a.Flips = append(a.Flips, audit.RecordedFlip{ID: clipped(t.row.ID), Kind: flip.Kind, Dir: clipped(path.Dir(t.row.File)), MissedBy: cmp.Or(a.Strategy, "unknown")})
		a.Words = append(a.Words, t.message)
	}
	switch {
	case len(a.Flips) > 0:
		a.Full = audit.Flipped
	case err != nil:
		a.Full, a.Why = audit.Missing, err.Error()
	case slices.Contains(result.Missing, i):
		a.Full, a.Why = audit.Missing, "it does not merge with base"
	default:
		a.Full = audit.Clean
	}
}

// print tells a person what came out, one attempt a line.
func (o *outcomes) print(out io.Writer) {
	flips, missing := 0, 0
	for _, a := range o.Attempts {
		name := fmt.Sprintf("%-10s %.12s", cmp.Or(a.Member, a.Group), a.Head)
		switch a.Full {
		case audit.Clean:
			fmt.Fprintf(out, "%s  pass\n", name)
		case audit.NotRun:
			fmt.Fprintf(out, "%s  not audited: its coin shows tails\n", name)
		case audit.Missing:
			missing++
			fmt.Fprintf(out, "%s  missing: %s\n", name, a.Why)
		default:
			flips++
			fmt.Fprintf(out, "%s  flip\n", name)
		}
		for i, flip := range a.Flips {
			fmt.Fprintf(out, "    %s (%s)", flip.ID, flip.Kind)
			if i < len(a.Words) && a.Words[i] != "" {
				fmt.Fprintf(out, ": %s", a.Words[i])
			}
			fmt.Fprintln(out)
		}
	}
	for _, c := range o.Together {
		fmt.Fprintf(out, "only together %s break, or it fails sometimes: %s\n", numbers(c.PullRequests), strings.Join(c.Tests, ", "))
	}
	for _, note := range o.Notes {
		fmt.Fprintf(out, "note: %s\n", note)
	}
	fmt.Fprintf(out, "%d attempts, %d flips, %d missing; %d full runs and %d runs of a few tests, %.1f s of tests\n", len(o.Attempts), flips, missing, o.FullRuns, o.FewRuns, o.Seconds)
}

func numbers(list []int) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint("#", n))
	}
	return strings.Join(words, " ")
}

// exit is the exit status: a flip is a failure, a missing outcome is not knowing.
func (o *outcomes) exit() error {
	code := exitPass
	for _, a := range o.Attempts {
		if a.Full == audit.Flipped {
			return &exit{code: exitFail}
		}
		if a.Full == audit.Missing {
			code = exitUndecided
		}
	}
	if len(o.Together) > 0 {
		code = exitFail
	}
	if code == exitPass {
		return nil
	}
	return &exit{code: code}
}

// readOutcomes reads what batch or escalate left.
func (a *App) readOutcomes(path string) (*outcomes, error) {
	in, err := a.readInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var o outcomes
	decoder := json.NewDecoder(io.LimitReader(in, maxReport))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return nil, &exit{exitUsage, fmt.Errorf("reading the outcomes %s: %w", path, err)}
	}
	if o.Schema != 1 || o.Repository == "" {
		return nil, &exit{exitUsage, fmt.Errorf("%s is not what audit batch or audit escalate writes by --output (schema %d, repository %q)", path, o.Schema, o.Repository)}
	}
	return &o, nil
}

func writeOutcomes(path string, o *outcomes) error {
	content, err := json.MarshalIndent(o, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(content, '\n'), 0o644)
	}
	if err != nil {
		return undecided(fmt.Errorf("writing the outcomes: %w", err))
	}
	return nil
}
