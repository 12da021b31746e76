package audit

import (
	"math"
	"testing"
)

// unit is the one free scale of the published noise figures.
const noiseUnit = 95

func TestPublishedPopulation(t *testing.T) {
	p := Published()
	attempts, passing, flips := p.Totals()
	flipping := 0
	for _, task := range p {
		if task.Flips > 0 {
			flipping++
		}
		if task.Flips > task.Passing || task.Passing > task.Attempts || task.Passing < 1 {
			t.Errorf("%+v", task)
		}
	}
	if len(p) != 248 || attempts != 2480 || passing != 1101 || flips != 49 || flipping != 18 {
		t.Errorf("%d tasks, %d attempts, %d passing, %d flips in %d tasks", len(p), attempts, passing, flips, flipping)
	}
	if c := p.Correlation(); math.Abs(c-0.40) > 0.01 {
		t.Errorf("correlation %.3f", c)
	}
}

// TestPublishedTable wants the six published figures, by formula and by simulation,
// and the identities exactly.
func TestPublishedTable(t *testing.T) {
	p := Published()
	var individual, group float64
	for _, task := range p {
		k, n := float64(task.Flips), float64(task.Attempts)
		individual += k * (1 - 1/n)
		group += k - k*k/n
	}
	for _, row := range []struct{ rate, individual, group float64 }{{0.1, 4.2, 2.5}, {0.2, 1.9, 1.1}, {0.3, 1.1, 0.6}} {
		for i, want := range []float64{row.individual, row.group} {
			policy, sum := SimPolicies()[i], []float64{individual, group}[i]
			r := Simulate(p, policy, SimOptions{Share: row.rate, Runs: 20_000, Seed: 1})
			near(t, policy.Name+" identity", r.Exact, (1-row.rate)/row.rate*sum, 1e-9)
			if math.Abs(r.Exact/noiseUnit-want) > 0.05 {
				t.Errorf("%s at %v: %.3f by formula, published %.1f", policy.Name, row.rate, r.Exact/noiseUnit, want)
			}
			if math.Abs(r.Noise/r.Exact-1) > 0.03 {
				t.Errorf("%s at %v: simulated noise %.2f, by formula %.2f", policy.Name, row.rate, r.Noise, r.Exact)
			}
			t.Logf("%-17s p=%.1f noise %.3f (published %.1f), simulated %.3f", policy.Name, row.rate, r.Exact/noiseUnit, want, r.Noise/noiseUnit)
		}
	}
}

// TestPoliciesAtEqualCost is the comparison of docs/statistics.md: every policy
// spends a fifth of running everything.
func TestPoliciesAtEqualCost(t *testing.T) {
	noise := make(map[string]float64)
	for _, policy := range SimPolicies() {
		r := Simulate(Published(), policy, SimOptions{Share: 0.2, Runs: 20_000, Spread: 1, Prices: 200, Seed: 1})
		noise[r.Policy] = r.Exact
		t.Logf("%-37s rate %.3f share %.4f noise %.3f (simulated %.3f) flips %.3f ± %.3f (%.1f SE) CV %.3f", r.Policy, r.Rate, r.Share, r.Exact/noiseUnit, r.Noise/noiseUnit, r.Flips, r.FlipsSE, r.Bias, r.Spread)
		if math.Abs(r.Bias) > 3 {
			t.Errorf("%s: %.3f flips estimated of 49: %.1f standard errors off", r.Policy, r.Flips, r.Bias)
		}
		if math.Abs(r.Share-0.2) > 0.002 {
			t.Errorf("%s: spends %.4f", r.Policy, r.Share)
		}
		if math.Abs(r.Noise/r.Exact-1) > 0.05 {
			t.Errorf("%s: simulated noise %.3f, by formula %.3f", r.Policy, r.Noise/noiseUnit, r.Exact/noiseUnit)
		}
	}
	if ratio := noise["escalation, full"] / noise["group coins"]; ratio > 0.60 {
		t.Errorf("escalation has %.3f of the noise of group coins", ratio)
	}
	if ratio := noise["escalation, failing tests, allocated"] / noise["group coins, allocated"]; ratio > 0.50 {
		t.Errorf("escalation with allocation has %.3f of the noise of group coins with allocation", ratio)
	}
}

func TestBoundHoldsAgainstAdversaries(t *testing.T) {
	for _, a := range Adversaries() {
		for _, size := range []int{1, 4} {
			share, err := Coverage(a, 200_000, size, 240, 2000, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-25s groups of %d: holds at every moment in %.4f of streams", a.Name, size, share)
			if share < 0.95 {
				t.Errorf("%s, groups of %d: %.4f", a.Name, size, share)
			}
		}
	}
}
