package audit

import (
	"errors"
	"fmt"
	"slices"
)

// ErrConflict is what a run says when the changes of a batch cannot be merged.
var ErrConflict = errors.New("the changes of the batch conflict")

// BatchRuns are the runs that a batch audit needs. Each is made in a fresh state;
// no changes is base itself.
type BatchRuns struct {
	// Full runs the whole suite on base with the given changes merged, and returns
	// the failing tests.
	Full func(changes []int) (failing []string, err error)
	// Again runs only the given tests.
	Again func(changes []int, tests []string) (failing []string, err error)
}

// BatchAudit is what one batch gave.
type BatchAudit struct {
	Flips    map[int][]BatchFlip // confirmed, by change
	Together []Company           // what no change breaks alone
	Missing  []int               // changes that do not merge with base
	Full     int                 // full runs made
	Again    int                 // runs of a few tests made
}

// BatchFlip is a failing test that one change was found to break.
type BatchFlip struct {
	Test string
	Kind string // regression, full_run_only, sometimes
}

// Company are tests that fail on the merge of some changes and with none of them
// alone: they break them together, or the tests fail only sometimes.
type Company struct {
	Changes []int
	Tests   []string
}

// AuditBatch audits changes that passed on one base by one full run over all of
// them. What fails is confirmed, attributed by running it with each change alone,
// and, where it fails only in the full run or only in company, by bisection, which
// finds one culprit of each test. A batch that conflicts is cut in two. With a
// single change it is the audit of that change.
func AuditBatch(changes []int, runs BatchRuns) (BatchAudit, error) {
	b := batch{runs: runs, BatchAudit: BatchAudit{Flips: make(map[int][]BatchFlip)}}
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
		b.Full-- // nothing ran
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
	confirmed, err := b.confirm(changes, failing)
	if err != nil {
		return err
	}
	alone := testsOf(confirmed)
	red, err := b.again(nil, alone)
	if err != nil {
		return err
	}
	company, err := b.inCompany(changes, without(failing, alone))
	if err != nil {
		return err
	}
	left, err := b.byEach(changes, without(alone, red))
	if err != nil {
		return err
	}
	if left, err = b.bisect(changes, append(left, company...)); err == nil && len(left) > 0 {
		b.Together = append(b.Together, Company{changes, left})
	}
	return err
}

// inCompany keeps the tests that fail in a second full run too, and in none of
// base: they are no accident, and fail in the full run only.
func (b *batch) inCompany(changes []int, tests []string) ([]string, error) {
	for _, of := range [][]int{changes, nil} {
		if len(tests) == 0 {
			return nil, nil
		}
		red, err := b.full(of)
		if err != nil {
			return nil, err
		}
		if of == nil {
			tests = without(tests, red)
		} else {
			tests = within(tests, red)
		}
	}
	return tests, nil
}

// byEach runs tests with each change alone, and returns those that no single
// change makes fail.
func (b *batch) byEach(changes []int, tests []string) (left []string, err error) {
	if len(tests) == 0 {
		return nil, nil
	}
	left = tests
	for _, change := range changes {
		only := []int{change}
		first, err := b.again(only, tests)
		again := err == nil && len(first) == 0
		if again { // one that fails sometimes gets a second chance
			first, err = b.again(only, tests)
		}
		if err != nil {
			return nil, err
		}
		mine, err := b.confirm(only, first)
		if err != nil {
			return nil, err
		}
		for _, flip := range mine {
			if again {
				flip.Kind = sometimes
			}
			b.Flips[change] = append(b.Flips[change], flip)
		}
		left = without(left, testsOf(mine))
	}
	return left, nil
}

// The kinds of flips, as the gate calls them.
const (
	regression  = "regression"
	fullRunOnly = "full_run_only"
	sometimes   = "sometimes"
)

// confirm reruns failing tests and returns those of which at least one of two
// reruns fails too.
func (b *batch) confirm(changes []int, failing []string) (confirmed []BatchFlip, err error) {
	for _, kind := range [Reruns]string{regression, sometimes} {
		red, err := b.again(changes, failing)
		if err != nil {
			return nil, err
		}
		for _, test := range red {
			confirmed = append(confirmed, BatchFlip{test, kind})
		}
		failing = without(failing, red)
	}
	return confirmed, nil
}

// bisect halves the changes by full runs until one is left, which is blamed only
// for what fails in a full run of its own. It returns the tests of which nobody is.
func (b *batch) bisect(changes []int, tests []string) (left []string, err error) {
	if len(tests) == 0 {
		return nil, nil
	}
	half := max(1, len(changes)/2)
	red, err := b.full(changes[:half])
	if err != nil {
		return nil, fmt.Errorf("bisecting a batch: %w", err)
	}
	first := within(tests, red)
	if len(changes) == 1 {
		for _, test := range first {
			b.Flips[changes[0]] = append(b.Flips[changes[0]], BatchFlip{test, fullRunOnly})
		}
		return without(tests, first), nil
	}
	if left, err = b.bisect(changes[:half], first); err != nil {
		return nil, err
	}
	more, err := b.bisect(changes[half:], without(tests, first))
	return append(left, more...), err
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

func testsOf(flips []BatchFlip) (tests []string) {
	for _, flip := range flips {
		tests = append(tests, flip.Test)
	}
	return tests
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return slices.Contains(drop, text) })
}

func within(list, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !slices.Contains(keep, text) })
}
