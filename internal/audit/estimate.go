package audit

import "math"

// AssumedCorrelation is the correlation of flips within a group that the
// effective size of group audits is never allowed to look better than.
const AssumedCorrelation = 0.4

// Group is what is known of the attempts that share a probability: either one
// coin for all (Networks and Piloted stay empty) or a coin for each.
type Group struct {
	Design      Design
	Cluster     uint64 // groups of one cluster are one unit of the variance; 0 is a unit of its own
	Passing     int    // attempts that pass the cheap check
	Probability Probability

	// One coin for the group.
	Audited bool
	Flips   int
	Missing bool // audited, but the outcome could not be found out

	// A coin for each attempt.
	Networks       []int // sizes of the sets of flips that were found together
	Piloted        int   // attempts audited by their own coin
	MissingMembers int   // of those, with an unknown outcome
}

// Design says who has a coin.
type Design string

const (
	GroupCoins  Design = "group"  // one coin for a group
	MemberCoins Design = "member" // one for each attempt
)

// Estimate is the rate of flips among attempts that pass the cheap check.
type Estimate struct {
	Groups  int
	Passing int
	Audited int // groups, or attempts by their own coin

	Flips       float64 // Horvitz-Thompson: estimated number
	Rate        float64 // Horvitz-Thompson: flips per passing attempt; unbiased
	RateMissing Range   // the same with every missing audit clean, and flipped
	SEDesign    float64 // about the flips of this very stream
	SECluster   float64 // about the process that made it; NaN below two groups
	Hajek       float64 // the ratio estimate; NaN without an audit
	SEHajek     float64 // NaN for member coins
	Size        float64 // Korn and Graubard's effective sample size; NaN without an audit
	Interval    Range   // Korn-Graubard, two-sided
	Level       float64 // of the interval
	Known       bool    // whether there is an interval
}

// Range is an interval.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// tally is what one unit of the variance adds to the sums.
type tally struct {
	m, z, high        float64 // passing, weighted flips, the same with missing ones flipped
	weight, square, b float64 // sums of w m, of w^2 m, and of w m^2
	design            float64 // its part of the design variance
}

func (t *tally) add(o tally) {
	t.m += o.m
	t.z += o.z
	t.high += o.high
	t.weight += o.weight
	t.square += o.square
	t.b += o.b
	t.design += o.design
}

func (g *Group) tally() tally {
	p, m := g.Probability.Float(), float64(g.Passing)
	t := tally{m: m}
	if g.Design == MemberCoins {
		for _, k := range g.Networks {
			q := g.Probability.Found(k)
			t.z += float64(k) / q
			t.design += (1 - q) / (q * q) * float64(k*k)
		}
		t.high = t.z
		if g.Piloted > 0 {
			t.high += float64(g.MissingMembers) / p
			t.weight, t.square = float64(g.Piloted)/p, float64(g.Piloted)/(p*p)
			t.b = t.weight
		}
		return t
	}
	if !g.Audited {
		return t
	}
	flips := float64(g.Flips)
	t.high = flips / p
	if g.Missing {
		flips, t.high = 0, m/p
	}
	t.z = flips / p
	t.weight, t.square, t.b = m/p, m/(p*p), m*m/p
	t.design = (1 - p) / (p * p) * flips * flips
	return t
}

// Accumulator takes groups one by one and keeps one small sum for each cluster.
type Accumulator struct {
	units   []tally
	of      map[uint64]int32
	audited int
	shared  bool // some coin covers a group
}

// NewAccumulator starts an estimate.
func NewAccumulator() *Accumulator {
	return &Accumulator{of: make(map[uint64]int32)}
}

// Add takes one group.
func (a *Accumulator) Add(g Group) {
	switch {
	case g.Design == MemberCoins:
		a.audited += g.Piloted
	default:
		a.shared = true
		if g.Audited {
			a.audited++
		}
	}
	if g.Cluster == 0 {
		a.units = append(a.units, g.tally())
		return
	}
	i, ok := a.of[g.Cluster]
	if !ok {
		i = int32(len(a.units))
		a.of[g.Cluster] = i
		a.units = append(a.units, tally{})
	}
	a.units[i].add(g.tally())
}

// EstimateRate estimates from a list of groups at once.
func EstimateRate(groups []Group, level float64) Estimate {
	a := NewAccumulator()
	for _, g := range groups {
		a.Add(g)
	}
	return a.Estimate(level)
}

// Estimate is the estimate from what was added so far. level is the confidence
// of the interval, such as 0.95.
func (a *Accumulator) Estimate(level float64) Estimate {
	var sum tally
	for _, t := range a.units {
		sum.add(t)
	}
	e := Estimate{Groups: len(a.units), Passing: int(sum.m), Audited: a.audited, Flips: sum.z, Level: level,
		SECluster: math.NaN(), Hajek: math.NaN(), SEHajek: math.NaN(), Size: math.NaN(), Interval: Range{0, 1}}
	if sum.m == 0 {
		e.Rate, e.RateMissing = math.NaN(), Range{0, 1}
		return e
	}
	e.Rate = sum.z / sum.m
	e.RateMissing = Range{e.Rate, sum.high / sum.m}
	e.SEDesign = math.Sqrt(sum.design) / sum.m
	if sum.weight == 0 {
		return e
	}
	e.Hajek = sum.z / sum.weight
	if len(a.units) >= 2 {
		a.interval(&e, sum)
	}
	return e
}

// interval is Korn and Graubard's (1998): Clopper and Pearson's exact interval at
// the sample size that a simple random sample would need for the same variance,
// here never above Kish's size over an assumed design effect, since few audited
// groups without a flip would otherwise look like certainty.
func (a *Accumulator) interval(e *Estimate, sum tally) {
	groups := float64(len(a.units))
	var cluster, ratio float64
	for _, t := range a.units {
		cluster += square(t.z - e.Rate*t.m)
		ratio += square(t.z - e.Hajek*t.weight)
	}
	cluster *= groups / (groups - 1) / square(sum.m)
	ratio *= groups / (groups - 1) / square(sum.weight)
	e.SECluster = math.Sqrt(cluster)

	point, variance, freedom, effect := e.Rate, cluster, groups-1, 1.0
	if a.shared {
		e.SEHajek = math.Sqrt(ratio)
		point, variance, freedom = e.Hajek, ratio, float64(a.audited-1)
		effect = 1 + (sum.b/sum.weight-1)*AssumedCorrelation
	}
	limit := square(sum.weight) / sum.square / effect
	x := 0.0
	switch e.Size = limit; {
	case point >= 1:
		x = limit
	case point > 0 && variance > 0:
		tail := 0.5 + e.Level/2
		e.Size = min(point*(1-point)/variance*square(normalQuantile(tail)/tQuantile(tail, max(freedom, 1))), limit)
		x = point * e.Size
	}
	e.Interval.Low, e.Interval.High = ClopperPearson(x, e.Size, e.Level)
	e.Known = true
}

func square(x float64) float64 { return x * x }

// Debiased corrects a verdict of 0 or 1 for flaky tests: false is the chance
// that a clean attempt reads 1, missed that a flip reads 0. For sensitivity
// only, not for headlines: both chances are estimates themselves.
func Debiased(flag, falseAlarm, missed float64) float64 {
	return (flag - falseAlarm) / (1 - falseAlarm - missed)
}
