package audit

import (
	"fmt"
	"math"
)

// Probability is a chance in whole parts per million, so that a draw can be
// rechecked exactly.
type Probability int

// Certain is the probability of what always happens.
const Certain Probability = 1_000_000

// ParseProbability takes a chance from 0 to 1 and rounds it to parts per million.
// What is not 0 stays above 0.
func ParseProbability(rate float64) (Probability, error) {
	if !(rate >= 0 && rate <= 1) {
		return 0, fmt.Errorf("%v is not a probability: use a number from 0 to 1", rate)
	}
	p := Probability(math.Round(rate * float64(Certain)))
	if p == 0 && rate > 0 {
		p = 1
	}
	return p, nil
}

// Float is the probability from 0 to 1.
func (p Probability) Float() float64 { return float64(p) / float64(Certain) }

// Valid holds from 0 to 1.
func (p Probability) Valid() bool { return p >= 0 && p <= Certain }

// logMiss is log(1-p), -Inf for certainty.
func (p Probability) logMiss() float64 {
	if p >= Certain {
		return math.Inf(-1)
	}
	return math.Log1p(-p.Float())
}

// Found is the probability that at least one of k coins shows heads: that a
// network of k flips is found when one of them is audited.
func (p Probability) Found(k int) float64 {
	return 1 - math.Pow(1-p.Float(), float64(k))
}
