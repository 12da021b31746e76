package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// betaQuantile inverts the regularised incomplete beta function by bisection:
// gonum's own inverse stops at 1e-8, which is less than the bounds promise.
func betaQuantile(q, a, b float64) float64 {
	return bisect(0, 1, func(x float64) bool { return mathext.RegIncBeta(a, b, x) < q })
}

// normalQuantile inverts the standard normal distribution.
func normalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

// tQuantile inverts Student's t distribution for q of at least one half.
func tQuantile(q, df float64) float64 {
	return bisect(0, 1e6, func(x float64) bool {
		return 1-0.5*mathext.RegIncBeta(df/2, 0.5, df/(df+x*x)) < q
	})
}

// bisect finds where below turns from true to false, to the last bit.
func bisect(lo, hi float64, below func(float64) bool) float64 {
	for range 400 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// ClopperPearson is the exact two-sided interval of a share of which x of n were
// seen; both may be fractions, as effective sizes are.
func ClopperPearson(x, n, level float64) (lo, hi float64) {
	tail := (1 - level) / 2
	hi = 1
	if x > 0 {
		lo = betaQuantile(tail, x, n-x+1)
	}
	if x < n {
		hi = betaQuantile(1-tail, x+1, n-x)
	}
	return lo, hi
}
