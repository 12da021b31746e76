package audit

import (
	"errors"
	"fmt"
	"math"
)

// The mixture that the bound is made of: fractions of the largest feasible
// exponent, and their weights.
var (
	boundFractions = [...]float64{1, 0.7, 0.45, 0.25, 0.12, 0.05}
	boundWeights   = [...]float64{0.40, 0.20, 0.15, 0.10, 0.10, 0.05}
)

// slack is how far rounding may carry a feasible exponent past its limit.
const slack = 1e-12

// Bound is an upper bound on the flips of a stream that holds at every moment at
// once, with probability 1-alpha, whatever the attempts do in answer to earlier
// audits: an exponential supermartingale and Ville's inequality. Nothing is assumed
// about the rate, its trend or the groups' independence; only that each coin was
// thrown as declared, after what it covers was fixed.
type Bound struct {
	alpha    float64
	exponent [len(boundFractions)]float64
	logs     [len(boundFractions)]float64 // log of weight times product; -Inf once infeasible
	raw      float64
	changed  bool

	known   int     // flips seen
	passing int     // attempts that pass the cheap check
	upper   float64 // the bound
}

// NewBound declares the least probability of any coin to come and the largest
// group that one coin covers, 1 when each attempt has its own.
func NewBound(least Probability, largest int, alpha float64) (*Bound, error) {
	switch {
	case least <= 0 || !least.Valid():
		return nil, fmt.Errorf("the least audit probability is %v: a bound needs more than 0 and at most 1", least.Float())
	case largest < 1:
		return nil, fmt.Errorf("the largest group has %d attempts: 1 is the least", largest)
	case !(alpha > 0 && alpha < 1):
		return nil, fmt.Errorf("%v is not the error probability of a bound", alpha)
	}
	b := &Bound{alpha: alpha, changed: true}
	top := 50.0
	if least < Certain {
		top = -least.logMiss() / float64(largest)
	}
	for i, f := range boundFractions {
		b.exponent[i], b.logs[i] = f*top, math.Log(boundWeights[i])
	}
	return b, nil
}

// Event is a group whose window has ended, or one attempt with a coin of its own.
type Event struct {
	Design      Design
	Passing     int
	Probability Probability
	Audited     bool  // group coins
	Flips       int   // group coins
	Networks    []int // member coins: flips found together
	Clean       int   // member coins: attempts audited and found clean
	Missing     int   // audited with an unknown outcome; for a group coin more than 0 is all of it
}

// Add takes the next event and returns the bound on the number of flips among all
// passing attempts so far.
func (b *Bound) Add(e Event) (float64, error) {
	if e.Passing < 0 || e.Probability <= 0 || !e.Probability.Valid() {
		return b.upper, fmt.Errorf("an event with %d passing attempts at a probability of %d ppm cannot be part of a bound", e.Passing, e.Probability)
	}
	b.passing += e.Passing
	for i := range b.exponent {
		if !math.IsInf(b.logs[i], -1) {
			b.logs[i] = b.advance(i, e)
		}
	}
	seen, room := e.open()
	b.known += seen
	if b.changed {
		b.raw, b.changed = b.solve(), false
	}
	b.upper = max(float64(b.known), min(b.raw, b.upper+float64(room)))
	return b.upper, nil
}

// open says how many flips the event shows and how many it can hold.
func (e *Event) open() (seen, room int) {
	if e.Design == MemberCoins {
		for _, k := range e.Networks {
			seen += k
		}
		return seen, e.Passing - e.Clean
	}
	if e.Audited && e.Missing == 0 {
		return e.Flips, e.Flips
	}
	return 0, e.Passing
}

// advance multiplies component i by the event's factor, in logarithms.
func (b *Bound) advance(i int, e Event) float64 {
	c, miss := b.exponent[i], e.Probability.logMiss()
	span := c
	if e.Design == GroupCoins {
		span = c * float64(e.Passing)
	}
	if span+miss > slack {
		b.changed = true // no supermartingale at this probability: it is never added again
		return math.Inf(-1)
	}
	log := b.logs[i]
	factor := func(size, share float64, found, k float64) {
		d := c*size + k*miss
		if d > -slack {
			log = math.Inf(-1)
			return
		}
		// log q = log((exp(-c size) - (1-p)^k) / found), without cancellation
		log += share * (-c*size + math.Log(-math.Expm1(d)) - math.Log(found))
	}
	if e.Design == GroupCoins {
		flips := e.Flips
		if e.Missing > 0 {
			flips = e.Passing
		}
		if e.Audited && flips > 0 {
			factor(float64(e.Passing), float64(flips)/float64(e.Passing), e.Probability.Float(), 1)
		}
	} else {
		for _, k := range e.networks() {
			factor(float64(k), 1, e.Probability.Found(k), float64(k))
		}
	}
	if log != b.logs[i] {
		b.changed = true
	}
	return log
}

// networks are those found, and one of everything when an outcome is missing.
func (e *Event) networks() []int {
	if e.Missing == 0 {
		return e.Networks
	}
	return append(append([]int(nil), e.Networks...), e.Passing)
}

// solve finds the number of flips at which the mixture reaches 1/alpha. It is
// +Inf when no component is left.
func (b *Bound) solve() float64 {
	target := math.Log(1 / b.alpha)
	below := func(flips float64) bool {
		top := math.Inf(-1)
		for i, l := range b.logs {
			top = max(top, b.exponent[i]*flips+l)
		}
		sum := 0.0
		for i, l := range b.logs {
			sum += math.Exp(b.exponent[i]*flips + l - top)
		}
		return top+math.Log(sum) < target
	}
	if math.IsInf(b.logs[len(b.logs)-1], -1) && b.dead() {
		return math.Inf(1)
	}
	hi := 1.0
	for below(hi) {
		hi *= 2
	}
	return bisect(0, hi, below)
}

func (b *Bound) dead() bool {
	for _, l := range b.logs {
		if !math.IsInf(l, -1) {
			return false
		}
	}
	return true
}

// Flips is the bound on their number, Rate per passing attempt (NaN before the
// first), Known the flips seen so far.
func (b *Bound) Flips() float64 { return b.upper }
func (b *Bound) Known() int     { return b.known }
func (b *Bound) Passing() int   { return b.passing }
func (b *Bound) Rate() float64  { return b.upper / float64(b.passing) }

// ErrNoBound says that a stream had no coin that a bound could rest on.
var ErrNoBound = errors.New("no audit probability above 0 was declared, so nothing can be said with confidence")
