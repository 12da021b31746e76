package audit

import (
	"math"
	"math/rand/v2"
)

// SimResult is what a policy did over many simulated runs.
type SimResult struct {
	Policy  string  `json:"policy"`
	Rate    float64 `json:"rate"`     // mean over passing attempts
	Share   float64 `json:"share"`    // time spent, of running the full suite on every passing attempt
	Noise   float64 `json:"noise"`    // sum over attempts of the squared error of the corrected advantage, mean over runs
	Exact   float64 `json:"exact"`    // the same by formula
	Flips   float64 `json:"flips"`    // mean of the estimated number
	FlipsSE float64 `json:"flips_se"` // standard error of that mean
	Bias    float64 `json:"bias"`     // mean less truth, in standard errors
	Spread  float64 `json:"flips_cv"` // coefficient of variation of the estimated number
	Ratio   float64 `json:"to_group"` // noise, of the first policy's with group coins
	Runs    int     `json:"runs"`
}

// SimOptions say how a simulation runs.
type SimOptions struct {
	Share  float64 // of running the full suite on every passing attempt
	Runs   int
	Spread float64 // of suite times: standard deviation of their logarithm; 0 keeps the population's
	Prices int     // how many sets of suite times the runs are spread over, at least 1
	Seed   uint64
}

// Simulate plays a policy on a population. The same seed gives the same suite
// times to every policy.
func Simulate(p Population, s SimPolicy, o SimOptions) SimResult {
	prices, coins := rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 2))
	sets := max(1, min(o.Prices, o.Runs))
	r := SimResult{Policy: s.Name, Runs: o.Runs / sets * sets}
	var flips, squares float64
	for range sets {
		priced := p
		if o.Spread > 0 {
			priced = p.Reprice(o.Spread, prices)
		}
		rates := s.Rates(priced, o.Share)
		r.Exact += s.Noise(priced, rates) / float64(sets)
		r.Rate += meanRate(priced, rates) / float64(sets)
		for range o.Runs / sets {
			one := s.play(priced, rates, coins)
			flips, squares = flips+one.flips, squares+square(one.flips)
			r.Noise += one.noise
			r.Share += one.time / one.always
		}
	}
	n := float64(r.Runs)
	_, _, truth := p.Totals()
	r.Noise, r.Share, r.Flips = r.Noise/n, r.Share/n, flips/n
	deviation := math.Sqrt((squares - flips*flips/n) / (n - 1))
	r.FlipsSE, r.Spread = deviation/math.Sqrt(n), deviation/float64(truth)
	r.Bias = (r.Flips - float64(truth)) / r.FlipsSE
	return r
}

func meanRate(p Population, rates []float64) float64 {
	sum, all := 0.0, 0.0
	for i, t := range p {
		sum, all = sum+rates[i]*float64(t.Passing), all+float64(t.Passing)
	}
	return sum / all
}

// outcome is one simulated run.
type outcome struct{ flips, noise, time, always float64 }

// play throws the coins of one run, and sums up what a training step and a
// ledger would see.
func (s SimPolicy) play(p Population, rates []float64, coins *rand.Rand) (o outcome) {
	for i, t := range p {
		o.always += float64(t.Passing) * t.Suite
		if s.Design == GroupCoins {
			s.playGroup(t, rates[i], coins, &o)
		} else {
			s.playMembers(t, rates[i], coins, &o)
		}
	}
	return o
}

func (s SimPolicy) playGroup(t Task, p float64, coins *rand.Rand, o *outcome) {
	weight := 0.0
	if coins.Float64() < p {
		weight = 1 / p
		o.time += float64(t.Passing) * t.Suite
	}
	o.take(t, t.Flips, weight)
}

func (s SimPolicy) playMembers(t Task, p float64, coins *rand.Rand, o *outcome) {
	heads := func(n int) (drawn int) {
		for range n {
			if coins.Float64() < p {
				drawn++
			}
		}
		return drawn
	}
	clean, found := heads(t.Passing-t.Flips), heads(t.Flips)
	runs := float64(clean + found)
	if s.Escalate == NoEscalation {
		o.time += runs * t.Suite
		o.take(t, found, 1/p)
		return
	}
	weight := 0.0
	if found > 0 {
		weight = 1 / (1 - math.Pow(1-p, float64(t.Flips)))
		flips, rest := float64(t.Flips-found), float64(t.Passing-t.Flips-clean)
		runs += flips + rest
		if s.Escalate == EscalateTests {
			runs += flips*TestsCost - rest*(1-TestsCost)
		}
	}
	o.time += runs * t.Suite
	o.take(t, t.Flips, weight)
}

// take counts a task in which known of the flips are known, each with a weight.
func (o *outcome) take(t Task, known int, weight float64) {
	if weight == 0 {
		known = 0
	}
	o.flips += float64(known) * weight
	// the error of attempt i is f_i (1 - w_i); the advantage's is that less its mean
	k, n, a := float64(t.Flips), float64(t.Attempts), float64(known)
	squares := a*square(weight-1) + (k - a)
	sum := k - a*weight
	o.noise += squares - sum*sum/n
}
