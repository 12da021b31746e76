package audit

import "slices"

// AuditSibling audits one attempt whose sibling was found to be a flip. With tests,
// those that failed there, only they run, and the whole suite where one of them is
// confirmed: that siblings break the same tests is assumed. Without, it is
// AuditBatch of one.
func AuditSibling(change int, tests []string, runs BatchRuns) (BatchAudit, error) {
	b := batch{runs: runs, BatchAudit: BatchAudit{Flips: make(map[int][]BatchFlip)}}
	only := []int{change}
	if len(tests) == 0 {
		err := b.audit(only)
		return b.BatchAudit, err
	}
	mine, err := b.flipsAmong(only, tests)
	if err != nil || len(mine) == 0 {
		return b.BatchAudit, err
	}
	if err := b.audit(only); err != nil {
		return b.BatchAudit, err
	}
	for _, flip := range mine {
		if !slices.Contains(testsOf(b.Flips[change]), flip.Test) {
			b.Flips[change] = append(b.Flips[change], flip)
		}
	}
	return b.BatchAudit, nil
}

// flipsAmong runs only some tests, and returns those that fail, fail again and pass
// on base.
func (b *batch) flipsAmong(changes []int, tests []string) ([]BatchFlip, error) {
	first, err := b.again(changes, tests)
	if err != nil {
		return nil, err
	}
	mine, err := b.confirm(changes, first)
	if err != nil {
		return nil, err
	}
	red, err := b.again(nil, testsOf(mine))
	return slices.DeleteFunc(mine, func(f BatchFlip) bool { return slices.Contains(red, f.Test) }), err
}
