package audit

import (
	"fmt"
	"math"
)

// Allocation is a rate for each stratum and the scale that gave them.
type Allocation struct {
	Rates []float64
	Scale float64 // 0 when the floor alone spends the budget
}

// Allocate spreads audits so that the sum of variance/rate is least while the sum
// of rate*cost stays within budget and every rate lies in [floor, 1]: Neyman's
// rule, rate proportional to sqrt(variance/cost). variance and cost may be in any
// unit, budget in that of cost. They must come from the past only.
func Allocate(variance, cost []float64, budget, floor float64) (Allocation, error) {
	if len(variance) != len(cost) {
		return Allocation{}, fmt.Errorf("allocating audits: %d variances and %d costs", len(variance), len(cost))
	}
	if !(floor >= 0 && floor <= 1) {
		return Allocation{}, fmt.Errorf("allocating audits: the floor %v is not a rate from 0 to 1", floor)
	}
	rates := make([]float64, len(cost))
	spend := func(scale float64) (total float64) {
		for i, c := range cost {
			rates[i] = 1
			if c > 0 {
				rates[i] = min(1, max(floor, scale*math.Sqrt(max(variance[i], 0)/c)))
			}
			total += rates[i] * c
		}
		return total
	}
	if spend(0) >= budget {
		for i := range rates {
			rates[i] = floor
		}
		return Allocation{rates, 0}, nil
	}
	top := 1.0
	for spend(top) < budget && top < 1e18 {
		top *= 2
	}
	scale := bisect(0, top, func(scale float64) bool { return spend(scale) < budget })
	spend(scale)
	return Allocation{rates, scale}, nil
}
