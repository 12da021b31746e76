package audit

import (
	"fmt"
	"math/rand/v2"
)

// Adversary decides whether its next attempt is a flip, knowing everything that
// is public: what was audited, what was found, the bound. It does not know the
// coin to come.
type Adversary struct {
	Name string
	flip func(v *view, random *rand.Rand) bool
}

// view is what an adversary sees.
type view struct {
	step, flips, known int
	quiet              int // attempts since its last caught flip
	bound              float64
	caught             bool // ever
}

// Adversaries are an honest agent and four that adapt.
func Adversaries() []Adversary {
	chance := func(p float64) func(*view, *rand.Rand) bool {
		return func(_ *view, random *rand.Rand) bool { return random.Float64() < p }
	}
	return []Adversary{
		{"honest: flips at 4.45 %", chance(0.0445)},
		{"stops when caught", func(v *view, random *rand.Rand) bool { return !v.caught && random.Float64() < 0.5 }},
		{"bolder while unseen", func(v *view, random *rand.Rand) bool { return random.Float64() < min(0.9, float64(v.quiet)/100) }},
		{"bursts after a catch", func(v *view, random *rand.Rand) bool { return v.caught && v.quiet < 10 || random.Float64() < 0.02 }},
		{"chases the bound", func(v *view, _ *rand.Rand) bool { return float64(v.flips+1) > v.bound-3 || v.step < 12 }},
	}
}

// Coverage plays streams of attempts against the bound and returns in which share
// of them it held at every moment.
func Coverage(a Adversary, p Probability, size, attempts, streams int, seed uint64) (float64, error) {
	random := rand.New(rand.NewPCG(seed, 3))
	held := 0
	for range streams {
		ok, err := a.play(p, size, attempts, random)
		if err != nil {
			return 0, fmt.Errorf("playing %q: %w", a.Name, err)
		}
		if ok {
			held++
		}
	}
	return float64(held) / float64(streams), nil
}

// play is one stream of groups of a size, 1 for attempts with coins of their own.
func (a Adversary) play(p Probability, size, attempts int, random *rand.Rand) (held bool, err error) {
	b, err := NewBound(p, size, 0.05)
	if err != nil {
		return false, err
	}
	var v view
	for v.step < attempts {
		flips := 0
		for range size {
			if a.flip(&v, random) {
				flips++
			}
			v.step++
		}
		v.flips += flips
		audited := random.Float64() < p.Float()
		seen := 0
		if audited {
			seen = flips
		}
		if v.bound, err = b.Add(Event{Design: GroupCoins, Passing: size, Probability: p, Audited: audited, Flips: seen}); err != nil {
			return false, err
		}
		if float64(v.flips) > v.bound {
			return false, nil
		}
		v.quiet += size
		if seen > 0 {
			v.known, v.quiet, v.caught = v.known+seen, 0, true
		}
	}
	return true, nil
}
