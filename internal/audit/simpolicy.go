package audit

import "math"

// Escalation says what a found flip does to its siblings.
type Escalation uint8

const (
	NoEscalation  Escalation = iota
	EscalateFull             // each gets a full run
	EscalateTests            // each gets the failing tests, and a full run if it fails them
)

// TestsCost is what running only the failing tests costs, as a share of a full
// run. It is assumed, not measured.
const TestsCost = 0.02

// SimPolicy is one way of auditing.
type SimPolicy struct {
	Name     string
	Design   Design
	Escalate Escalation
	Allocate bool // rates by the past's costs, not one rate for all
}

// SimPolicies are those that are compared.
func SimPolicies() []SimPolicy {
	return []SimPolicy{
		{"individual coins", MemberCoins, NoEscalation, false},
		{"group coins", GroupCoins, NoEscalation, false},
		{"group coins, allocated", GroupCoins, NoEscalation, true},
		{"escalation, full", MemberCoins, EscalateFull, false},
		{"escalation, failing tests", MemberCoins, EscalateTests, false},
		{"escalation, full, allocated", MemberCoins, EscalateFull, true},
		{"escalation, failing tests, allocated", MemberCoins, EscalateTests, true},
	}
}

// wish is a task's rate before scaling: the root of variance per cost. Group coins
// have variance like m^2 and cost m suites; a coin for each attempt has variance
// and cost like m, so only the suite's time counts.
func (s SimPolicy) wish(t Task) float64 {
	switch {
	case !s.Allocate:
		return 1
	case s.Design == GroupCoins:
		return math.Sqrt(float64(t.Passing) / t.Suite)
	}
	return math.Sqrt(1 / t.Suite)
}

// cost is the expected time of auditing a task at a rate.
func (s SimPolicy) cost(t Task, p float64) float64 {
	m, k := float64(t.Passing), float64(t.Flips)
	runs := m * p
	if s.Escalate != NoEscalation && t.Flips > 0 {
		found := 1 - math.Pow(1-p, k)
		flips, clean := k*(found-p), (m-k)*(1-p)*found // siblings that are run because of it
		runs += flips + clean
		if s.Escalate == EscalateTests {
			runs += flips*TestsCost - clean*(1-TestsCost)
		}
	}
	return runs * t.Suite
}

// Rates are the tasks' rates at which auditing costs share of running the full
// suite on every passing attempt.
func (s SimPolicy) Rates(p Population, share float64) []float64 {
	total := 0.0
	for _, t := range p {
		total += float64(t.Passing) * t.Suite
	}
	rates := make([]float64, len(p))
	spend := func(scale float64) (sum float64) {
		for i, t := range p {
			rates[i] = min(1, scale*s.wish(t))
			if s.Allocate {
				rates[i] = max(rates[i], AdvisedFloor)
			}
			sum += s.cost(t, rates[i])
		}
		return sum
	}
	top := 1.0
	for spend(top) < share*total && top < 1e9 {
		top *= 2
	}
	spend(bisect(0, top, func(scale float64) bool { return spend(scale) < share*total }))
	return rates
}

// Noise is the exact sum over attempts of the variance of the corrected advantage:
// (1-p)/p * sum k(1-1/n) for individual coins, (1-P)/P * sum (k - k^2/n) where
// flips of a task are found together with probability P.
func (s SimPolicy) Noise(p Population, rates []float64) (noise float64) {
	for i, t := range p {
		if t.Flips == 0 {
			continue
		}
		k, n, found := float64(t.Flips), float64(t.Attempts), rates[i]
		if s.Design == MemberCoins && s.Escalate == NoEscalation {
			noise += (1 - found) / found * k * (1 - 1/n)
			continue
		}
		if s.Design == MemberCoins {
			found = 1 - math.Pow(1-found, k)
		}
		noise += (1 - found) / found * (k - k*k/n)
	}
	return noise
}
