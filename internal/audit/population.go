package audit

import (
	"cmp"
	"math"
	"math/rand/v2"
)

// Task is a group of attempts with everything known about it, for simulations.
type Task struct {
	Attempts int     // submitted
	Passing  int     // of those, pass the cheap check
	Flips    int     // of those, fail the full suite
	Suite    float64 // time of one full run, in any unit
}

// Population is a set of tasks.
type Population []Task

// Published is the population of the published figures: 248 tasks of 10 attempts,
// 1,101 that pass, 49 flips in 18 tasks, correlation within tasks 0.40. How the
// flips lie in the tasks was not published: this is one arrangement that has all
// of these sums, and whose ratio of individual to group noise agrees.
func Published() Population {
	const attempts, tasks, passing = 10, 248, 1101
	flipping := [][2]int{{10, 10}, {10, 7}, {10, 5}, {7, 3}, {9, 2}, {9, 2}, {2, 2}, {9, 2}, {6, 2}, {3, 2}, {7, 2}, {7, 2}, {8, 2}, {9, 2}, {3, 1}, {3, 1}, {3, 1}, {4, 1}}
	var p Population
	left := passing
	for _, t := range flipping {
		p = append(p, Task{Attempts: attempts, Passing: t[0], Flips: t[1], Suite: 1})
		left -= t[0]
	}
	clean := tasks - len(flipping)
	exponential := func(mean float64) (list []int, sum int) { // from 1 to attempts
		for i := range clean {
			share := (float64(i) + 0.5) / float64(clean)
			m := min(attempts, 1+int(-mean*math.Log(1-share)))
			list, sum = append(list, m), sum+m
		}
		return list, sum
	}
	mean := bisect(0.1, 50, func(mean float64) bool {
		_, sum := exponential(mean)
		return sum < left
	})
	sizes, sum := exponential(mean)
	for i := 0; sum != left; i++ { // what rounding left over
		if step := cmp.Compare(left, sum); sizes[i]+step >= 1 && sizes[i]+step <= attempts {
			sizes[i], sum = sizes[i]+step, sum+step
		}
	}
	for _, m := range sizes {
		p = append(p, Task{Attempts: attempts, Passing: m, Suite: 1})
	}
	return p
}

// Totals are the sums of a population.
func (p Population) Totals() (attempts, passing, flips int) {
	for _, t := range p {
		attempts, passing, flips = attempts+t.Attempts, passing+t.Passing, flips+t.Flips
	}
	return attempts, passing, flips
}

// Correlation is the correlation of flips within tasks among passing attempts, by
// the analysis of variance.
func (p Population) Correlation() float64 {
	_, passing, flips := p.Totals()
	n, groups := float64(passing), 0.0
	mean := float64(flips) / n
	var between, within, squares float64
	for _, t := range p {
		if t.Passing == 0 {
			continue
		}
		m, k := float64(t.Passing), float64(t.Flips)
		groups++
		between += m * square(k/m-mean)
		within += k * (1 - k/m)
		squares += m * m
	}
	between, within = between/(groups-1), within/(n-groups)
	size := (n - squares/n) / (groups - 1)
	return (between - within) / (between + (size-1)*within)
}

// Reprice gives every task a suite time of its own, log-normal with the given
// standard deviation of the logarithm.
func (p Population) Reprice(spread float64, random *rand.Rand) Population {
	priced := make(Population, len(p))
	for i, t := range p {
		t.Suite = math.Exp(spread * random.NormFloat64())
		priced[i] = t
	}
	return priced
}

// Drawn makes a population: each task's attempts pass with a chance of its own,
// and its passing ones flip with a chance of its own, both beta-distributed with
// the given means; correlation is that of flips within a task, 0 to below 1.
func Drawn(tasks, attempts int, pass, flip, correlation float64, random *rand.Rand) Population {
	chance := func(mean, correlation float64) func() float64 {
		if correlation <= 0 || mean <= 0 || mean >= 1 {
			return func() float64 { return mean }
		}
		size := 1/correlation - 1
		return func() float64 { return betaQuantile(random.Float64(), mean*size, (1-mean)*size) }
	}
	binomial := func(n int, p float64) (k int) {
		for range n {
			if random.Float64() < p {
				k++
			}
		}
		return k
	}
	passes, flips := chance(pass, 0.4), chance(flip, correlation)
	p := make(Population, tasks)
	for i := range p {
		m := binomial(attempts, passes())
		p[i] = Task{Attempts: attempts, Passing: m, Flips: binomial(m, flips()), Suite: 1}
	}
	return p
}

// Add counts a record in the population of a ledger: only flips that were found
// are known, so there are fewer of them than there are.
func (t *Task) Add(r *Record) {
	if r.Amends != "" {
		if r.Full == Flipped {
			t.Flips++
		}
		return
	}
	t.Attempts++
	if r.Passing() {
		t.Passing++
		if r.Full == Flipped {
			t.Flips++
		}
	}
	if r.SuiteSeconds > 0 {
		t.Suite = r.SuiteSeconds
	}
}
