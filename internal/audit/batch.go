package audit

import (
	"errors"
	"fmt"
	"slices"
)

// ErrConflict is what a run says when the changes of a batch cannot be merged.
var ErrConflict = errors.New("the changes of the batch conflict")

// BatchRuns are the runs that a batch audit needs. Each is made in a fresh state.
type BatchRuns struct {
	// Full runs the whole suite on base with the given changes merged, and returns
	// the failing tests.
	Full func(changes []int) (failing []string, err error)
	// Again runs only the given tests; no changes is base itself.
	Again func(changes []int, tests []string) (failing []string, err error)
}

// BatchAudit is what one batch gave.
type BatchAudit struct {
	Flips   map[int][]string // confirmed failing tests by change
	Missing []int            // changes whose audit has no outcome
	Full    int              // full runs made
	Again   int              // runs of a few tests made
}

// AuditBatch audits changes that passed on one base by one full run over all of
// them. What fails is confirmed, attributed by running it with each change alone,
// and, where it fails only in the full run or only in company, by bisection. A
// batch that conflicts is cut in two.
func AuditBatch(changes []int, runs BatchRuns) (BatchAudit, error) {
	b := batch{runs: runs, BatchAudit: BatchAudit{Flips: make(map[int][]string)}}
	err := b.audit(changes)
	return b.BatchAudit, err
}

type batch struct {
	runs BatchRuns
	BatchAudit
}

func (b *batch) audit(changes []int) error {
	if len(changes) == 0 {
		return nil
	}
	failing, err := b.full(changes)
	if errors.Is(err, ErrConflict) {
		if len(changes) == 1 {
			b.Missing = append(b.Missing, changes[0])
			return nil
		}
		half := len(changes) / 2
		return errors.Join(b.audit(changes[:half]), b.audit(changes[half:]))
	}
	if err != nil || len(failing) == 0 {
		return err
	}
	return b.attribute(changes, failing)
}

// attribute finds whose the failing tests are.
func (b *batch) attribute(changes []int, failing []string) error {
	alone, err := b.confirm(changes, failing)
	if err != nil {
		return err
	}
	company := without(failing, alone)
	if len(company) > 0 { // flaky, or seen in the full run only: a second one tells
		again, err := b.full(changes)
		if err != nil {
			return err
		}
		company = slices.DeleteFunc(company, func(test string) bool { return !slices.Contains(again, test) })
	}
	red, err := b.again(nil, append(slices.Clone(alone), company...))
	if err != nil {
		return err
	}
	alone, company = without(alone, red), without(company, red)
	if alone, err = b.byEach(changes, alone); err != nil {
		return err
	}
	return b.bisect(changes, append(alone, company...))
}

// byEach runs tests with each change alone, and returns those that no single
// change makes fail.
func (b *batch) byEach(changes []int, tests []string) (left []string, err error) {
	if len(tests) == 0 {
		return nil, nil
	}
	left = tests
	for _, change := range changes {
		first, err := b.again([]int{change}, tests)
		if err == nil && len(first) == 0 { // one that fails sometimes gets a second chance
			first, err = b.again([]int{change}, tests)
		}
		if err != nil {
			return nil, err
		}
		mine, err := b.confirm([]int{change}, first)
		if err != nil {
			return nil, err
		}
		if len(mine) > 0 {
			b.Flips[change] = append(b.Flips[change], mine...)
			left = without(left, mine)
		}
	}
	return left, nil
}

// confirm reruns failing tests and returns those of which at least one rerun
// fails too.
func (b *batch) confirm(changes []int, failing []string) (confirmed []string, err error) {
	for range Reruns {
		if len(failing) == 0 {
			break
		}
		red, err := b.again(changes, failing)
		if err != nil {
			return nil, err
		}
		confirmed = append(confirmed, red...)
		failing = without(failing, red)
	}
	return confirmed, nil
}

// bisect halves the changes by full runs until one is left, which is blamed only
// for what fails in a full run of its own.
func (b *batch) bisect(changes []int, tests []string) error {
	switch {
	case len(tests) == 0:
		return nil
	case len(changes) == 1:
		failing, err := b.full(changes)
		tests = slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return !slices.Contains(failing, test) })
		if err == nil && len(tests) > 0 {
			b.Flips[changes[0]] = append(b.Flips[changes[0]], tests...)
		}
		return err
	}
	half := len(changes) / 2
	failing, err := b.full(changes[:half])
	if err != nil {
		return fmt.Errorf("bisecting a batch: %w", err)
	}
	first := slices.DeleteFunc(slices.Clone(tests), func(test string) bool { return !slices.Contains(failing, test) })
	return errors.Join(b.bisect(changes[:half], first), b.bisect(changes[half:], without(tests, first)))
}

func (b *batch) full(changes []int) ([]string, error) {
	b.Full++
	return b.runs.Full(changes)
}

func (b *batch) again(changes []int, tests []string) ([]string, error) {
	if len(tests) == 0 {
		return nil, nil
	}
	b.Again++
	return b.runs.Again(changes, tests)
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(drop, text) })
}
